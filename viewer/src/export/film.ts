// The filming of a span of the timeline: shows its frames one after the other and writes each for as long as it lasts.

import type { Model } from "../model";
import { timeOfStep } from "../panels/step-time";
import type { Player } from "../player";
import type { Viewport } from "../viewport/viewport";
import { newWriter } from "./writer";

/** Maximum number of frames per second of a film. */
const MAX_RATE = 30;
/** Time after which a frame that has not arrived is given up, ms. */
const FRAME_TIMEOUT_MS = 20_000;

/** A span of steps, and the simulated seconds per second at which it is shown. */
export interface Span {
  from: number;
  to: number;
  speed: number;
}

/** The steps that a film shows and the time for which it shows each, ms. */
export interface Shot {
  step: number;
  milliseconds: number;
}

/** Returns the shots of a span: recorded steps, as many as the rate allows. */
export function shotsOf(model: Model, { from, to, speed }: Span): Shot[] {
  const every = model.hello.value?.every ?? 1;
  const dt = model.status.value?.settings.dt ?? 1 / 60;
  const stride = every * Math.max(1, Math.ceil(speed / (dt * every * MAX_RATE) - 1e-9));
  const [first, last] = [model.nearestRecorded(from), model.nearestRecorded(to)];
  const steps: number[] = [];
  for (let step = first; step < last; step += stride) steps.push(step);
  steps.push(last);
  // The last step is shown as long as the one before it.
  let milliseconds = (1000 * stride * dt) / speed;
  return steps.map((step, index) => {
    const next = steps[index + 1];
    if (next !== undefined) milliseconds = (1000 * (timeOfStep(model, next) - timeOfStep(model, step))) / speed;
    return { step, milliseconds };
  });
}

/** Waits until the frame of a step is on display. */
async function show(model: Model, player: Player, step: number): Promise<void> {
  const end = performance.now() + FRAME_TIMEOUT_MS;
  const { value: hello } = model.hello;
  // Again if the user moves the cursor meanwhile.
  while (model.frame.value?.step !== step) {
    if (model.hello.value !== hello) throw new Error("another scene was opened");
    if (performance.now() > end) throw new Error(`step ${step} did not arrive`);
    model.playing.value = false;
    if (model.cursor.value !== step) player.seek(step);
    await new Promise((done) => setTimeout(done, 2));
  }
}

/** Writes the shots to a file and returns it with the end of its name. Stops early, with the shots so far, when `progress`,
 * called with the number of shots done, returns false. */
export async function film(
  model: Model,
  player: Player,
  viewport: Viewport,
  shots: readonly Shot[],
  progress: (done: number) => boolean,
): Promise<{ blob: Blob; extension: string }> {
  // The size stays the same if the window changes.
  const { clientWidth: width, clientHeight: height } = viewport.host;
  const canvas = document.createElement("canvas");
  const writer = await newWriter(canvas, width, height);
  viewport.setFilming(true);
  try {
    for (const [index, { step, milliseconds }] of shots.entries()) {
      if (!progress(index)) {
        if (index === 0) throw new Error("it was stopped before its first frame");
        break;
      }
      await show(model, player, step);
      viewport.drawPicture(canvas, width, height, 1, true);
      await writer.add(milliseconds);
    }
  } finally {
    viewport.setFilming(false);
  }
  return { blob: await writer.finish(), extension: writer.extension };
}
