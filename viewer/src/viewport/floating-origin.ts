// The graphics compute with single precision, which is too coarse far from the world's origin: at 7000 km its
// steps are half a metre. So everything is drawn about an origin of the stage's own, which is the world's as
// long as the camera looks at something near that, as in all but a few scenes.

import { Vector3 } from "three";
import type { Frame, Vec3 } from "../protocol";

/** So many radii of the scene away from the origin, single precision would be seen. */
const MAX_RADII = 1e4;

/** A list's numbers, three in a row, seen from elsewhere. */
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
  /** In the world. */
  readonly point = new Vector3();

  private get isAtWorldOrigin(): boolean {
    return this.point.x === 0 && this.point.y === 0 && this.point.z === 0;
  }

  /** How far the origin has to move if the camera looks at this place of the stage: by whole steps, so that a
   * grid stays where it is. Null if it can stay. */
  rebaseOffset(target: Vector3, radius: number, step: number): Vector3 | null {
    if (!(target.length() > MAX_RADII * radius)) return null;
    return target.clone().divideScalar(step).round().multiplyScalar(step);
  }

  /** The frame about this origin. */
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

  /** Where something drawn is in the world, with the precision of what is drawn. */
  toWorldSingle(point: Vec3): Vec3 {
    if (this.isAtWorldOrigin) return point;
    const [x, y, z] = this.toWorld(new Vector3(...point));
    return [Math.fround(x), Math.fround(y), Math.fround(z)];
  }
}
