// The motion of the selected body, for charts and the trail.

import type { Model } from "./model";
import type { Signal } from "./signal";

/** Time between two requests during a live run. */
const INTERVAL_MS = 1000;

/** Requests the selected body's motion while charts are open or the trail is drawn: when a body is selected, and at
 * intervals during a live run. */
export function keepMotionCurrent(model: Model, chartsShown: Signal<boolean>): void {
  let asked: number | null = null;
  let since = 0;
  const ask = (body: number) => {
    asked = body;
    since = performance.now();
    model.send({ do: "motion", body });
  };
  const requestIfNeeded = () => {
    const body = model.selectedBody();
    if (body === null || !(chartsShown.value || model.overlays.value.trail)) return;
    if (body !== asked || model.motion.value?.body !== body) {
      if (body !== asked || performance.now() - since > INTERVAL_MS) ask(body);
    } else if (model.hello.value?.mode === "live" && performance.now() - since > INTERVAL_MS) {
      ask(body);
    }
  };
  model.hello.watch(() => (asked = null));
  model.selection.watch(requestIfNeeded);
  model.overlays.watch(requestIfNeeded);
  chartsShown.watch(requestIfNeeded);
  // The status of a live run arrives several times a second.
  model.status.watch(requestIfNeeded);
}
