// The color of a body.

import { Color } from "three";
import type { Coloring } from "../model";
import { type Body, type Collider, type Frame, NO_ISLAND, type Settings } from "../protocol";
import type { Size } from "./bounds";
import { AT_REST, colorOf, MOVING, type Palette, scaleColor } from "./palette";

/** Speed below which a body counts as at rest, relative to the settings' rest speed. */
const REST_PART = 0.01;

function length(list: Float64Array, row: number): number {
  return Math.hypot(list[3 * row], list[3 * row + 1], list[3 * row + 2]);
}

/** The options that determine colors. */
export interface ColorOptions {
  coloring: Coloring;
  palette: Palette;
  settings: Settings | null;
  /** The greatest speed of the scene up to now, m/s. */
  maxSpeed: number;
  selected: number | null;
  /** The selected collider of the selected body; null for the whole body. */
  selectedCollider: Collider | null;
}

/** Writes the body's color to `out`. */
export function bodyColor(
  options: ColorOptions,
  frame: Frame,
  row: number,
  bodyIndex: number,
  body: Body,
  size: Size,
  out: Color,
): void {
  if (body.kind === "environment") out.copy(options.palette.environment);
  else if (options.coloring === "body") out.copy(colorOf(bodyIndex));
  else if (options.coloring === "island") {
    const island = frame.island[row];
    out.copy(island === NO_ISLAND ? options.palette.environment : colorOf(island));
  } else if (options.coloring === "speed") {
    const maxSpeed = options.maxSpeed || 1;
    scaleColor(length(frame.velocity, row) / maxSpeed, out);
  } else {
    const speed = length(frame.velocity, row) + length(frame.spin, row) * size.radius;
    const limit = REST_PART * (options.settings?.rest_speed ?? 0);
    out.copy(speed < limit ? AT_REST : MOVING);
  }
}

/** Returns the greatest finite speed of the inertial bodies in a frame, m/s. */
export function maxSpeedIn(frame: Frame, bodies: readonly Body[]): number {
  let maxSpeed = 0;
  for (let row = 0; row < frame.bodyCount; row++) {
    if (bodies[frame.body[row]]?.kind !== "inertial") continue;
    const speed = length(frame.velocity, row);
    if (speed > maxSpeed && speed < Infinity) maxSpeed = speed;
  }
  return maxSpeed;
}
