// Poses of bodies and of their shapes (the body's pose times the collider's place), in double precision and without
// allocations, since this runs for every collider in every rendered frame.

import type { Collider, Frame } from "../protocol";

/** The rotated x, y and z axes (three numbers each), then the position. */
export type Pose = Float64Array;

export function newPose(): Pose {
  return Float64Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0);
}

function setRotation(out: Pose, x: number, y: number, z: number, w: number): void {
  out[0] = 1 - 2 * (y * y + z * z);
  out[1] = 2 * (x * y + w * z);
  out[2] = 2 * (x * z - w * y);
  out[3] = 2 * (x * y - w * z);
  out[4] = 1 - 2 * (x * x + z * z);
  out[5] = 2 * (y * z + w * x);
  out[6] = 2 * (x * z + w * y);
  out[7] = 2 * (y * z - w * x);
  out[8] = 1 - 2 * (x * x + y * y);
}

/** Computes the pose of the body, whose origin is its center of mass. */
export function bodyPose(frame: Frame, row: number, out: Pose): void {
  const { position: p, rotation: q } = frame;
  setRotation(out, q[4 * row], q[4 * row + 1], q[4 * row + 2], q[4 * row + 3]);
  out[9] = p[3 * row];
  out[10] = p[3 * row + 1];
  out[11] = p[3 * row + 2];
}

/** Where a shape is in its body's frame. */
export type Place = Pick<Collider, "position" | "rotation">;

/** Computes the pose of a shape in its body's frame. */
export function localPose({ position, rotation }: Place, out: Pose): void {
  setRotation(out, ...rotation);
  out.set(position, 9);
}

/** Computes the pose of a body's shape. Without an offset, the position equals the recorded one to the last bit. */
export function shapePose(frame: Frame, row: number, place: Place, out: Pose): void {
  bodyPose(frame, row, out);
  const { position, rotation } = place;
  const [ox, oy, oz] = position;
  if (ox !== 0 || oy !== 0 || oz !== 0) {
    for (let axis = 0; axis < 3; axis++) {
      out[9 + axis] += out[axis] * ox + out[3 + axis] * oy + out[6 + axis] * oz;
    }
  }
  const [bx, by, bz, bw] = rotation;
  if (bx === 0 && by === 0 && bz === 0) return;
  const q = frame.rotation;
  const ax = q[4 * row];
  const ay = q[4 * row + 1];
  const az = q[4 * row + 2];
  const aw = q[4 * row + 3];
  setRotation(
    out,
    aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx,
    aw * bz + ax * by - ay * bx + az * bw,
    aw * bw - ax * bx - ay * by - az * bz,
  );
}

/** Writes a pose with a scale along its own axes as a column-major 4x4 matrix. */
export function writeMatrix(
  pose: Pose,
  sx: number,
  sy: number,
  sz: number,
  out: Float32Array | number[],
  at: number,
): void {
  out[at] = pose[0] * sx;
  out[at + 1] = pose[1] * sx;
  out[at + 2] = pose[2] * sx;
  out[at + 3] = 0;
  out[at + 4] = pose[3] * sy;
  out[at + 5] = pose[4] * sy;
  out[at + 6] = pose[5] * sy;
  out[at + 7] = 0;
  out[at + 8] = pose[6] * sz;
  out[at + 9] = pose[7] * sz;
  out[at + 10] = pose[8] * sz;
  out[at + 11] = 0;
  out[at + 12] = pose[9];
  out[at + 13] = pose[10];
  out[at + 14] = pose[11];
  out[at + 15] = 1;
}
