// The timeline: a slider over the steps of the run that shows contact activity, marks and the cursor.

import type { Model } from "../model";
import type { Player } from "../player";
import type { Mark } from "../protocol";
import { countUpTo, timeOfStep } from "./step-time";
import { h, oncePerAnimationFrame, setText, throttled } from "./dom";
import { plural, seconds } from "./format";
import { drawMark, MARK_KINDS, MARK_STYLE } from "./marks";

/** Margin at both ends, so that marks there are not clipped, CSS pixels. */
const MARGIN = 10;
/** Distance of the pointer within which the tooltip lists a mark, CSS pixels. */
const NEAR = 6;
const MARK_SIZE = 4.5;

export class Timeline {
  readonly element: HTMLElement;
  private readonly canvas = h("canvas", { class: "timeline-canvas", "aria-hidden": "true" });
  private readonly cursor = h("div", { class: "timeline-cursor" });
  private readonly tip = h("div", { id: "timeline-tip", class: "tip", hidden: true });
  private width = 0;
  private height = 0;
  private readonly draw = throttled(100, () => this.paint());
  private readonly move = oncePerAnimationFrame(() => this.moveCursor());

  constructor(
    private readonly model: Model,
    private readonly player: Player,
  ) {
    this.element = h(
      "div",
      {
        id: "timeline",
        class: "timeline",
        role: "slider",
        tabindex: 0,
        "aria-label": "Timeline, by step",
        "aria-orientation": "horizontal",
        on: {
          pointerdown: (event) => this.press(event),
          pointermove: (event) => this.hover(event),
          pointerleave: () => (this.tip.hidden = true),
          keydown: (event) => this.key(event),
        },
      },
      this.canvas,
      this.cursor,
      this.tip,
    );
    new ResizeObserver(() => this.resize()).observe(this.element);
    model.status.watch(() => {
      this.draw();
      this.move();
    });
    for (const signal of [model.series, model.marks, model.theme]) signal.watch(() => this.draw());
    model.cursor.watch(() => this.move());
    model.atEnd.watch(() => this.move());
  }

  private range(): [number, number] {
    const status = this.model.status.value;
    return status ? [status.first_step, status.last_step] : [0, 0];
  }

  private xOf(step: number): number {
    const [first, last] = this.range();
    const part = last > first ? (step - first) / (last - first) : 0;
    return MARGIN + part * (this.width - 2 * MARGIN);
  }

  private stepAt(x: number): number {
    const [first, last] = this.range();
    const part = (x - MARGIN) / Math.max(1, this.width - 2 * MARGIN);
    return Math.round(first + Math.min(Math.max(part, 0), 1) * (last - first));
  }

  private resize(): void {
    this.width = this.element.clientWidth;
    this.height = this.element.clientHeight;
    this.draw();
    this.move();
  }

  private moveCursor(): void {
    const step = this.model.cursor.value;
    const [first, last] = this.range();
    const shown = Math.min(Math.max(step, first), last);
    this.cursor.style.transform = `translateX(${this.xOf(shown)}px)`;
    this.element.setAttribute("aria-valuemin", String(first));
    this.element.setAttribute("aria-valuemax", String(last));
    this.element.setAttribute("aria-valuenow", String(shown));
    this.element.setAttribute("aria-valuetext", `step ${shown}, ${seconds(timeOfStep(this.model, shown))}`);
  }

  private paint(): void {
    const { canvas, width, height } = this;
    if (width === 0 || height === 0) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d");
    if (!context) return;
    context.scale(ratio, ratio);
    const style = getComputedStyle(this.element);
    const color = (name: string) => style.getPropertyValue(name).trim();
    const markLine = 10;
    const base = height - 6;
    this.paintActivity(context, "contacts", markLine + 8, base, color("--activity"));
    this.paintActivity(context, "begun", markLine + 8, base, color("--begun"));
    context.fillStyle = color("--dim");
    context.fillRect(MARGIN, base, width - 2 * MARGIN, 1);
    for (const kind of MARK_KINDS) {
      context.fillStyle = color(MARK_STYLE[kind].color);
      let last = -Infinity;
      for (const mark of this.model.marks.value) {
        const x = this.xOf(mark.step);
        if (mark.kind !== kind || x < MARGIN - 1 || x - last < 2) continue;
        last = x;
        drawMark(context, kind, x, markLine, MARK_SIZE);
      }
    }
  }

  /** Draws the largest value of a series column at every pixel, as bars from the base line up. */
  private paintActivity(context: CanvasRenderingContext2D, name: string, top: number, base: number, color: string): void {
    const series = this.model.series.value;
    const [steps, values] = [series.column("step"), series.column(name)];
    const [first, last] = this.range();
    const start = Math.max(0, countUpTo(steps, first - 1));
    const end = Math.min(values.length, countUpTo(steps, last));
    const peaks = new Float64Array(Math.ceil(this.width) + 1);
    let max = 0;
    for (let row = start; row < end; row++) {
      const value = values[row];
      if (!(value > 0)) continue;
      const pixel = Math.round(this.xOf(steps[row]));
      if (value > peaks[pixel]) peaks[pixel] = value;
      if (value > max) max = value;
    }
    if (max === 0) return;
    // A bar extends to the next row if the rows are more than a pixel apart.
    const barWidth = Math.max(1, Math.ceil((this.width - 2 * MARGIN) / Math.max(1, end - start)));
    context.fillStyle = color;
    for (let pixel = 0; pixel < peaks.length; pixel++) {
      if (peaks[pixel] === 0) continue;
      const barHeight = Math.max(1, ((base - top) * peaks[pixel]) / max);
      context.fillRect(pixel, base - barHeight, name === "begun" ? Math.min(barWidth, 2) : barWidth, barHeight);
    }
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0) return;
    this.element.setPointerCapture(event.pointerId);
    this.model.playing.value = false;
    this.player.seek(this.stepAt(this.pointerX(event)));
    this.hover(event);
  }

  private pointerX(event: PointerEvent): number {
    return event.clientX - this.element.getBoundingClientRect().left;
  }

  private hover(event: PointerEvent): void {
    const x = this.pointerX(event);
    const step = this.stepAt(x);
    if (event.buttons & 1 && this.element.hasPointerCapture(event.pointerId)) this.player.seek(step);
    const near = this.marksNear(x);
    const at = near[0]?.step ?? step;
    const lines = [`${seconds(near[0]?.time ?? timeOfStep(this.model, at))}, step ${at}`];
    for (const mark of near.slice(0, 3)) lines.push(`${MARK_STYLE[mark.kind].glyph} ${mark.text}`);
    if (near.length > 3) lines.push(`and ${near.length - 3} more`);
    setText(this.tip, lines.join("\n"));
    this.tip.hidden = false;
    const half = this.tip.offsetWidth / 2;
    const left = this.element.getBoundingClientRect().left;
    const min = half - left + 4;
    const max = document.documentElement.clientWidth - left - half - 4;
    this.tip.style.transform = `translateX(${Math.min(Math.max(x, min), max) - half}px)`;
  }

  /** Returns the marks near the pointer, nearest first. */
  private marksNear(x: number): Mark[] {
    const distance = (mark: Mark) => Math.abs(this.xOf(mark.step) - x);
    return this.model.marks.value.filter((mark) => distance(mark) <= NEAR).sort((a, b) => distance(a) - distance(b));
  }

  private key(event: KeyboardEvent): void {
    const { cursor, playing } = this.model;
    const [first, last] = this.range();
    const page = Math.max(10, Math.round((last - first) / 20));
    const big = (event.shiftKey ? 10 : 1) * (this.model.hello.value?.every ?? 1);
    const targets: Record<string, number> = {
      ArrowLeft: cursor.value - big,
      ArrowDown: cursor.value - big,
      ArrowRight: cursor.value + big,
      ArrowUp: cursor.value + big,
      PageDown: cursor.value - page,
      PageUp: cursor.value + page,
      Home: first,
      End: last,
    };
    const target = targets[event.key];
    if (target === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation();
    playing.value = false;
    this.player.seek(target);
  }
}

/** Returns the legend of the timeline, for the help dialog. */
export function timelineLegend(): string {
  const kinds = MARK_KINDS.map((kind) => `${MARK_STYLE[kind].glyph} ${MARK_STYLE[kind].many}`);
  return `Bars: pairs in contact. Thin bright bars: new contacts. Marks: ${kinds.join(", ")}.`;
}

export const markCounts = (marks: readonly Mark[]): string =>
  MARK_KINDS.map((kind) => {
    const count = marks.filter((mark) => mark.kind === kind).length;
    return count === 0 ? "" : kind === "quarantined" ? `${count} quarantined` : plural(count, MARK_STYLE[kind].word);
  })
    .filter(Boolean)
    .join(", ") || "no events";
