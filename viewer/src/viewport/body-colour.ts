// Which colour a body has.

import { Color } from "three";
import type { Colouring } from "../model";
import { type Body, type Frame, NO_ISLAND, type Settings } from "../protocol";
import type { Size } from "./bounds";
import { AT_REST, colourOf, type Palette, MOVING, scaleColour } from "./palette";

/** Below this part of the speed of rest a body is seen as being at rest. */
const REST_PART = 0.01;

function length(list: Float64Array, row: number): number {
  return Math.hypot(list[3 * row], list[3 * row + 1], list[3 * row + 2]);
}

/** What colours depend on besides the body. */
export interface ColourOptions {
  colouring: Colouring;
  palette: Palette;
  settings: Settings | null;
  /** The greatest speed of the scene up to now. */
  maxSpeed: number;
  selected: number | null;
}

/** Puts the body's colour into `out`. */
export function bodyColour(
  options: ColourOptions,
  frame: Frame,
  row: number,
  bodyIndex: number,
  body: Body,
  size: Size,
  out: Color,
): void {
  if (body.kind === "environment") out.copy(options.palette.environment);
  else if (options.colouring === "body") out.copy(colourOf(bodyIndex));
  else if (options.colouring === "island") {
    const island = frame.island[row];
    out.copy(island === NO_ISLAND ? options.palette.environment : colourOf(island));
  } else if (options.colouring === "speed") {
    const maxSpeed = options.maxSpeed || 1;
    scaleColour(length(frame.velocity, row) / maxSpeed, out);
  } else {
    const speed = length(frame.velocity, row) + length(frame.spin, row) * size.radius;
    const limit = REST_PART * (options.settings?.rest_speed ?? 0);
    out.copy(speed < limit ? AT_REST : MOVING);
  }
  if (options.selected === bodyIndex) out.lerp(options.palette.accent, 0.6);
}

/** The greatest speed in a frame of bodies that move by themselves. */
export function maxSpeedIn(frame: Frame, bodies: readonly Body[]): number {
  let maxSpeed = 0;
  for (let row = 0; row < frame.bodyCount; row++) {
    if (bodies[frame.body[row]]?.kind !== "inertial") continue;
    const speed = length(frame.velocity, row);
    if (speed > maxSpeed && speed < Infinity) maxSpeed = speed;
  }
  return maxSpeed;
}
