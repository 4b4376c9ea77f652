// Which colour a body has.

import { Color } from "three";
import type { Colouring } from "../model";
import { type Body, type Frame, NO_ISLAND, type Settings } from "../protocol";
import type { Size } from "./bounds";
import { AT_REST, colourOf, type Look, MOVING, scaleColour } from "./palette";

/** Below this part of the speed of rest a body is seen as being at rest. */
const REST_PART = 0.01;

function length(list: Float64Array, place: number): number {
  return Math.hypot(list[3 * place], list[3 * place + 1], list[3 * place + 2]);
}

/** What colours depend on besides the body. */
export interface Paint {
  colouring: Colouring;
  look: Look;
  settings: Settings | null;
  /** The greatest speed of the scene up to now. */
  greatest: number;
  selected: number | null;
}

/** Puts the body's colour into `out`. */
export function paint(
  paint: Paint,
  frame: Frame,
  place: number,
  number: number,
  body: Body,
  size: Size,
  out: Color,
): void {
  if (body.kind === "environment") out.copy(paint.look.still);
  else if (paint.colouring === "body") out.copy(colourOf(number));
  else if (paint.colouring === "island") {
    const island = frame.island[place];
    out.copy(island === NO_ISLAND ? paint.look.still : colourOf(island));
  } else if (paint.colouring === "speed") {
    const greatest = paint.greatest || 1;
    scaleColour(length(frame.velocity, place) / greatest, out);
  } else {
    const speed = length(frame.velocity, place) + length(frame.spin, place) * size.radius;
    const limit = REST_PART * (paint.settings?.rest_speed ?? 0);
    out.copy(speed < limit ? AT_REST : MOVING);
  }
  if (paint.selected === number) out.lerp(paint.look.accent, 0.6);
}

/** The greatest speed in a frame of bodies that move by themselves. */
export function greatestSpeed(frame: Frame, bodies: readonly Body[]): number {
  let greatest = 0;
  for (let place = 0; place < frame.bodyCount; place++) {
    if (bodies[frame.body[place]]?.kind !== "inertial") continue;
    const speed = length(frame.velocity, place);
    if (speed > greatest && speed < Infinity) greatest = speed;
  }
  return greatest;
}
