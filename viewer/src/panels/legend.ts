// The legend in a corner of the viewport: the scale of lengths and colors.

import { legendText } from "../viewport/picture";
import type { Viewport } from "../viewport/viewport";
import { h, setText } from "./dom";

export function createLegend(viewport: Viewport): HTMLElement {
  const list = h("ul", { id: "legend", "aria-label": "Scale of the 3D view" });
  viewport.legend.watch((lines) => {
    while (list.children.length < lines.length) list.append(h("li", {}));
    while (list.children.length > lines.length) list.lastElementChild?.remove();
    lines.forEach((line, index) => setText(list.children[index], legendText(line)));
  });
  viewport.host.append(list);
  return list;
}
