// How many pixels are drawn: fewer while things move if the graphics cannot keep up, all once they are still.

/** Pixels of the device per CSS pixel, at most. */
const MOST_RATIO = 2;
/** Least part of them, along each side. */
const LEAST = 0.5;
/** Milliseconds from one picture to the next that are too many, and so few that there could be more pixels. */
const SLOW_MS = 42;
const QUICK_MS = 21;
/** Pictures between two changes: sooner to fewer pixels than to more. */
const HOLD = { fewer: 4, more: 30 };
/** So long after the last picture in motion a full one is drawn. */
const SETTLE_MS = 250;
/** Longer pauses are not the graphics': the page was hidden, or stood still. */
const PAUSE_MS = 2000;

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
  private part = 1;
  private last = { at: 0, moving: false };
  private usual = 0;
  private hold = HOLD.fewer;
  private settled = false;

  constructor(readonly software: boolean) {}

  /** Pixels of the picture per CSS pixel when nothing moves. Smoothing of edges by the graphics is dear in
   * software; twice the pixels for a still picture do the same. */
  full(): number {
    return Math.min(this.software ? 2 * devicePixelRatio : devicePixelRatio, MOST_RATIO);
  }

  moving(): number {
    return this.part * Math.min(devicePixelRatio, MOST_RATIO);
  }

  /** To be called once a tick; says with how many pixels to draw, or null if not at all. */
  next(now: number, changed: boolean): number | null {
    const past = now - this.last.at;
    if (changed) {
      if (this.last.moving && past < PAUSE_MS) this.weigh(past);
      this.last = { at: now, moving: true };
      this.settled = false;
      return this.moving();
    }
    this.last.moving = false;
    if (this.settled || past < SETTLE_MS) return null;
    this.settled = true;
    // The picture that is there may be as good already.
    return this.full() === this.moving() ? null : this.full();
  }

  private weigh(past: number): void {
    this.usual += 0.3 * (past - this.usual);
    if (--this.hold > 0) return;
    if (this.usual > SLOW_MS && this.part > LEAST) {
      this.part = Math.max(LEAST, 0.8 * this.part);
      this.hold = HOLD.fewer;
    } else if (this.usual < QUICK_MS && this.part < 1) {
      this.part = Math.min(1, 1.2 * this.part);
      this.hold = HOLD.more;
    }
  }
}
