// The graphics compute with single precision, which is too coarse far from the world's origin: at 7000 km its
// steps are half a metre. So everything is drawn about an origin of the stage's own, which is the world's as
// long as the camera looks at something near that, as in all but a few scenes.

import { Vector3 } from "three";
import type { Frame, Vec3 } from "../protocol";

/** So many radii of the scene away from the origin, single precision would be seen. */
const FAR = 1e4;

/** A list's numbers, three in a row, seen from elsewhere. */
function shifted(list: Float64Array, by: Vector3): Float64Array {
  const out = new Float64Array(list.length);
  for (let k = 0; k < list.length; k += 3) {
    out[k] = list[k] - by.x;
    out[k + 1] = list[k + 1] - by.y;
    out[k + 2] = list[k + 2] - by.z;
  }
  return out;
}

export class Origin {
  /** In the world. */
  readonly at = new Vector3();

  private get isWorlds(): boolean {
    return this.at.x === 0 && this.at.y === 0 && this.at.z === 0;
  }

  /** How far the origin has to move if the camera looks at this place of the stage: by whole steps, so that a
   * grid stays where it is. Null if it can stay. */
  wanted(target: Vector3, radius: number, step: number): Vector3 | null {
    if (!(target.length() > FAR * radius)) return null;
    return target.clone().divideScalar(step).round().multiplyScalar(step);
  }

  /** The frame about this origin. */
  see(frame: Frame | null): Frame | null {
    if (!frame || this.isWorlds) return frame;
    return Object.create(frame, {
      position: { value: shifted(frame.position, this.at) },
      pointPosition: { value: shifted(frame.pointPosition, this.at) },
    }) as Frame;
  }

  toStage([x, y, z]: Vec3): Vec3 {
    return [x - this.at.x, y - this.at.y, z - this.at.z];
  }

  toWorld({ x, y, z }: Vector3): Vec3 {
    return [x + this.at.x, y + this.at.y, z + this.at.z];
  }

  /** Where something drawn is in the world, with the precision of what is drawn. */
  shownAt(place: Vec3): Vec3 {
    if (this.isWorlds) return place;
    const [x, y, z] = this.toWorld(new Vector3(...place));
    return [Math.fround(x), Math.fround(y), Math.fround(z)];
  }
}
