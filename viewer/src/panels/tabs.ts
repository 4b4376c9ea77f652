// The tabs on a phone: each opens a sheet below the scene.

import type { Model } from "../model";
import { h, setPressed } from "./dom";
import type { Sheet, Ui } from "./ui";

const TABS: readonly { sheet: Sheet; name: string }[] = [
  { sheet: "bodies", name: "Bodies" },
  { sheet: "view", name: "View" },
  { sheet: "inspect", name: "Inspect" },
  { sheet: "live", name: "Live" },
  { sheet: "events", name: "Events" },
  { sheet: "checks", name: "Checks" },
  { sheet: "charts", name: "Charts" },
];

export function createTabs(model: Model, ui: Ui): HTMLElement {
  const tabs = TABS.map(({ sheet, name }) => {
    const tab = h("button", { type: "button", id: `tab-${sheet}`, title: name, on: { click: () => ui.toggleSheet(sheet) } }, name);
    ui.sheet.watch((open) => {
      setPressed(tab, open === sheet);
      tab.setAttribute("aria-expanded", String(open === sheet));
    });
    if (sheet === "live") model.hello.watch((hello) => (tab.hidden = hello?.mode !== "live"));
    if (sheet === "inspect") model.selection.watch((selection) => tab.classList.toggle("dotted", selection !== null));
    return tab;
  });
  ui.sheet.watch((sheet) => {
    // Expand the sections of the tab.
    for (const part of document.querySelectorAll<HTMLDetailsElement>(`details[data-tab="${sheet}"]`)) part.open = true;
    for (const side of document.querySelectorAll(".side")) side.scrollTop = 0;
  });
  // On a narrow page, open the explanation of a tapped contact at once: nothing else would show the selection.
  model.selection.watch((selection) => {
    if (selection?.kind === "contact" && ui.narrow.value) ui.sheet.value = "inspect";
  });
  return h("nav", { id: "tabs", "aria-label": "Panels" }, ...tabs);
}
