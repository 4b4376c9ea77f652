// The legend in a corner of the viewport: the scale of lengths and colors.

import type { Viewport } from "../viewport/viewport";
import { h, setText } from "./dom";
import { significant } from "./format";

export function createLegend(viewport: Viewport): HTMLElement {
  const list = h("ul", { id: "legend", "aria-label": "Scale of the 3D view" });
  viewport.legend.watch((lines) => {
    while (list.children.length < lines.length) list.append(h("li", {}));
    while (list.children.length > lines.length) list.lastElementChild?.remove();
    lines.forEach(({ label, value, unit }, index) => {
      setText(list.children[index], `${label} ${significant(value, 3)} ${unit}`);
    });
  });
  viewport.host.append(list);
  return list;
}
