// Name labels of bodies, as text over the viewport.

import type { Model } from "../model";
import type { Frame } from "../protocol";
import type { Palette } from "./palette";
import type { Projection } from "./pick";

/** Number of bodies above which only the selected one is labelled. */
export const MAX_LABELS = 200;

/** The text of a label, and its position in the viewport as a fraction of its width and height. */
export interface PlacedLabel {
  text: string;
  x: number;
  y: number;
}

export class Labels {
  readonly root = document.createElement("div");
  /** The labels on display. */
  placed: PlacedLabel[] = [];
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

  /** Places the names of the bodies, if they are shown, at their centers. */
  place(frame: Frame | null, model: Model, projection: Projection, isGround: (body: number) => boolean): void {
    this.placed = [];
    if (frame && model.overlays.value.names) {
      const { left, top, width, height } = projection.measure();
      const all = frame.bodyCount <= MAX_LABELS;
      const selected = model.selectedBody();
      for (let row = 0; row < frame.bodyCount; row++) {
        const body = frame.body[row];
        if ((!all && body !== selected) || isGround(body)) continue;
        const { position: p } = frame;
        const screen = projection.project(p[3 * row], p[3 * row + 1], p[3 * row + 2]);
        if (!screen) continue;
        const [x, y] = [screen.x - left, screen.y - top];
        this.set(this.placed.length, model.nameOf(body), x, y);
        this.placed.push({ text: model.nameOf(body), x: x / width, y: y / height });
      }
    }
    this.hideFrom(this.placed.length);
  }

  /** Sets the text and position of a label, CSS pixels of the viewport. */
  private set(index: number, text: string, x: number, y: number): void {
    const span = this.span(index);
    if (span.textContent !== text) span.textContent = text;
    span.style.display = "";
    span.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px) translate(-50%, -50%)`;
  }

  private hideFrom(count: number): void {
    for (let index = count; index < this.spans.length; index++) this.spans[index].style.display = "none";
  }
}
