// Sentences for the user: short notices, a lost connection, and the tool in hand.

import type { Model, Tool } from "../model";
import { h, setText } from "./dom";

const SHOWN_MS = 6000;

export function createNotice(model: Model): HTMLElement {
  const text = h("span", {});
  const box = h("div", { class: "notice", hidden: true }, text);
  // The region itself is always there: a reader only tells of changes in regions it knows.
  const region = h("div", { id: "notice", class: "notices", role: "status", "aria-live": "polite" }, box);
  let timer = 0;
  model.notice.watch((notice) => {
    clearTimeout(timer);
    // A problem of the run stays in sight with the checks; it would come again with every status.
    const shown = notice !== "" && notice !== model.status.value?.problem;
    setText(text, shown ? notice : "");
    box.hidden = !shown;
    if (notice) timer = window.setTimeout(() => (model.notice.value = ""), SHOWN_MS);
  });
  return region;
}

export function createConnectionBanner(model: Model): HTMLElement {
  const text = h("span", {});
  const again = h(
    "button",
    { type: "button", id: "reload", class: "button", title: "Load this page again", on: { click: () => location.reload() } },
    "Load again",
  );
  const banner = h("div", { id: "connection", class: "banner", role: "alert", hidden: true }, text, again);
  let once = false;
  model.connection.watch((state) => {
    once ||= state === "open";
    banner.hidden = state === "open";
    banner.dataset.state = state;
    again.hidden = state === "connecting";
    setText(text, connectionText(state, once));
  });
  return banner;
}

function connectionText(state: Model["connection"]["value"], once: boolean): string {
  switch (state) {
    case "open":
      return "";
    case "connecting":
      return once ? "The connection broke. Trying again…" : "Connecting…";
    case "lost":
      return "The connection is lost. Is msd still running? If it was started again, open the address it printed.";
  }
}

const TOOL_HINTS: Record<Exclude<Tool, "orbit">, string> = {
  throw: "Tap or click the scene to throw a box.",
  pull: "Drag a body to pull it.",
};

/** Says what a click does when it does not just select. */
export function createToolHint(model: Model): HTMLElement {
  const text = h("span", {});
  const hint = h(
    "div",
    { id: "tool-hint", class: "hint", hidden: true },
    text,
    h(
      "button",
      { type: "button", class: "link", title: "Back to the orbit tool (O)", on: { click: () => (model.tool.value = "orbit") } },
      "Done",
    ),
  );
  model.tool.watch((tool) => {
    hint.hidden = tool === "orbit";
    setText(text, tool === "orbit" ? "" : TOOL_HINTS[tool]);
  });
  return hint;
}
