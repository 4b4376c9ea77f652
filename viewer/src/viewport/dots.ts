// Discs and rings that face the camera, for contact points. Their size is a length in the scene, but at least some
// pixels, so that they can be seen and clicked from far away.

import {
  BufferAttribute,
  BufferGeometry,
  type Color,
  DynamicDrawUsage,
  GreaterDepth,
  Group,
  LessEqualDepth,
  Points,
  ShaderMaterial,
} from "three";
import { growCapacity } from "./instances";

/** Minimum diameters, CSS pixels. */
const MIN_DISC = 5;
const MIN_RING = 26;

const VERTEX = `
attribute vec3 tint;
attribute float radius;
uniform float pixels;
uniform float ratio;
uniform float minSize;
varying vec3 vTint;
varying float vSize;
void main() {
  vec4 view = modelViewMatrix * vec4(position, 1.0);
  // Move a little towards the camera, so that the surfaces around a disc do not cut it.
  view.xyz *= 1.0 - min(0.5, radius / length(view.xyz));
  gl_Position = projectionMatrix * view;
  float size = 2.0 * radius * projectionMatrix[1][1] * 0.5 * pixels / gl_Position.w;
  vSize = clamp(size, minSize * ratio, 64.0 * ratio);
  gl_PointSize = vSize;
  vTint = tint;
}`;

const FRAGMENT = `
varying vec3 vTint;
varying float vSize;
uniform float opacity;
uniform float ring;
void main() {
  float r = length(gl_PointCoord - 0.5) * 2.0;
  float soft = 3.0 / vSize;
  float alpha = 1.0 - smoothstep(1.0 - soft, 1.0, r);
  float rim = smoothstep(0.72 - soft, 0.72, r);
  alpha *= mix(1.0, smoothstep(0.5 - soft, 0.5, r), ring);
  if (alpha < 0.02) discard;
  // A dark rim separates a disc from bodies of its color; a ring has one on both sides.
  float within = smoothstep(0.6 - soft, 0.6, r) * (1.0 - smoothstep(0.88 - soft, 0.88, r));
  vec3 color = mix(mix(vTint, vTint * 0.25, rim), mix(vec3(0.02), vTint, within), ring);
  gl_FragColor = vec4(color, alpha * opacity);
  #include <colorspace_fragment>
}`;

function newMaterial(opacity: number, hidden: boolean, ring: boolean): ShaderMaterial {
  return new ShaderMaterial({
    vertexShader: VERTEX,
    fragmentShader: FRAGMENT,
    transparent: true,
    depthWrite: !hidden && !ring,
    depthTest: !ring,
    depthFunc: hidden ? GreaterDepth : LessEqualDepth,
    uniforms: {
      pixels: { value: 1 },
      ratio: { value: 1 },
      opacity: { value: opacity },
      ring: { value: ring ? 1 : 0 },
      minSize: { value: ring ? MIN_RING : MIN_DISC },
    },
  });
}

export class Dots {
  readonly root = new Group();
  private readonly geometry = new BufferGeometry();
  private readonly materials: ShaderMaterial[];
  private capacity = 0;
  private count = 0;

  /** Rings are drawn on top of everything; discs show faintly through bodies. */
  constructor(ring = false) {
    this.materials = ring
      ? [newMaterial(1, false, true)]
      : [newMaterial(1, false, false), newMaterial(0.45, true, false)];
    this.materials.forEach((material, k) => {
      const points = new Points(this.geometry, material);
      points.frustumCulled = false;
      points.renderOrder = 6 - k + (ring ? 4 : 0);
      this.root.add(points);
    });
  }

  /** Sets the height of the render target, pixels, and the pixels per CSS pixel. */
  setPixels(height: number, ratio: number): void {
    for (const { uniforms } of this.materials) {
      uniforms.pixels.value = height;
      uniforms.ratio.value = ratio;
    }
  }

  begin(max: number): void {
    this.count = 0;
    const capacity = growCapacity(max, this.capacity);
    if (capacity === this.capacity) return;
    this.capacity = capacity;
    this.geometry.dispose();
    for (const [name, width] of [["position", 3], ["tint", 3], ["radius", 1]] as const) {
      const list = new BufferAttribute(new Float32Array(width * capacity), width);
      this.geometry.setAttribute(name, list.setUsage(DynamicDrawUsage));
    }
  }

  add(x: number, y: number, z: number, radius: number, color: Color): void {
    const at = this.count++;
    const { position, tint, radius: radii } = this.geometry.attributes;
    position.array[3 * at] = x;
    position.array[3 * at + 1] = y;
    position.array[3 * at + 2] = z;
    tint.array[3 * at] = color.r;
    tint.array[3 * at + 1] = color.g;
    tint.array[3 * at + 2] = color.b;
    radii.array[at] = radius;
  }

  end(): void {
    this.geometry.setDrawRange(0, this.count);
    this.root.visible = this.count > 0;
    for (const list of Object.values(this.geometry.attributes)) list.needsUpdate = true;
  }
}
