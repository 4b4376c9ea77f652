// Adaptive resolution: reduced during motion if rendering cannot keep up, full once the view is still.

/** Maximum number of device pixels per CSS pixel. */
const MAX_RATIO = 2;
/** Minimum fraction of the full resolution, along each side. */
const MIN_FRACTION = 0.5;
/** Frame times above which the resolution is reduced, and below which it is increased, ms. */
const SLOW_MS = 42;
const FAST_MS = 21;
/** Frames between two changes: fewer before a reduction than before an increase. */
const HOLD = { fewer: 4, more: 30 };
/** Time after the last change at which a full-resolution frame is rendered, ms. */
const SETTLE_MS = 250;
/** Longer frame times are ignored: the page was hidden or idle, ms. */
const MAX_FRAME_MS = 2000;

/** Returns whether the browser renders in software. */
export function isSoftware(): boolean {
  try {
    const gl = document.createElement("canvas").getContext("webgl2");
    if (!gl) return false;
    const names = gl.getExtension("WEBGL_debug_renderer_info");
    const name = String(gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
    gl.getExtension("WEBGL_lose_context")?.loseContext();
    return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
  } catch {
    return false;
  }
}

export class Quality {
  /** Fraction of the full resolution along each side, during motion. */
  private fraction = 1;
  private last = { at: 0, moving: false };
  private average = 0;
  private hold = HOLD.fewer;
  private settled = false;

  constructor(readonly software: boolean) {}

  /** Returns the rendered pixels per CSS pixel when nothing moves. Antialiasing is expensive in software; rendering a
   * still frame at twice the resolution has the same effect. */
  full(): number {
    return Math.min(this.software ? 2 * devicePixelRatio : devicePixelRatio, MAX_RATIO);
  }

  moving(): number {
    return this.fraction * Math.min(devicePixelRatio, MAX_RATIO);
  }

  /** Returns the pixel ratio to render with, or null to skip rendering. Call once per animation frame. */
  next(now: number, changed: boolean): number | null {
    const elapsed = now - this.last.at;
    if (changed) {
      if (this.last.moving && elapsed < MAX_FRAME_MS) this.adapt(elapsed);
      this.last = { at: now, moving: true };
      this.settled = false;
      return this.moving();
    }
    this.last.moving = false;
    if (this.settled || elapsed < SETTLE_MS) return null;
    this.settled = true;
    // The frame on display may have full resolution already.
    return this.full() === this.moving() ? null : this.full();
  }

  private adapt(elapsed: number): void {
    this.average += 0.3 * (elapsed - this.average);
    if (--this.hold > 0) return;
    if (this.average > SLOW_MS && this.fraction > MIN_FRACTION) {
      this.fraction = Math.max(MIN_FRACTION, 0.8 * this.fraction);
      this.hold = HOLD.fewer;
    } else if (this.average < FAST_MS && this.fraction < 1) {
      this.fraction = Math.min(1, 1.2 * this.fraction);
      this.hold = HOLD.more;
    }
  }
}
