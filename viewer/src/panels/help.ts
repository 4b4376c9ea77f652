// The help dialog: all keys, gestures, overlays and colors.

import { h } from "./dom";
import type { Shortcut } from "./keyboard";
import { COLORINGS, OVERLAYS } from "./overlays";
import { timelineLegend } from "./timeline";
import type { Ui } from "./ui";

const GESTURES: readonly [string, string][] = [
  ["Drag", "rotate the camera"],
  ["Right-drag, or two fingers", "pan the camera"],
  ["Wheel, or pinch", "zoom"],
  ["Click or tap", "select a body or a contact point"],
  ["Double click, or double tap", "select a body and frame it"],
  ["Click with the throw tool", "throw a box (live)"],
  ["Drag with the pull tool, or Shift-drag", "pull a body with a spring (live)"],
  ["Click or drag on the timeline or a chart", "move to that time"],
];

const EXPORT =
  "The buttons below the overlays save the view as a picture (PNG), and the steps in the two fields, or all steps, as a video (WebM) at the selected speed. Of a live run, the steps must still be in memory. A browser that cannot encode videos saves pictures in a zip archive.";

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
        // A click on the backdrop targets the dialog itself; any other click targets an element inside it.
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
        table("Keys", shortcuts.map((shortcut) => [shortcut.label, shortcut.description]), true),
        table("Mouse and touch", GESTURES),
        table("Overlays", OVERLAYS.map(({ name, description }) => [name, description])),
        table("Colors", COLORINGS.map(({ name, description }) => [name, description])),
        h("section", {}, h("h3", {}, "Export"), h("p", {}, EXPORT)),
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

function table(title: string, rows: readonly (readonly [string, string])[], keys = false): HTMLElement {
  const list = h("dl", { class: keys ? "keys" : "" });
  for (const [term, description] of rows) {
    list.append(h("dt", {}, ...(keys ? term.split(" ").map((key) => h("kbd", {}, key)) : [term])), h("dd", {}, description));
  }
  return h("section", {}, h("h3", {}, title), list);
}
