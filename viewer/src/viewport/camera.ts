// The camera, which orbits a target.

import { MathUtils, PerspectiveCamera, Vector3 } from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import type { Vec3 } from "../protocol";
import type { Box, Scale } from "./bounds";

/** Vertical field of view, degrees. */
const FIELD_OF_VIEW = 38;
const MARGIN = 1.12;
/** Fraction of the distance to the followed body covered per rendered frame. */
const EASE = 0.2;

/** Returns the default direction from a scene's center to the camera: mainly perpendicular to its longer side. */
function defaultDirection(box: Box): Vector3 {
  const wide = box[3] - box[0] >= box[4] - box[1];
  return (wide ? new Vector3(0.5, -1, 0.42) : new Vector3(1, -0.5, 0.42)).normalize();
}

export class OrbitCamera {
  readonly camera = new PerspectiveCamera(FIELD_OF_VIEW, 1, 0.1, 1000);
  readonly controls: OrbitControls;
  private readonly lastPose = new Float64Array(7);
  private followed: number | null = null;
  private readonly lastPosition = new Vector3();
  private readonly offset = new Vector3();

  constructor(canvas: HTMLCanvasElement) {
    this.camera.up.set(0, 0, 1);
    this.camera.position.set(1, -1, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = true;
    this.controls.dampingFactor = 0.12;
    this.controls.zoomSpeed = 0.9;
    this.controls.maxPolarAngle = 0.98 * Math.PI;
  }

  get distance(): number {
    return this.camera.position.distanceTo(this.controls.target);
  }

  setAspect(aspect: number): void {
    if (this.camera.aspect === aspect) return;
    this.camera.aspect = aspect;
    this.camera.updateProjectionMatrix();
  }

  /** Frames the scene: moves back until all corners of its box are in view. */
  frame(scale: Scale): void {
    const { box } = scale;
    const away = defaultDirection(box);
    const right = new Vector3(0, 0, 1).cross(away).normalize();
    const up = new Vector3().crossVectors(away, right);
    const halfHeight = Math.tan(MathUtils.degToRad(FIELD_OF_VIEW / 2)) / MARGIN;
    const halfWidth = halfHeight * this.camera.aspect;
    const middle = new Vector3(...scale.center);
    const corner = new Vector3();
    let distance = 0;
    for (let k = 0; k < 8; k++) {
      corner.set(box[k & 1 ? 3 : 0], box[k & 2 ? 4 : 1], box[k & 4 ? 5 : 2]).sub(middle);
      const needed = Math.max(Math.abs(corner.dot(right)) / halfWidth, Math.abs(corner.dot(up)) / halfHeight);
      distance = Math.max(distance, needed + corner.dot(away));
    }
    distance = Math.max(distance, 1.2 * scale.radius);
    this.controls.target.copy(middle);
    this.camera.position.copy(middle).addScaledVector(away, distance);
    this.controls.minDistance = 0.01 * scale.radius;
    this.controls.maxDistance = 60 * scale.radius;
    this.followed = null;
    // Discard the remaining inertia of the controls.
    this.controls.enableDamping = false;
    this.controls.update();
    this.controls.enableDamping = true;
  }

  /** Moves to this distance from a target, keeping the direction. */
  approach(position: Vec3, distance: number): void {
    const away = this.offset.copy(this.camera.position).sub(this.controls.target).normalize();
    this.controls.target.set(...position);
    this.camera.position.set(...position).addScaledVector(away, distance);
  }

  /** Follows a body at this position; null to stop following. */
  follow(body: number | null, position: Vec3 | null): void {
    if (body === null || position === null) {
      this.followed = null;
      return;
    }
    const { target } = this.controls;
    this.offset.set(...position);
    if (body === this.followed) {
      this.offset.sub(this.lastPosition);
      target.add(this.offset);
      this.camera.position.add(this.offset);
    }
    this.followed = body;
    this.lastPosition.set(...position);
    this.offset.copy(this.lastPosition).sub(target);
    // Ease towards the body, and jump the last bit.
    if (this.offset.length() > 1e-3 * this.distance) this.offset.multiplyScalar(EASE);
    target.add(this.offset);
    this.camera.position.add(this.offset);
  }

  /** Adjusts the camera to a moved floating origin. */
  shift(by: Vector3): void {
    this.camera.position.sub(by);
    this.controls.target.sub(by);
    this.lastPosition.sub(by);
    this.camera.updateMatrixWorld();
  }

  /** Updates the controls and returns whether the camera has moved since the last call. The controls' own result
   * depends on an absolute length. */
  update(): boolean {
    this.controls.update();
    const { position: p, quaternion: q } = this.camera;
    const now = [p.x, p.y, p.z, q.x, q.y, q.z, q.w];
    const distance = this.distance;
    let changed = false;
    for (let k = 0; k < 7; k++) {
      const limit = k < 3 ? 1e-5 * distance : 1e-5;
      if (Math.abs(now[k] - this.lastPose[k]) > limit) changed = true;
    }
    if (!changed) return false;
    this.lastPose.set(now);
    return true;
  }

  /** Sets the near and far planes. */
  setRange(sceneRadius: number): void {
    const distance = this.distance;
    this.camera.near = distance / 150;
    this.camera.far = 20 * (distance + sceneRadius);
    this.camera.updateProjectionMatrix();
    this.camera.updateMatrixWorld();
  }
}
