// The controls for overlays and colors.

import type { Coloring, Model, Overlays } from "../model";
import { MAX_LABELS } from "../viewport/labels";
import type { Viewport } from "../viewport/viewport";
import { h, section, textButton } from "./dom";

interface OverlayText {
  key: keyof Overlays;
  name: string;
  description: string;
}

/** In the order of the keys 1 to 9. */
export const OVERLAYS: readonly OverlayText[] = [
  { key: "contacts", name: "Contact points", description: "points where two bodies touch, midway between their surfaces." },
  { key: "normals", name: "Contact normals", description: "arrows along the contact normals; their length is the normal impulse." },
  { key: "cones", name: "Friction cones", description: "the contact forces that Coulomb's law allows; where surfaces slide, the force is on the cone's surface." },
  { key: "forces", name: "Weights and forces", description: "weight in uniform gravity (violet), the sum of all contact forces on each body (green), and the force of each joint at its anchor (pink); force fields and pulls are not included." },
  { key: "velocities", name: "Velocities", description: "velocity of each body's center of mass." },
  { key: "bounds", name: "Bounding boxes", description: "axis-aligned bounding box of each body." },
  { key: "names", name: "Names", description: "the name of each body at its center of mass." },
  { key: "joints", name: "Joints", description: "the anchors of each joint, and lines between anchors that are apart; rods, ropes and springs are always drawn as lines." },
  { key: "trail", name: "Trail", description: "the way of the selected body's center up to the step on display; of a live run, as far back as frames are kept." },
];

export const COLORINGS: readonly { value: Coloring; name: string; description: string }[] = [
  { value: "body", name: "by body", description: "each body has its own color." },
  { value: "island", name: "by island", description: "bodies connected by contacts or joints share a color." },
  { value: "speed", name: "by speed", description: "from blue (slow) to orange (fast)." },
  { value: "rest", name: "moving or at rest", description: "orange for moving bodies, blue for those at rest." },
];

function warnIfTooManyNames(model: Model): void {
  model.overlays.watch(({ names }) => {
    if (names && model.bodies.value.length > MAX_LABELS) {
      model.notice.value = `With more than ${MAX_LABELS} bodies, only the selected one is labelled.`;
    }
  });
}

export function createOverlays(model: Model, viewport: Viewport): HTMLElement {
  const switches = OVERLAYS.map(({ key, name, description }, index) => {
    const box = h("input", {
      type: "checkbox",
      role: "switch",
      id: `overlay-${key}`,
      on: { change: () => (model.overlays.value = { ...model.overlays.value, [key]: box.checked }) },
    });
    model.overlays.watch((overlays) => (box.checked = overlays[key]));
    if (key === "names") warnIfTooManyNames(model);
    return h(
      "label",
      { class: "switch", title: `${name}: ${description} (${index + 1})` },
      box,
      h("span", {}, name),
      h("kbd", { "aria-hidden": "true" }, String(index + 1)),
    );
  });
  const select = h(
    "select",
    { id: "coloring", on: { change: () => (model.coloring.value = select.value as Coloring) } },
    ...COLORINGS.map(({ value, name }) => h("option", { value }, name)),
  );
  model.coloring.watch((value) => (select.value = value));
  return section(
    "view-options", "View", "view", true,
    h("label", { class: "row" }, h("span", { class: "label" }, "Colors"), select),
    h("div", { class: "switches" }, ...switches),
    textButton("frame-all", "Frame the whole scene", "Show the whole scene from the default direction (F)", () => viewport.resetCamera()),
  );
}
