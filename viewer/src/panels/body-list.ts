// The list of all bodies, with search.

import type { Model } from "../model";
import { h, section, setIcon, setText } from "./dom";
import { plural } from "./format";
import { WindowedList } from "./windowed";

export function createBodyList(model: Model): HTMLElement {
  /** Indices of the bodies that match the search. */
  let shown: number[] = [];
  const list = new WindowedList({
    id: "bodies",
    label: "Bodies",
    fill: (element, row) => fillRow(model, element, shown[row]),
    select: (row) => (model.selection.value = { kind: "body", body: shown[row] }),
    selected: () => indexIn(shown, model.selectedBody()),
  });
  const count = h("p", { id: "body-count", class: "dim", role: "status" });
  const search = h("input", {
    id: "body-search",
    type: "search",
    placeholder: "Name or index",
    title: "Search bodies by name or index (B)",
    "aria-label": "Search bodies by name or index",
    autocomplete: "off",
    spellcheck: "false",
    on: {
      input: () => filter(),
      keydown: (event) => {
        if (event.key === "Enter" && shown.length > 0) model.selection.value = { kind: "body", body: shown[0] };
      },
    },
  });
  const filter = () => {
    shown = matching(model, search.value);
    list.setCount(shown.length);
    const all = model.bodies.value.length;
    setText(count, shown.length === all ? plural(all, "body", "bodies") : `${shown.length} of ${plural(all, "body", "bodies")}`);
  };
  model.bodies.watch(filter);
  model.selection.watch(() => {
    list.reveal(indexIn(shown, model.selectedBody()));
    list.refresh();
  });
  return section("body-list", "Bodies", "bodies", true, search, list.root, count);
}

/** Returns the position of a body in an ascending list of indices, or -1; immediate for an unfiltered list. */
function indexIn(list: readonly number[], body: number | null): number {
  if (body === null) return -1;
  if (list[body] === body) return body;
  return list.indexOf(body);
}

function matching(model: Model, text: string): number[] {
  const query = text.trim().toLowerCase();
  const all = model.bodies.value;
  const found: number[] = [];
  const index = query.replace(/^#/, "");
  for (let body = 0; body < all.length; body++) {
    const matches =
      query === "" || String(body) === index || model.nameOf(body).toLowerCase().includes(query);
    if (matches) found.push(body);
  }
  return found;
}

function fillRow(model: Model, element: HTMLElement, body: number): void {
  if (element.childElementCount === 0) {
    element.append(h("span", { class: "glyph", "aria-hidden": "true" }), h("span", { class: "name" }), h("span", { class: "dim" }));
  }
  const info = model.bodies.value[body];
  const [glyph, name, index] = element.children;
  const colliders = info?.colliders ?? [];
  setIcon(glyph as HTMLElement, colliders.length === 1 ? colliders[0].shape.type : "compound");
  setText(name, model.nameOf(body));
  setText(index, String(body));
  element.title = model.nameOf(body);
  element.classList.toggle("environment", info?.kind === "environment");
}
