// Name labels of bodies, as text over the viewport.

import type { Palette } from "./palette";

/** Number of bodies above which only the selected one is labelled. */
export const MAX_LABELS = 200;


export class Labels {
  readonly root = document.createElement("div");
  private readonly spans: HTMLElement[] = [];
  private palette: Palette | null = null;

  constructor() {
    const { style } = this.root;
    style.position = "absolute";
    style.inset = "0";
    style.overflow = "hidden";
    style.pointerEvents = "none";
    this.root.ariaHidden = "true";
  }

  setPalette(palette: Palette): void {
    this.palette = palette;
    for (const span of this.spans) this.applyPalette(span);
  }

  private applyPalette(span: HTMLElement): void {
    span.style.color = this.palette?.label ?? "";
    span.style.background = this.palette?.labelBackground ?? "";
  }

  private span(index: number): HTMLElement {
    const existing = this.spans[index];
    if (existing) return existing;
    const span = document.createElement("div");
    const { style } = span;
    style.position = "absolute";
    style.left = "0";
    style.top = "0";
    style.padding = "0.05em 0.4em";
    style.borderRadius = "0.5em";
    style.font = "11px system-ui, sans-serif";
    style.whiteSpace = "nowrap";
    style.maxWidth = "16em";
    style.overflow = "hidden";
    style.textOverflow = "ellipsis";
    style.unicodeBidi = "isolate";
    this.applyPalette(span);
    this.root.append(span);
    this.spans.push(span);
    return span;
  }

  /** Sets the text and position of a label, CSS pixels of the viewport. */
  set(index: number, text: string, x: number, y: number): void {
    const span = this.span(index);
    if (span.textContent !== text) span.textContent = text;
    span.style.display = "";
    span.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px) translate(-50%, -50%)`;
  }

  /** Hides the labels from `count` on. */
  end(count: number): void {
    for (let index = count; index < this.spans.length; index++) this.spans[index].style.display = "none";
  }
}
