// How many pixels are drawn: fewer while things move if the graphics cannot keep up, all once they are still.

/** Pixels of the device per CSS pixel, at most. */
const MAX_RATIO = 2;
/** Least part of them, along each side. */
const MIN_FRACTION = 0.5;
/** Milliseconds from one picture to the next that are too many, and so few that there could be more pixels. */
const SLOW_MS = 42;
const FAST_MS = 21;
/** Pictures between two changes: sooner to fewer pixels than to more. */
const HOLD = { fewer: 4, more: 30 };
/** So long after the last picture in motion a full one is drawn. */
const SETTLE_MS = 250;
/** Longer pauses are not the graphics': the page was hidden, or stood still. */
const MAX_FRAME_MS = 2000;

/** Whether the browser draws by the processor alone. */
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
  /** Part of the full number of pixels along each side, in motion. */
  private fraction = 1;
  private last = { at: 0, moving: false };
  private average = 0;
  private hold = HOLD.fewer;
  private settled = false;

  constructor(readonly software: boolean) {}

  /** Pixels of the picture per CSS pixel when nothing moves. Smoothing of edges by the graphics is dear in
   * software; twice the pixels for a still picture do the same. */
  full(): number {
    return Math.min(this.software ? 2 * devicePixelRatio : devicePixelRatio, MAX_RATIO);
  }

  moving(): number {
    return this.fraction * Math.min(devicePixelRatio, MAX_RATIO);
  }

  /** To be called once a tick; says with how many pixels to draw, or null if not at all. */
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
    // The picture that is there may be as good already.
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
