// What is drawn besides the bodies, and what their colours tell.

import type { Colouring, Model, Overlays } from "../model";
import { MOST_LABELS } from "../stage/labels";
import type { Stage } from "../stage/stage";
import { h, section, textButton } from "./dom";

interface OverlayText {
  key: keyof Overlays;
  name: string;
  means: string;
}

/** In the order of the keys 1 to 8. */
export const OVERLAYS: readonly OverlayText[] = [
  { key: "contacts", name: "Contact points", means: "where two bodies touch, midway between their surfaces." },
  { key: "normals", name: "Contact normals", means: "the direction in which two bodies push each other apart, as long as their impulse." },
  { key: "cones", name: "Friction cones", means: "the forces that friction allows; where surfaces slide, the force is on the cone's edge." },
  { key: "forces", name: "Weight and contact forces", means: "on each body, by the scene's uniform gravity and all its contacts; joints, force fields and hands push it besides." },
  { key: "velocities", name: "Velocities", means: "how fast and where to a body's centre of mass moves." },
  { key: "bounds", name: "Bounding boxes", means: "the boxes along the axes that enclose each body." },
  { key: "names", name: "Names", means: "the name of each body at its centre of mass." },
  { key: "joints", name: "Joints", means: "lines from the bodies to where a joint holds them." },
];

export const COLOURINGS: readonly { value: Colouring; name: string; means: string }[] = [
  { value: "body", name: "by body", means: "each body has a colour of its own." },
  { value: "island", name: "by island", means: "bodies that hang together by contacts or joints share a colour." },
  { value: "speed", name: "by speed", means: "from slow to fast." },
  { value: "rest", name: "moving or at rest", means: "bodies that move stand out from those at rest." },
];

function tellOfTooMany(model: Model): void {
  model.overlays.watch(({ names }) => {
    if (names && model.bodies.value.length > MOST_LABELS) {
      model.notice.value = `Of more than ${MOST_LABELS} bodies only the selected one is named.`;
    }
  });
}

export function createOverlays(model: Model, stage: Stage): HTMLElement {
  const switches = OVERLAYS.map(({ key, name, means }, place) => {
    const box = h("input", {
      type: "checkbox",
      role: "switch",
      id: `overlay-${key}`,
      on: { change: () => (model.overlays.value = { ...model.overlays.value, [key]: box.checked }) },
    });
    model.overlays.watch((overlays) => (box.checked = overlays[key]));
    if (key === "names") tellOfTooMany(model);
    return h(
      "label",
      { class: "switch", title: `${name}: ${means} (${place + 1})` },
      box,
      h("span", {}, name),
      h("kbd", { "aria-hidden": "true" }, String(place + 1)),
    );
  });
  const select = h(
    "select",
    { id: "colouring", on: { change: () => (model.colouring.value = select.value as Colouring) } },
    ...COLOURINGS.map(({ value, name }) => h("option", { value }, name)),
  );
  model.colouring.watch((value) => (select.value = value));
  return section(
    "view-options", "View", "view", true,
    h("label", { class: "row" }, h("span", { class: "label" }, "Colours"), select),
    h("div", { class: "switches" }, ...switches),
    textButton("frame-all", "Frame the whole scene", "Show the whole scene from its usual side (F)", () => stage.resetCamera()),
  );
}
