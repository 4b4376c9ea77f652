// What lengths and colours in the picture mean, in a corner of it.

import type { Stage } from "../stage/stage";
import { h, setText } from "./dom";
import { significant } from "./format";

export function createLegend(stage: Stage): HTMLElement {
  const list = h("ul", { id: "legend", "aria-label": "Scale of the picture" });
  stage.legend.watch((lines) => {
    while (list.children.length < lines.length) list.append(h("li", {}));
    while (list.children.length > lines.length) list.lastElementChild?.remove();
    lines.forEach(({ what, value, unit }, place) => {
      setText(list.children[place], `${what} ${significant(value, 3)} ${unit}`);
    });
  });
  stage.host.append(list);
  return list;
}
