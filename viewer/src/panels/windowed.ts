// A virtualized list: only visible rows have elements, so ten thousand bodies cost no more than twenty.

import { h, oncePerAnimationFrame } from "./dom";

export interface RowSource {
  id: string;
  label: string;
  /** Fills an element with a row; the element may have shown another row before. */
  fill: (element: HTMLElement, row: number) => void;
  /** Called when the user selects a row. */
  select: (row: number) => void;
  /** Returns the selected row, or -1. */
  selected: () => number;
}

/** Rows rendered beyond each end of the visible range. */
const OVERSCAN = 3;

export class WindowedList {
  readonly root: HTMLElement;
  private readonly inner = h("div", { class: "rows", role: "presentation" });
  private readonly pool: HTMLElement[] = [];
  private count = 0;
  private rowHeight = 28;
  readonly refresh = oncePerAnimationFrame(() => this.draw());

  constructor(private readonly source: RowSource) {
    this.root = h(
      "div",
      {
        id: source.id,
        class: "windowed",
        role: "listbox",
        tabindex: 0,
        "aria-label": source.label,
        on: { scroll: () => this.refresh(), keydown: (event) => this.key(event), click: (event) => this.click(event) },
      },
      this.inner,
    );
    new ResizeObserver(() => {
      this.rowHeight = parseFloat(getComputedStyle(this.root).getPropertyValue("--row")) || 28;
      this.setCount(this.count);
      this.reveal(this.source.selected());
    }).observe(this.root);
  }

  setCount(count: number): void {
    this.count = count;
    this.inner.style.height = `${count * this.rowHeight}px`;
    this.refresh();
  }

  /** Scrolls just far enough to show a row. */
  reveal(row: number): void {
    if (row < 0) return;
    const top = row * this.rowHeight;
    const { scrollTop, clientHeight } = this.root;
    if (top < scrollTop) this.root.scrollTop = top;
    else if (top + this.rowHeight > scrollTop + clientHeight) this.root.scrollTop = top + this.rowHeight - clientHeight;
    this.refresh();
  }

  private draw(): void {
    const { scrollTop, clientHeight } = this.root;
    if (clientHeight === 0) return;
    const first = Math.max(0, Math.floor(scrollTop / this.rowHeight) - OVERSCAN);
    const end = Math.min(this.count, Math.ceil((scrollTop + clientHeight) / this.rowHeight) + OVERSCAN);
    const selected = this.source.selected();
    while (this.pool.length < end - first) this.pool.push(this.inner.appendChild(this.newRow()));
    this.pool.forEach((element, index) => {
      const row = first + index;
      element.hidden = row >= end;
      if (element.hidden) return;
      element.dataset.row = String(row);
      element.style.transform = `translateY(${row * this.rowHeight}px)`;
      element.setAttribute("aria-posinset", String(row + 1));
      element.setAttribute("aria-setsize", String(this.count));
      element.setAttribute("aria-selected", String(row === selected));
      this.source.fill(element, row);
    });
    const active = this.pool.find((element) => !element.hidden && element.dataset.row === String(selected));
    if (active) this.root.setAttribute("aria-activedescendant", active.id);
    else this.root.removeAttribute("aria-activedescendant");
  }

  private newRow(): HTMLElement {
    return h("div", { id: `${this.source.id}-${this.pool.length}`, class: "list-row", role: "option" });
  }

  private click(event: MouseEvent): void {
    const element = (event.target as Element).closest<HTMLElement>(".list-row");
    if (element) this.source.select(Number(element.dataset.row));
  }

  private key(event: KeyboardEvent): void {
    const page = Math.max(1, Math.floor(this.root.clientHeight / this.rowHeight) - 1);
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    const by = steps[event.key];
    if (by === undefined || this.count === 0) return;
    event.preventDefault();
    event.stopPropagation();
    const row = Math.min(Math.max(this.source.selected() + by, 0), this.count - 1);
    this.source.select(row);
    this.reveal(row);
  }
}
