// Positions of bodies read back from render matrices, and the bounding sphere of the moving bodies.

import type { Vector3 } from "three";
import type { Body, Frame, Vec3 } from "../protocol";
import type { Scale, Size } from "./bounds";
import type { Place } from "./pose";

/** Returns the center of mass from the matrix of a body's shape, by undoing the shape's place. */
export function positionFromMatrix(matrices: Float32Array, at: number, { position, rotation }: Place): Vec3 {
  const out: Vec3 = [matrices[at + 12], matrices[at + 13], matrices[at + 14]];
  if (position.every((part) => part === 0)) return out;
  // The offset's direction in the shape's axes, by the inverse of the offset's rotation.
  const [x, y, z, w] = [-rotation[0], -rotation[1], -rotation[2], rotation[3]];
  const [px, py, pz] = position;
  const tx = 2 * (y * pz - z * py);
  const ty = 2 * (z * px - x * pz);
  const tz = 2 * (x * py - y * px);
  const local = [
    px + w * tx + y * tz - z * ty,
    py + w * ty + z * tx - x * tz,
    pz + w * tz + x * ty - y * tx,
  ];
  for (let column = 0; column < 3; column++) {
    const start = at + 4 * column;
    const scale = Math.hypot(matrices[start], matrices[start + 1], matrices[start + 2]) || 1;
    for (let row = 0; row < 3; row++) out[row] -= (matrices[start + row] / scale) * local[column];
  }
  return out;
}

/** Maximum radius of the shadowed region, in initial radii of the scene. */
const MAX_SHADOW_RADII = 4;

/** Returns a sphere around the inertial bodies, for the shadows. If it would be much larger than the initial scene, the
 * sphere is centered on the camera's target instead. */
export function movingSphere(
  frame: Frame,
  bodies: readonly Body[],
  sizes: readonly Size[],
  scale: Scale,
  target: Vector3,
): { x: number; y: number; z: number; radius: number } {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let row = 0; row < frame.bodyCount; row++) {
    const bodyIndex = frame.body[row];
    if (bodies[bodyIndex]?.kind !== "inertial") continue;
    const { radius } = sizes[bodyIndex];
    if (!(radius > 0)) continue;
    for (let axis = 0; axis < 3; axis++) {
      const at = frame.position[3 * row + axis];
      if (at - radius < low[axis]) low[axis] = at - radius;
      if (at + radius > high[axis]) high[axis] = at + radius;
    }
  }
  const radius = Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]) / 2;
  if (radius < MAX_SHADOW_RADII * scale.radius) {
    const [x, y, z] = low.map((part, axis) => (part + high[axis]) / 2);
    return { x, y, z, radius: Math.max(radius, scale.edge) };
  }
  return { x: target.x, y: target.y, z: target.z, radius: MAX_SHADOW_RADII * scale.radius };
}
