// The appearance of marks, the same on the timeline and in the list: each kind has its own color and shape.

import type { Model } from "../model";
import type { Mark } from "../protocol";
import type { Player } from "../player";

export const MARK_KINDS: readonly Mark["kind"][] = ["hit", "warning", "sensor", "quarantined"];

export const MARK_STYLE: Record<Mark["kind"], { glyph: string; word: string; many: string; color: string }> = {
  hit: { glyph: "◆", word: "hit", many: "hits", color: "--hit" },
  warning: { glyph: "▲", word: "warning", many: "warnings", color: "--warn" },
  sensor: { glyph: "●", word: "sensor event", many: "sensor events", color: "--sensor" },
  quarantined: { glyph: "■", word: "quarantined", many: "quarantined bodies", color: "--bad" },
};

/** Draws a mark's shape centerd on a point. */
export function drawMark(context: CanvasRenderingContext2D, kind: Mark["kind"], x: number, y: number, size: number): void {
  context.beginPath();
  if (kind === "hit") {
    context.moveTo(x, y - size);
    context.lineTo(x + size, y);
    context.lineTo(x, y + size);
    context.lineTo(x - size, y);
  } else if (kind === "warning") {
    context.moveTo(x, y - size);
    context.lineTo(x + size, y + size * 0.8);
    context.lineTo(x - size, y + size * 0.8);
  } else if (kind === "sensor") {
    context.arc(x, y, size * 0.8, 0, 2 * Math.PI);
  } else {
    context.rect(x - size * 0.8, y - size * 0.8, size * 1.6, size * 1.6);
  }
  context.closePath();
  context.fill();
}

let stopWaiting = () => {};

/** Moves to a mark and selects the contact of its bodies, or the first body if they do not touch there. */
export function goToMark(model: Model, player: Player, mark: Mark): void {
  stopWaiting();
  model.playing.value = false;
  player.seek(mark.step);
  const [first, second] = mark.bodies;
  if (first === undefined) return;
  model.selection.value = { kind: "body", body: first };
  if (second === undefined) return;
  const selectContact = () => {
    const frame = model.frame.value;
    if (frame?.step !== mark.step) return;
    stopWaiting();
    for (let pair = 0; pair < frame.pairCount; pair++) {
      const [a, b] = [frame.pairA[pair], frame.pairB[pair]];
      const colliders: [number, number] = [frame.pairColliderA[pair], frame.pairColliderB[pair]];
      const inOrder = a === first && b === second;
      if (!inOrder && !(a === second && b === first)) continue;
      const [one, other] = inOrder ? colliders : [colliders[1], colliders[0]];
      if (mark.colliders.length === 2 && (one !== mark.colliders[0] || other !== mark.colliders[1])) continue;
      model.selection.value = { kind: "contact", a, b, colliders, point: 0 };
      return;
    }
  };
  // The step's frame may not have arrived yet. If the user selects something else meanwhile, stop waiting.
  const stops = [model.frame.watch(() => queueMicrotask(selectContact))];
  const selection = model.selection.value;
  stops.push(model.selection.watch((now) => now !== selection && stopWaiting()));
  stopWaiting = () => stops.splice(0).forEach((stop) => stop());
}
