// The chart drawer. All charts share the cursor: a line in every chart, values in every legend. A click or drag on a
// chart moves to that time. Nothing is drawn while the drawer is closed.

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Model } from "../model";
import type { Player } from "../player";
import { CHARTS, type ChartSpec, DEFAULT_CHARTS, type Line } from "./chart-specs";
import { countUpTo, rowOfStep, stepOfTime, timeOfStep } from "./step-time";
import { h, iconButton, oncePerAnimationFrame, setPressed, setText, throttled } from "./dom";
import { powerLabels, significant, tickLabels } from "./format";
import { plottable, selectRows } from "./downsample";
import { loadSetting, saveSetting, type Ui } from "./ui";

const REDRAW_INTERVAL_MS = 100;
const CHARTS_KEY = "msd-charts";

interface ChartData {
  time: readonly number[];
  values: (readonly number[])[];
}

/** Returns the data of a chart, or null if there is none yet. */
function chartDataOf(model: Model, spec: ChartSpec): ChartData | null {
  if (spec.source === "series") {
    const series = model.series.value;
    return series.length > 0 ? { time: series.column("time"), values: spec.values(series) } : null;
  }
  const motion = model.motion.value;
  if (!motion || motion.body !== model.selectedBody()) return null;
  return { time: motion.time, values: spec.values(motion) };
}

class Chart {
  readonly element: HTMLElement;
  private plot: uPlot | null = null;
  private readonly host = h("div", { class: "plot" });
  private readonly line = h("div", { class: "chart-cursor" });
  private readonly message = h("p", { class: "chart-message", hidden: true });
  private readonly values: HTMLElement[];
  private readonly items: HTMLElement[];
  private chartData: ChartData | null = null;
  private log: boolean;
  private size = { width: 0, height: 0 };

  constructor(
    private readonly model: Model,
    private readonly player: Player,
    readonly spec: ChartSpec,
  ) {
    this.log = spec.scale === "log";
    this.values = spec.lines.map(() => h("span", { class: "legend-value" }));
    this.items = spec.lines.map((line, index) => this.legendItem(line, index));
    this.element = h(
      "figure",
      { id: `chart-${spec.id}`, class: "chart", "data-chart": spec.id },
      h("figcaption", { title: spec.description }, this.caption(), this.scaleButton()),
      h("div", { class: "legend" }, ...this.items),
      h("div", { class: "plot-frame" }, this.host, this.message),
    );
    new ResizeObserver(() => this.resize()).observe(this.host);
  }

  private caption(): HTMLElement {
    const { title, unit, rightUnit } = this.spec;
    const units = rightUnit ? `${unit}, ${rightUnit}` : unit;
    return h("span", {}, h("strong", {}, title), h("span", { class: "unit" }, ` ${units}`));
  }

  private scaleButton(): HTMLElement | null {
    if (this.spec.scale !== "linear or log") return null;
    const change = () => {
      this.log = !this.log;
      setPressed(button, this.log);
      this.rebuild();
    };
    const button = h(
      "button",
      { type: "button", class: "button small", title: "Show absolute values on a logarithmic scale", "aria-label": `${this.spec.title}: logarithmic scale`, on: { click: change } },
      "log",
    );
    setPressed(button, this.log);
    return button;
  }

  private legendItem(line: Line, index: number): HTMLElement {
    const swatch = h("span", { class: `swatch ${line.dash ? "dashed" : ""}` });
    swatch.style.setProperty("--color", `var(${line.color})`);
    const unit = line.right ? this.spec.rightUnit : "";
    const label = unit ? `${line.label} (${unit})` : line.label;
    this.values[index].dataset.line = line.label;
    return h("span", { class: "legend-item" }, swatch, h("span", {}, label), this.values[index]);
  }

  private resize(): void {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (width === 0 || height === 0) return;
    this.size = { width, height };
    if (this.plot) this.plot.setSize(this.size);
    else this.redraw();
  }

  /** Recreates the plot after a change of the colors or the scale. */
  rebuild(): void {
    this.plot?.destroy();
    this.plot = null;
    this.redraw();
  }

  redraw(): void {
    if (this.size.width === 0) return;
    this.chartData = chartDataOf(this.model, this.spec);
    this.spec.lines.forEach((line, index) => {
      if (line.whereMeasured) this.items[index].hidden = this.chartData?.values[index].every(Number.isNaN) ?? true;
    });
    const data = this.data();
    this.showMessage(data);
    if (this.plot) this.plot.setData(data);
    else this.plot = this.newPlot(data);
    this.moveCursor();
  }

  private data(): uPlot.AlignedData {
    if (!this.chartData) return [[], ...this.spec.lines.map(() => [])];
    const { time, values } = this.chartData;
    const rows = selectRows(values, time.length, Math.max(200, this.size.width));
    const x = rows ? rows.map((row) => time[row]) : [...time];
    return [x, ...values.map((column) => plottable(column, rows, time.length, this.log))];
  }

  private showMessage(data: uPlot.AlignedData): void {
    const empty = data.slice(1).every((column) => (column as (number | null)[]).every((value) => value === null));
    this.message.hidden = !empty;
    this.host.classList.toggle("empty", empty);
    if (empty) setText(this.message, this.emptyText());
  }

  private emptyText(): string {
    const { spec, model } = this;
    if (spec.source === "motion") {
      const body = model.selectedBody();
      return body === null ? "Select a body to see its motion." : `Loading the motion of ${model.nameOf(body)}…`;
    }
    if (!this.chartData) return "No data yet.";
    const unknown = this.chartData.values.every((column) => column.every(Number.isNaN));
    if (unknown) return "Not measured in this run.";
    return "Zero throughout.";
  }

  private newPlot(data: uPlot.AlignedData): uPlot {
    const style = getComputedStyle(document.documentElement);
    const color = (name: string) => style.getPropertyValue(name).trim();
    const axis = { stroke: color("--dim"), grid: { stroke: color("--grid"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    const valueAxis = {
      ...axis,
      size: 58,
      gap: 4,
      space: 24,
      values: (_: uPlot, ticks: (number | null)[], __: number, ___: number, step: number) =>
        this.log ? powerLabels(ticks) : tickLabels(ticks, step),
    };
    const right = this.spec.lines.some((line) => line.right);
    const plot = new uPlot(
      {
        ...this.size,
        legend: { show: false },
        cursor: { show: false },
        select: { show: false, left: 0, top: 0, width: 0, height: 0 },
        padding: [6, right ? 0 : 18, 0, 0],
        scales: { x: { time: false }, y: this.log ? { distr: 3 } : { range: valueRange }, right: { range: valueRange } },
        axes: [
          { ...axis, size: 26, gap: 6, space: 60, values: (_, ticks, __, ___, step) => tickLabels(ticks, step).map((tick) => `${tick} s`) },
          valueAxis,
          ...(right ? [{ ...valueAxis, scale: "right", side: 1 as const, grid: { show: false } }] : []),
        ],
        // Scales are available only once the plot is drawn.
        hooks: { draw: [(drawn) => this.moveCursor(drawn)] },
        series: [{}, ...this.spec.lines.map((line) => this.seriesOptions(line, color))],
      },
      data,
      this.host,
    );
    plot.over.append(this.line);
    this.listen(plot.over);
    return plot;
  }

  private seriesOptions(line: Line, color: (name: string) => string): uPlot.Series {
    return {
      label: line.label,
      stroke: color(line.color),
      width: 1.5,
      dash: line.dash,
      scale: line.right ? "right" : "y",
      points: { show: false },
    };
  }

  private listen(over: HTMLElement): void {
    const seek = (event: PointerEvent) => {
      if (!this.plot || !this.chartData) return;
      const x = event.clientX - over.getBoundingClientRect().left;
      this.model.playing.value = false;
      this.player.seek(stepOfTime(this.model, this.plot.posToVal(x, "x")));
    };
    over.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      over.setPointerCapture(event.pointerId);
      seek(event);
    });
    over.addEventListener("pointermove", (event) => {
      if (over.hasPointerCapture(event.pointerId)) seek(event);
    });
  }

  moveCursor(plot = this.plot): void {
    const { chartData } = this;
    const step = this.model.cursor.value;
    const time = timeOfStep(this.model, step);
    if (plot && chartData) {
      const x = plot.valToPos(time, "x");
      this.line.hidden = !Number.isFinite(x);
      // A live body's motion is fetched at intervals: the cursor can be ahead of it.
      const shown = Math.min(Math.max(x, 0), plot.bbox.width / uPlot.pxRatio);
      if (!this.line.hidden) this.line.style.transform = `translateX(${shown}px)`;
    } else {
      this.line.hidden = true;
    }
    const row = this.spec.source === "series" ? rowOfStep(this.model, step) : nearestRow(chartData?.time ?? [], time);
    this.values.forEach((view, index) => {
      // The data date from the last redraw: the newest row may be missing.
      const values = chartData?.values[index] ?? [];
      this.showValue(view, values[Math.min(row, values.length - 1)]);
    });
  }

  private showValue(view: HTMLElement, value: number | undefined): void {
    const unknown = value === undefined || Number.isNaN(value);
    const missing = value !== undefined && this.spec.source === "series" ? "not measured" : "-";
    setText(view, unknown ? missing : significant(value, 5));
    view.dataset.value = String(value);
    view.title = unknown ? "" : String(value);
  }

  destroy(): void {
    this.plot?.destroy();
    this.element.remove();
  }
}

/** Returns the range of a value axis. A constant is centered between zero and twice its value; all zeros get [0, 1]. */
function valueRange(_: uPlot, low: number | null, high: number | null): uPlot.Range.MinMax {
  if (low === null || high === null) return [0, 1];
  if (low === 0 && high === 0) return [0, 1];
  if (low === high) return low > 0 ? [0, 2 * low] : [2 * low, 0];
  return uPlot.rangeNum(low, high, 0.1, true);
}

function nearestRow(times: readonly number[], time: number): number {
  const after = countUpTo(times, time);
  if (after === 0) return times.length > 0 ? 0 : -1;
  if (after === times.length) return after - 1;
  return times[after] - time < time - times[after - 1] ? after : after - 1;
}

export function createCharts(model: Model, player: Player, ui: Ui): HTMLElement {
  const selected = new Set(loadSetting(CHARTS_KEY)?.split(",").filter((id) => CHARTS.some((spec) => spec.id === id)) ?? DEFAULT_CHARTS);
  const charts = new Map<string, Chart>();
  const row = h("div", { id: "chart-row", class: "chart-row" });
  const none = h("p", { class: "dim", hidden: true }, "Select a chart above.");

  const build = () => {
    for (const spec of CHARTS) {
      if (selected.has(spec.id) && !charts.has(spec.id)) charts.set(spec.id, new Chart(model, player, spec));
    }
    for (const [id, chart] of charts) {
      if (selected.has(id)) continue;
      chart.destroy();
      charts.delete(id);
    }
    const inOrder = CHARTS.flatMap((spec) => charts.get(spec.id)?.element ?? []);
    row.replaceChildren(...inOrder, none);
    none.hidden = inOrder.length > 0;
  };
  const pickers = CHARTS.map((spec) => {
    const change = () => {
      if (!selected.delete(spec.id)) selected.add(spec.id);
      setPressed(button, selected.has(spec.id));
      saveSetting(CHARTS_KEY, [...selected].join());
      if (ui.chartsShown.value) build();
    };
    const button = h(
      "button",
      { type: "button", id: `pick-${spec.id}`, class: "button small", title: spec.description, on: { click: change } },
      spec.title,
    );
    setPressed(button, selected.has(spec.id));
    return button;
  });
  const close = iconButton("charts-close", "close", "Close charts", "C", () => ui.toggleCharts());
  const drawer = h(
    "section",
    { id: "charts", "aria-label": "Charts" },
    h("div", { class: "chart-head" }, h("div", { class: "chips", role: "group", "aria-label": "Select charts" }, ...pickers), close),
    row,
  );

  const whenOpen = (work: () => void) => () => {
    if (ui.chartsShown.value) work();
  };
  const all = (work: (chart: Chart) => void) => whenOpen(() => charts.forEach((chart) => work(chart)));
  const redraw = throttled(REDRAW_INTERVAL_MS, all((chart) => chart.redraw()));
  const moveCursors = oncePerAnimationFrame(all((chart) => chart.moveCursor()));
  model.series.watch(whenOpen(redraw));
  model.motion.watch(whenOpen(redraw));
  model.selection.watch(whenOpen(redraw));
  model.cursor.watch(whenOpen(moveCursors));
  model.frame.watch(whenOpen(moveCursors));
  model.theme.watch(() => queueMicrotask(all((chart) => chart.rebuild())));
  ui.chartsShown.watch((open) => {
    if (!open) return;
    build();
    // The theme may have changed since the charts were last drawn.
    charts.forEach((chart) => chart.rebuild());
  });
  return drawer;
}
