// The state of the panels: which are open, and the theme.

import type { Model, Theme } from "../model";
import { Signal } from "../signal";

/** The content of the sheet on a phone. */
export type Sheet = "bodies" | "view" | "inspect" | "live" | "events" | "checks" | "charts";

/** Width below which panels are sheets. Must match the style sheet. */
export const NARROW = "(max-width: 900px)";

export class Ui {
  readonly narrow = new Signal<boolean>(false);
  readonly sheet = new Signal<Sheet | null>(null);
  readonly left = persisted("msd-left", true);
  readonly right = persisted("msd-right", true);
  readonly charts = new Signal<boolean>(false);
  readonly help = new Signal<boolean>(false);
  /** Whether charts are visible, as drawer or as sheet. */
  readonly chartsShown = new Signal<boolean>(false);

  constructor() {
    const query = matchMedia(NARROW);
    const updateNarrow = () => (this.narrow.value = query.matches);
    query.addEventListener("change", updateNarrow);
    const derive = () =>
      (this.chartsShown.value = this.narrow.value ? this.sheet.value === "charts" : this.charts.value);
    this.narrow.watch(derive);
    this.sheet.watch(derive);
    this.charts.watch(derive);
    updateNarrow();
    const data = document.body.dataset;
    this.sheet.watch((sheet) => (data.sheet = sheet ?? ""));
    this.left.watch((open) => (data.left = open ? "open" : ""));
    this.right.watch((open) => (data.right = open ? "open" : ""));
    this.chartsShown.watch((open) => (data.charts = open ? "open" : ""));
  }

  toggleSheet(sheet: Sheet): void {
    this.sheet.value = this.sheet.value === sheet ? null : sheet;
  }

  toggleCharts(): void {
    if (this.narrow.value) this.toggleSheet("charts");
    else this.charts.value = !this.charts.value;
  }
}

/** Creates a signal whose value is stored across page loads. */
function persisted(key: string, initial: boolean): Signal<boolean> {
  const signal = new Signal<boolean>(loadSetting(key) === null ? initial : loadSetting(key) === "1");
  signal.watch((value) => saveSetting(key, value ? "1" : "0"));
  return signal;
}

/** Reads a stored setting. Storage may be disabled; then settings last only until the page is closed. */
export function loadSetting(key: string): string | null {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function saveSetting(key: string, value: string): void {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Storage is disabled.
  }
}

const THEME_KEY = "msd-theme";

export function initialTheme(): Theme {
  const persisted = loadSetting(THEME_KEY);
  if (persisted === "dark" || persisted === "light") return persisted;
  return matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
}

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}

/** Stores and returns the other theme. */
export function toggleTheme(theme: Theme): Theme {
  const other = theme === "dark" ? "light" : "dark";
  saveSetting(THEME_KEY, other);
  return other;
}

export function initTheme(model: Model): void {
  model.theme.value = initialTheme();
  model.theme.watch(applyTheme);
}
