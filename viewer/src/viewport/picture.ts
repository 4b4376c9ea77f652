// Pictures of the scene: the rendered canvas, with the names of bodies and the legend, which the page shows as text.

import type { Theme } from "../model";
import { significant } from "../panels/format";
import type { Labels } from "./labels";
import type { LegendLine } from "./overlays";
import { PALETTES } from "./palette";

/** Height of the text and of its lines, CSS pixels. */
const TEXT = 11;
const LINE = 15;
const PADDING = 5;

/** Returns a line of the legend as text. */
export function legendText({ label, value, unit }: LegendLine): string {
  return `${label} ${significant(value, 3)} ${unit}`;
}

/** Draws the rendered canvas onto another one, in a size in CSS pixels, with a number of pixels for each of them. */
export function compose(
  out: HTMLCanvasElement,
  rendered: HTMLCanvasElement,
  width: number,
  height: number,
  ratio: number,
  text: { labels: Labels; legend: readonly LegendLine[]; theme: Theme } | null,
): void {
  const [pixelWidth, pixelHeight] = [Math.round(width * ratio), Math.round(height * ratio)];
  // Setting the size clears a canvas and its state, even if the size is the same.
  if (out.width !== pixelWidth) out.width = pixelWidth;
  if (out.height !== pixelHeight) out.height = pixelHeight;
  const context = out.getContext("2d");
  if (!context) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.imageSmoothingQuality = "high";
  context.drawImage(rendered, 0, 0, width, height);
  if (!text) return;
  const palette = PALETTES[text.theme];
  context.font = `${TEXT}px system-ui, sans-serif`;
  context.textBaseline = "middle";
  const box = (x: number, y: number, boxWidth: number, boxHeight: number) => {
    context.fillStyle = palette.labelBackground;
    context.beginPath();
    context.roundRect(x, y, boxWidth, boxHeight, PADDING);
    context.fill();
    context.fillStyle = palette.label;
  };
  for (const { text: name, x, y } of text.labels.placed) {
    const nameWidth = context.measureText(name).width;
    const left = x * width - nameWidth / 2;
    box(left - PADDING, y * height - LINE / 2, nameWidth + 2 * PADDING, LINE);
    context.fillText(name, left, y * height);
  }
  const lines = text.legend.map(legendText);
  if (lines.length === 0) return;
  const widest = Math.max(...lines.map((line) => context.measureText(line).width));
  const top = height - 2 * PADDING - lines.length * LINE;
  box(PADDING, top - PADDING, widest + 2 * PADDING, lines.length * LINE + 2 * PADDING);
  lines.forEach((line, index) => context.fillText(line, 2 * PADDING, top + (index + 0.5) * LINE));
}
