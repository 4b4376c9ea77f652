// From what is drawn back to where bodies are; and how far bodies are spread.

import type { Vector3 } from "three";
import type { Body, Frame, Vec3 } from "../protocol";
import type { Scale, Size } from "./bounds";

/** The centre of mass by the matrix of the body's shape at a place in a list: the shape's offset is undone. */
export function shownPosition(list: Float32Array, at: number, body: Body): Vec3 {
  const out: Vec3 = [list[at + 12], list[at + 13], list[at + 14]];
  const { position, rotation } = body.offset;
  if (position.every((part) => part === 0)) return out;
  // The offset's direction in the shape's axes, by the inverse of the offset's rotation.
  const [x, y, z, w] = [-rotation[0], -rotation[1], -rotation[2], rotation[3]];
  const [px, py, pz] = position;
  const tx = 2 * (y * pz - z * py);
  const ty = 2 * (z * px - x * pz);
  const tz = 2 * (x * py - y * px);
  const own = [
    px + w * tx + y * tz - z * ty,
    py + w * ty + z * tx - x * tz,
    pz + w * tz + x * ty - y * tx,
  ];
  for (let column = 0; column < 3; column++) {
    const start = at + 4 * column;
    const scale = Math.hypot(list[start], list[start + 1], list[start + 2]) || 1;
    for (let row = 0; row < 3; row++) out[row] -= (list[start + row] / scale) * own[column];
  }
  return out;
}

/** The farthest that shadows reach, in radii of the scene at its start. */
const FARTHEST = 4;

/** A ball around the bodies that move, for the shadows. If it is much larger than the scene was at first, one
 * around what the camera looks at. */
export function spread(
  frame: Frame,
  bodies: readonly Body[],
  sizes: readonly Size[],
  scale: Scale,
  target: Vector3,
): { x: number; y: number; z: number; radius: number } {
  const low = [Infinity, Infinity, Infinity];
  const high = [-Infinity, -Infinity, -Infinity];
  for (let place = 0; place < frame.bodyCount; place++) {
    const number = frame.body[place];
    if (bodies[number]?.kind !== "inertial") continue;
    const { radius } = sizes[number];
    for (let axis = 0; axis < 3; axis++) {
      const at = frame.position[3 * place + axis];
      if (at - radius < low[axis]) low[axis] = at - radius;
      if (at + radius > high[axis]) high[axis] = at + radius;
    }
  }
  const radius = Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]) / 2;
  if (radius < FARTHEST * scale.radius) {
    const [x, y, z] = low.map((part, axis) => (part + high[axis]) / 2);
    return { x, y, z, radius: Math.max(radius, scale.edge) };
  }
  return { x: target.x, y: target.y, z: target.z, radius: FARTHEST * scale.radius };
}
