// Conversion between steps and times, using the rows of the series. The time step can change during a live run, so
// time is not simply step times dt.

import type { Model } from "../model";

/** Returns how many of the ascending values are not above `value`. */
export function countUpTo(values: readonly number[], value: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Returns the row of a step, or of the last step before it that has a row; -1 if there is none. */
export function rowOfStep(model: Model, step: number): number {
  return countUpTo(model.series.value.column("step"), step) - 1;
}

export function timeOfStep(model: Model, step: number): number {
  const frame = model.frame.value;
  if (frame?.step === step) return frame.time;
  const dt = model.status.value?.settings.dt ?? 0;
  const series = model.series.value;
  const row = rowOfStep(model, step);
  if (row < 0) return step * dt;
  return series.column("time")[row] + (step - series.column("step")[row]) * dt;
}

/** Returns the step nearest to a time. */
export function stepOfTime(model: Model, time: number): number {
  const series = model.series.value;
  const [times, steps] = [series.column("time"), series.column("step")];
  const dt = model.status.value?.settings.dt ?? 1;
  if (times.length === 0) return Math.round(time / dt);
  const after = countUpTo(times, time);
  if (after === 0) return steps[0] - Math.round((times[0] - time) / dt);
  if (after === times.length) return steps[after - 1];
  const part = (time - times[after - 1]) / (times[after] - times[after - 1]);
  return Math.round(steps[after - 1] + part * (steps[after] - steps[after - 1]));
}
