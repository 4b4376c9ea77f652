// The floating origin. GPUs compute in single precision, which is too coarse far from the world's origin: at 7000 km
// the spacing of floats is half a meter. Everything is therefore drawn relative to a floating origin, which equals the
// world's origin while the camera's target is near it, as in all but a few scenes.

import { Vector3 } from "three";
import type { Frame, Vec3 } from "../protocol";

/** Distance from the origin at which single precision becomes visible, in scene radii. */
const MAX_RADII = 1e4;

/** Returns a list of vectors relative to another origin. */
function translated(list: Float64Array, by: Vector3): Float64Array {
  const out = new Float64Array(list.length);
  for (let k = 0; k < list.length; k += 3) {
    out[k] = list[k] - by.x;
    out[k + 1] = list[k + 1] - by.y;
    out[k + 2] = list[k + 2] - by.z;
  }
  return out;
}

export class FloatingOrigin {
  /** Position in the world, m. */
  readonly point = new Vector3();

  private get isAtWorldOrigin(): boolean {
    return this.point.x === 0 && this.point.y === 0 && this.point.z === 0;
  }

  /** Returns the offset by which the origin has to move for this camera target, in whole steps so that the grid does not
   * move; null if the origin can stay. */
  rebaseOffset(target: Vector3, radius: number, step: number): Vector3 | null {
    if (!(target.length() > MAX_RADII * radius)) return null;
    return target.clone().divideScalar(step).round().multiplyScalar(step);
  }

  /** Returns the frame relative to this origin. */
  apply(frame: Frame | null): Frame | null {
    if (!frame || this.isAtWorldOrigin) return frame;
    return Object.create(frame, {
      position: { value: translated(frame.position, this.point) },
      pointPosition: { value: translated(frame.pointPosition, this.point) },
    }) as Frame;
  }

  toLocal([x, y, z]: Vec3): Vec3 {
    return [x - this.point.x, y - this.point.y, z - this.point.z];
  }

  toWorld({ x, y, z }: Vector3): Vec3 {
    return [x + this.point.x, y + this.point.y, z + this.point.z];
  }

  /** Converts a drawn position to world coordinates, rounded to single precision. */
  toWorldSingle(point: Vec3): Vec3 {
    if (this.isAtWorldOrigin) return point;
    const [x, y, z] = this.toWorld(new Vector3(...point));
    return [Math.fround(x), Math.fround(y), Math.fround(z)];
  }
}
