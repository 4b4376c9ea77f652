// Playback: moves the cursor with the browser's clock.

import type { Model } from "./model";

export class Player {
  private last: number | null = null;
  /** Playback position beyond the cursor, steps, less than one stride. */
  private remainder = 0;

  constructor(private readonly model: Model) {}

  /** Plays or pauses the recording, or runs or pauses the simulation. */
  toggle(): void {
    const { hello, status, playing, send, atEnd } = this.model;
    if (hello.value?.mode === "live") {
      atEnd.value = true;
      send({ do: status.value?.running ? "pause" : "run" });
      return;
    }
    const range = status.value;
    if (!playing.value && range && this.model.cursor.value >= range.last_step) {
      this.seek(range.first_step);
    }
    playing.value = !playing.value;
  }

  /** Moves one step forward or back. At the newest step of a live run, forward makes the simulation take a step. */
  step(by: 1 | -1): void {
    const { hello, status, playing, send, atEnd, cursor } = this.model;
    playing.value = false;
    if (hello.value?.mode === "live") {
      if (status.value?.running) send({ do: "pause" });
      if (by === 1 && (atEnd.value || cursor.value >= (status.value?.last_step ?? 0))) {
        atEnd.value = true;
        send({ do: "step" });
        return;
      }
    }
    // The next frame, not the nearest: the last frame may be less than a stride away.
    const every = hello.value?.every ?? 1;
    const here = Math.floor(cursor.value / every) * every;
    const back = here === cursor.value ? here - every : here;
    this.seek(by === 1 ? here + every : back);
  }

  /** Moves the cursor to a step. */
  seek(step: number): void {
    const { hello, status, cursor, atEnd } = this.model;
    const range = status.value;
    if (!range) return;
    const wanted = this.model.nearestRecorded(step);
    this.remainder = 0;
    atEnd.value = hello.value?.mode === "live" && wanted >= range.last_step;
    cursor.value = wanted;
  }

  /** Moves to the next or the previous mark. */
  jump(by: 1 | -1): void {
    const { marks, cursor } = this.model;
    const steps = marks.value.map((mark) => mark.step);
    const found =
      by === 1
        ? steps.find((step) => step > cursor.value)
        : steps.findLast((step) => step < cursor.value);
    if (found !== undefined) this.seek(found);
  }

  /** Sets the simulated seconds per second. */
  setSpeed(factor: number): void {
    this.model.speed.value = factor;
    if (this.model.hello.value?.mode === "live") this.model.send({ do: "speed", factor });
  }

  /** Advances the cursor during playback. Call once per animation frame; `now` in milliseconds. */
  tick(now: number): void {
    const { hello, status, playing, cursor, speed, loop } = this.model;
    const elapsed = this.last === null ? 0 : Math.min((now - this.last) / 1000, 0.25);
    this.last = now;
    const range = status.value;
    if (!playing.value || !hello.value || !range || hello.value.mode === "live") return;
    // Wait for a frame that has not arrived yet.
    if (this.model.frame.value?.step !== cursor.value) return;
    const stride = this.model.stride();
    this.remainder += (elapsed * speed.value) / range.settings.dt;
    const steps = stride * Math.floor(this.remainder / stride);
    if (steps === 0) return;
    this.remainder -= steps;
    let next = cursor.value + steps;
    if (next >= range.last_step) {
      // Show the last step before starting over.
      const atLast = cursor.value === range.last_step;
      next = loop.value && atLast ? range.first_step : range.last_step;
      if (!loop.value) playing.value = false;
    }
    cursor.value = next;
  }
}
