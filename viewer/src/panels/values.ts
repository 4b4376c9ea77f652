// Number fields: seven digits as text, all digits in the tooltip and in `data-value` for scripts.

import { h, setText } from "./dom";
import { significant } from "./format";

export class NumberView {
  readonly element: HTMLElement;

  constructor(id: string, private readonly digits = 7) {
    this.element = h("span", { id, class: "number" });
  }

  set(value: number): void {
    const exact = String(value);
    if (this.element.dataset.value === exact) return;
    this.element.dataset.value = exact;
    this.element.title = exact;
    setText(this.element, significant(value, this.digits));
  }
}

/** Several numbers in columns under one label, with the ids `id-x`, `id-y` and so on. */
export class VectorView {
  readonly element: HTMLElement;
  private readonly parts: NumberView[];

  constructor(id: string, label: string, unit: string, axes = "xyz", digits = 7) {
    this.parts = [...axes].map((axis) => new NumberView(`${id}-${axis}`, digits));
    const cells = this.parts.map((part, index) =>
      h("span", { class: "component" }, h("span", { class: "axis" }, axes[index]), part.element),
    );
    this.element = h(
      "div",
      { class: "field" },
      h("span", { class: "label" }, label, unit && h("span", { class: "unit" }, ` ${unit}`)),
      h("span", { class: axes.length === 4 ? "vector four" : "vector" }, ...cells),
    );
  }

  set(values: ArrayLike<number>): void {
    this.parts.forEach((part, index) => part.set(values[index]));
  }
}

/** Creates a row with a label, a number and its unit. */
export function scalarRow(label: string, view: NumberView, unit: string, ...more: (Node | string)[]): HTMLElement {
  const value = h("span", { class: "value" }, view.element, unit && h("span", { class: "unit" }, ` ${unit}`), ...more);
  return h("div", { class: "row" }, h("span", { class: "label" }, label), value);
}

export function textRow(label: string, value: HTMLElement): HTMLElement {
  value.classList.add("value");
  return h("div", { class: "row" }, h("span", { class: "label" }, label), value);
}
