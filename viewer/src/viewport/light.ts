// Sun, sky and shadows.

import {
  BackSide,
  Color,
  DirectionalLight,
  Group,
  HemisphereLight,
  Mesh,
  ShaderMaterial,
  SphereGeometry,
  Vector3,
} from "three";
import type { Palette } from "./palette";

/** Direction towards the sun. */
const SUN = new Vector3(-0.4, -0.75, 1.0).normalize();
const SHADOW_PIXELS = 2048;
/** The same for software rendering. */
const SHADOW_PIXELS_SOFTWARE = 1024;
/** Factor between two extents of the shadow map, so that the extent rarely changes. */
const EXTENT_STEP = 1.3;

const SKY_ORDER = 0.75;
export const GROUND_ORDER = 0.5;

function newSky(): Mesh<SphereGeometry, ShaderMaterial> {
  const material = new ShaderMaterial({
    side: BackSide,
    depthWrite: false,
    uniforms: { zenith: { value: new Color() }, horizon: { value: new Color() } },
    vertexShader: `
      varying vec3 vDirection;
      void main() {
        vDirection = position;
        gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
        // Behind everything.
        gl_Position.z = gl_Position.w;
      }`,
    fragmentShader: `
      varying vec3 vDirection;
      uniform vec3 zenith;
      uniform vec3 horizon;
      void main() {
        float height = max(0.0, normalize(vDirection).z);
        gl_FragColor = vec4(mix(horizon, zenith, smoothstep(0.0, 0.55, height)), 1.0);
        #include <colorspace_fragment>
      }`,
  });
  const sky = new Mesh(new SphereGeometry(1, 24, 16), material);
  // Rendered after all opaque objects, so that only its visible pixels are shaded; the ground before it, for the same
  // reason.
  sky.renderOrder = SKY_ORDER;
  sky.frustumCulled = false;
  return sky;
}

export class Light {
  readonly root = new Group();
  private readonly sun = new DirectionalLight();
  private readonly hemisphere = new HemisphereLight();
  private readonly sky = newSky();
  private radius = 0;

  constructor(software: boolean) {
    const pixels = software ? SHADOW_PIXELS_SOFTWARE : SHADOW_PIXELS;
    this.hemisphere.position.set(0, 0, 1);
    this.sun.castShadow = true;
    this.sun.shadow.mapSize.set(pixels, pixels);
    this.sun.shadow.bias = -0.0008;
    this.sun.shadow.camera.up.set(0, 0, 1);
    this.root.add(this.hemisphere, this.sun, this.sun.target, this.sky);
  }

  setPalette(palette: Palette): void {
    this.sun.color.copy(palette.sun);
    this.sun.intensity = palette.sunlight;
    this.sun.shadow.intensity = palette.shadow;
    this.hemisphere.color.copy(palette.skyLight);
    this.hemisphere.groundColor.copy(palette.groundLight);
    this.hemisphere.intensity = palette.ambient;
    this.sky.material.uniforms.zenith.value.copy(palette.zenith);
    this.sky.material.uniforms.horizon.value.copy(palette.horizon);
  }

  setShadows(on: boolean): void {
    this.sun.castShadow = on;
  }

  /** Fits the shadow map to a sphere around the bodies. */
  fit(x: number, y: number, z: number, radius: number): void {
    const coarse = EXTENT_STEP ** Math.ceil(Math.log(radius) / Math.log(EXTENT_STEP));
    const { camera } = this.sun.shadow;
    // Round the center too: shadow edges would shimmer if it moved by fractions of a pixel.
    const step = coarse / 8;
    const { target } = this.sun;
    target.position.set(step * Math.round(x / step), step * Math.round(y / step), step * Math.round(z / step));
    this.sun.position.copy(target.position).addScaledVector(SUN, 4 * coarse);
    target.updateMatrixWorld();
    if (coarse === this.radius) return;
    this.radius = coarse;
    const half = 1.15 * coarse;
    camera.left = camera.bottom = -half;
    camera.right = camera.top = half;
    camera.near = coarse;
    camera.far = 9 * coarse;
    camera.updateProjectionMatrix();
    this.sun.shadow.normalBias = (2 * half * 2) / this.sun.shadow.mapSize.x;
  }

  /** Centers the sky on the camera. */
  center(eye: Vector3, distance: number): void {
    this.sky.position.copy(eye);
    this.sky.scale.setScalar(distance);
  }
}
