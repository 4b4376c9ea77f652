// The trail: the way of the selected body's center up to the step on display.

import type { Vector3 } from "three";
import type { Motion } from "../protocol";
import { WideLines } from "./lines";
import type { OverlayInput } from "./overlays";

/** Maximum number of drawn frames that are newer than the motion: it arrives once a second during a live run. */
const MAX_NEWER = 600;

/** The input of the trail: the body, and its motion in world coordinates once it has arrived. */
export interface TrailInput {
  body: number;
  motion: Motion | null;
  /** The floating origin. */
  origin: Vector3;
}

export class Trail {
  readonly line = new WideLines(2);
  /** The body and its motion, and the frames drawn since: times, and positions in world coordinates. */
  private body = -1;
  private motion: Motion | null = null;
  private newer: { time: number; position: [number, number, number] }[] = [];
  private readonly last: [number, number, number] = [0, 0, 0];

  draw({ frame, rows }: OverlayInput, input: TrailInput | null): void {
    const row = input ? (rows[input.body] ?? -1) : -1;
    if (!input || row < 0) {
      this.line.begin(0);
      this.line.end();
      return;
    }
    const { motion, origin } = input;
    const { x, y, z } = origin;
    const p = frame.position.subarray(3 * row, 3 * row + 3);
    this.remember(input, frame.time, [p[0] + x, p[1] + y, p[2] + z]);

    this.line.begin((motion?.time.length ?? 0) + this.newer.length + 1);
    let count = 0;
    const extend = (px: number, py: number, pz: number) => {
      const { last } = this;
      if (count++ > 0) this.line.add(last[0], last[1], last[2], px, py, pz);
      [last[0], last[1], last[2]] = [px, py, pz];
    };
    if (motion) {
      const [xs, ys, zs] = motion.position;
      for (let k = 0; k < motion.time.length && motion.time[k] <= frame.time; k++) extend(xs[k] - x, ys[k] - y, zs[k] - z);
    }
    for (const { time, position } of this.newer) {
      if (time <= frame.time) extend(position[0] - x, position[1] - y, position[2] - z);
    }
    extend(p[0], p[1], p[2]);
    this.line.end();
  }

  /** Stores the position of a frame that is newer than the motion. */
  private remember({ body, motion }: TrailInput, time: number, position: [number, number, number]): void {
    if (this.body !== body) this.newer = [];
    if (this.motion !== motion) {
      // A shorter motion belongs to another run.
      const [before, now] = [this.motion, motion].map((known) => known?.time.at(-1) ?? -Infinity);
      this.newer = now < before ? [] : this.newer.filter((drawn) => drawn.time > now);
    }
    [this.body, this.motion] = [body, motion];
    const covered = this.newer.at(-1)?.time ?? motion?.time.at(-1) ?? -Infinity;
    if (time > covered) this.newer.push({ time, position });
    if (this.newer.length > MAX_NEWER) this.newer.shift();
  }
}
