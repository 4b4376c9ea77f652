// The measured rate of rendered frames.

import type { Signal } from "../signal";

/** A counter of rendered frames per second. */
export class FrameRateCounter {
  private since = 0;
  private count = 0;

  constructor(private readonly out: Signal<number>) {}

  tick(now: number, drawn: boolean): void {
    if (drawn) this.count++;
    const elapsed = now - this.since;
    if (elapsed < 1000) return;
    this.out.value = Math.round((this.count * 1000) / elapsed);
    this.count = 0;
    this.since = now;
  }
}
