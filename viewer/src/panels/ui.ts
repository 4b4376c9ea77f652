// What is open: the user's choices that concern the panels alone.

import type { Model, Theme } from "../model";
import { Signal } from "../signal";

/** What the phone's sheet shows. */
export type Sheet = "bodies" | "view" | "inspect" | "live" | "events" | "checks" | "charts";

/** Below this width panels are sheets. The style sheet says the same. */
export const NARROW = "(max-width: 900px)";

export class Ui {
  readonly narrow = new Signal<boolean>(false);
  readonly sheet = new Signal<Sheet | null>(null);
  readonly left = persisted("msd-left", true);
  readonly right = persisted("msd-right", true);
  readonly charts = new Signal<boolean>(false);
  readonly help = new Signal<boolean>(false);
  /** Whether charts can be seen, as drawer or as sheet. */
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

/** A choice that outlasts the page. */
function persisted(key: string, initial: boolean): Signal<boolean> {
  const signal = new Signal<boolean>(loadSetting(key) === null ? initial : loadSetting(key) === "1");
  signal.watch((value) => saveSetting(key, value ? "1" : "0"));
  return signal;
}

/** Storage may be forbidden; then choices last as long as the page. */
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
    // Nothing to be done.
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

/** Sets and keeps the other theme. */
export function toggleTheme(theme: Theme): Theme {
  const other = theme === "dark" ? "light" : "dark";
  saveSetting(THEME_KEY, other);
  return other;
}

export function initTheme(model: Model): void {
  model.theme.value = initialTheme();
  model.theme.watch(applyTheme);
}
