// The list of events (marks). A click on one moves to its step and selects its bodies.

import type { Model } from "../model";
import type { Player } from "../player";
import type { Mark } from "../protocol";
import { h, section, setPressed, setText, throttled } from "./dom";
import { seconds } from "./format";
import { goToMark, MARK_KINDS, MARK_STYLE } from "./marks";
import { markCounts } from "./timeline";
import { WindowedList } from "./windowed";

export function createEvents(model: Model, player: Player): HTMLElement {
  const kinds = new Set<Mark["kind"]>(MARK_KINDS);
  let shown: Mark[] = [];
  /** The mark selected last: several may share one step. */
  let last: Mark | null = null;
  const list = new WindowedList({
    id: "events",
    label: "Events",
    fill: (element, row) => fillRow(element, shown[row]),
    select: (row) => {
      last = shown[row];
      goToMark(model, player, last);
    },
    selected: () => {
      const step = model.cursor.value;
      const row = last?.step === step ? shown.indexOf(last) : -1;
      return row >= 0 ? row : shown.findIndex((mark) => mark.step === step);
    },
  });
  const count = h("p", { id: "event-count", class: "dim", role: "status" });
  const filter = () => {
    shown = model.marks.value.filter((mark) => kinds.has(mark.kind));
    list.setCount(shown.length);
    setText(count, markCounts(model.marks.value));
  };
  const buttons = MARK_KINDS.map((kind) => {
    const { glyph, many } = MARK_STYLE[kind];
    const button = h(
      "button",
      { type: "button", id: `show-${kind}`, class: `button mark-${kind}`, title: `Show or hide ${many}`, on: { click: () => change() } },
      h("span", { class: "glyph", "aria-hidden": "true" }, glyph),
      many,
    );
    const change = () => {
      if (!kinds.delete(kind)) kinds.add(kind);
      setPressed(button, kinds.has(kind));
      filter();
    };
    setPressed(button, true);
    return button;
  });
  model.marks.watch(throttled(200, filter));
  model.cursor.watch(throttled(100, () => list.refresh()));
  return section(
    "events-section", "Events", "events", false,
    h("div", { class: "chips" }, ...buttons),
    list.root,
    count,
  );
}

function fillRow(element: HTMLElement, mark: Mark): void {
  if (element.childElementCount === 0) {
    element.append(h("span", { class: "glyph" }), h("span", { class: "when" }), h("span", { class: "name" }));
  }
  const [glyph, when, text] = element.children;
  const style = MARK_STYLE[mark.kind];
  glyph.className = `glyph mark-${mark.kind}`;
  setText(glyph, style.glyph);
  glyph.setAttribute("aria-label", style.word);
  setText(when, seconds(mark.time));
  setText(text, mark.text);
  element.title = `${style.word} at step ${mark.step}: ${mark.text}`;
}
