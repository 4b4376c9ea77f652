// Messages to the user: notices, the state of the connection, and the hint of the active tool.

import type { Model, Tool } from "../model";
import { h, setText } from "./dom";

const SHOWN_MS = 6000;

export function createNotice(model: Model): HTMLElement {
  const text = h("span", {});
  const box = h("div", { class: "notice", hidden: true }, text);
  // The region is always in the document: screen readers announce changes only in existing regions.
  const region = h("div", { id: "notice", class: "notices", role: "status", "aria-live": "polite" }, box);
  let timer = 0;
  model.notice.watch((notice) => {
    clearTimeout(timer);
    // A problem of the run is shown with the checks; as a notice it would reappear with every status.
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
    { type: "button", id: "reload", class: "button", title: "Reload this page", on: { click: () => location.reload() } },
    "Reload",
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
      return once ? "Connection lost. Reconnecting…" : "Connecting…";
    case "lost":
      return "Connection lost. Check that msd is still running; if you restarted it, open the new address it printed.";
  }
}

const TOOL_HINTS: Record<Exclude<Tool, "orbit">, string> = {
  throw: "Click or tap the scene to throw a box.",
  pull: "Drag a body to pull it.",
};

/** Creates the hint shown while a tool other than orbit is active. */
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
