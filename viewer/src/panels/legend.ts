// What lengths and colours in the picture mean, in a corner of it.

import type { Viewport } from "../viewport/viewport";
import { h, setText } from "./dom";
import { significant } from "./format";

export function createLegend(viewport: Viewport): HTMLElement {
  const list = h("ul", { id: "legend", "aria-label": "Scale of the picture" });
  viewport.legend.watch((lines) => {
    while (list.children.length < lines.length) list.append(h("li", {}));
    while (list.children.length > lines.length) list.lastElementChild?.remove();
    lines.forEach(({ what, value, unit }, index) => {
      setText(list.children[index], `${what} ${significant(value, 3)} ${unit}`);
    });
  });
  viewport.host.append(list);
  return list;
}
