// All keys, gestures and overlays in one place.

import { h } from "./dom";
import type { Shortcut } from "./keyboard";
import { COLOURINGS, OVERLAYS } from "./overlays";
import { timelineLegend } from "./timeline";
import type { Ui } from "./ui";

const GESTURES: readonly [string, string][] = [
  ["Drag", "turn the camera"],
  ["Right drag, or two fingers", "move the camera"],
  ["Wheel, or pinch", "nearer or farther"],
  ["Click or tap", "select a body or a contact point"],
  ["Click with the throw tool", "throw a box (live)"],
  ["Drag with the pull tool, or Shift drag", "pull a body by a spring (live)"],
  ["Click or drag on the timeline or a chart", "go to that time"],
];

export function createHelp(ui: Ui, shortcuts: readonly Shortcut[]): HTMLElement {
  const close = h(
    "button",
    { type: "button", id: "help-close", class: "button", title: "Close (Escape)", on: { click: () => dialog.close() } },
    "Close",
  );
  const dialog = h(
    "dialog",
    {
      id: "help",
      "aria-labelledby": "help-title",
      on: {
        close: () => (ui.help.value = false),
        // Only the backdrop is the dialog itself; all else is inside of it.
        click: (event) => event.target === dialog && dialog.close(),
      },
    },
    h(
      "div",
      { class: "help-inside" },
      h("div", { class: "help-head" }, h("h2", { id: "help-title" }, "Help"), close),
      h(
        "div",
        { class: "help-columns" },
        part("Keys", shortcuts.map((shortcut) => [shortcut.label, shortcut.description]), true),
        part("Mouse and touch", GESTURES),
        part("Overlays", OVERLAYS.map(({ name, description }) => [name, description])),
        part("Colours", COLOURINGS.map(({ name, description }) => [name, description])),
        h("section", {}, h("h3", {}, "Timeline"), h("p", {}, timelineLegend())),
      ),
    ),
  );
  ui.help.watch((open) => {
    if (open && !dialog.open) dialog.showModal();
    else if (!open && dialog.open) dialog.close();
  });
  return dialog;
}

function part(title: string, rows: readonly (readonly [string, string])[], keys = false): HTMLElement {
  const list = h("dl", { class: keys ? "keys" : "" });
  for (const [what, description] of rows) {
    list.append(h("dt", {}, ...(keys ? what.split(" ").map((key) => h("kbd", {}, key)) : [what])), h("dd", {}, description));
  }
  return h("section", {}, h("h3", {}, title), list);
}
