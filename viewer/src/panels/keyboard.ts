// Keys. The list also makes the help, so that none is forgotten there.

import type { Model } from "../model";
import type { Player } from "../player";
import type { Viewport } from "../viewport/viewport";
import { OVERLAYS } from "./overlays";
import { changeSpeed, goFirst, goLast } from "./transport";
import { toggleTheme, type Ui } from "./ui";

export interface Shortcut {
  /** Names of the keys as the browser gives them; letters are small. */
  keys: string[];
  shift?: boolean;
  /** For help; a blank parts keys. */
  label: string;
  description: string;
  run: (key: string) => void;
}

export function createShortcuts(model: Model, player: Player, viewport: Viewport, ui: Ui): Shortcut[] {
  const live = () => model.hello.value?.mode === "live";
  const move = (by: number) => {
    model.playing.value = false;
    player.seek(model.cursor.value + by * (model.hello.value?.every ?? 1));
  };
  const tool = (wanted: "orbit" | "throw" | "pull") => {
    if (live() || wanted === "orbit") model.tool.value = wanted;
    else model.notice.value = "Bodies can be thrown and pulled in a live simulation only.";
  };
  return [
    { keys: [" "], label: "Space", description: "play or pause; run or pause (live)", run: () => player.toggle() },
    { keys: ["ArrowLeft"], shift: false, label: "←", description: "one step back", run: () => player.step(-1) },
    { keys: ["ArrowRight"], shift: false, label: "→", description: "one step on", run: () => player.step(1) },
    { keys: ["ArrowLeft"], shift: true, label: "Shift ←", description: "ten steps back", run: () => move(-10) },
    { keys: ["ArrowRight"], shift: true, label: "Shift →", description: "ten steps on", run: () => move(10) },
    { keys: ["Home"], label: "Home", description: "first step", run: () => goFirst(model, player) },
    { keys: ["End"], label: "End", description: "last or newest step", run: () => goLast(model, player) },
    { keys: ["j", ","], label: "J ,", description: "previous event", run: () => player.jump(-1) },
    { keys: ["l", "."], label: "L .", description: "next event", run: () => player.jump(1) },
    { keys: ["["], label: "[", description: "slower", run: () => changeSpeed(model, player, -1) },
    { keys: ["]"], label: "]", description: "faster", run: () => changeSpeed(model, player, 1) },
    { keys: ["r"], label: "R", description: "reset (live)", run: () => live() && model.send({ do: "reset" }) },
    { keys: ["f"], label: "F", description: "frame the whole scene", run: () => viewport.resetCamera() },
    { keys: ["g"], label: "G", description: "follow the selected body", run: () => follow(model) },
    { keys: ["o"], label: "O", description: "orbit tool", run: () => tool("orbit") },
    { keys: ["t"], label: "T", description: "throw tool (live)", run: () => tool("throw") },
    { keys: ["p"], label: "P", description: "pull tool (live)", run: () => tool("pull") },
    {
      keys: OVERLAYS.map((_, index) => String(index + 1)),
      label: "1 … 8",
      description: "overlays, in their order",
      run: (key) => model.toggle(OVERLAYS[Number(key) - 1].key),
    },
    { keys: ["c"], label: "C", description: "charts", run: () => ui.toggleCharts() },
    { keys: ["b"], label: "B", description: "search bodies", run: () => searchBodies(ui) },
    { keys: ["d"], label: "D", description: "dark or light", run: () => (model.theme.value = toggleTheme(model.theme.value)) },
    { keys: ["Escape"], label: "Esc", description: "close, or clear the selection", run: () => escape(model, ui) },
    { keys: ["?"], label: "?", description: "this help", run: () => (ui.help.value = !ui.help.value) },
  ];
}

function follow(model: Model): void {
  if (model.selectedBody() === null) model.notice.value = "Select a body to follow.";
  else model.follow.value = !model.follow.value;
}

function searchBodies(ui: Ui): void {
  ui.left.value = true;
  if (ui.narrow.value) ui.sheet.value = "bodies";
  document.querySelector<HTMLDetailsElement>("#body-list")!.open = true;
  document.querySelector<HTMLInputElement>("#body-search")?.focus();
}

/** One thing at a time, the nearest first. */
function escape(model: Model, ui: Ui): void {
  if (ui.narrow.value && ui.sheet.value) ui.sheet.value = null;
  else if (model.tool.value !== "orbit") model.tool.value = "orbit";
  else if (model.selection.value) model.selection.value = null;
  else ui.charts.value = false;
}

/** Whether an element takes letters itself. */
function acceptsText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== "checkbox";
  return target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

/** Whether the space bar and Enter press an element. */
function isActivatable(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("button, summary, a, input") !== null;
}

export function listenToKeys(shortcuts: readonly Shortcut[]): void {
  document.addEventListener("keydown", (event) => {
    const altGraph = event.getModifierState("AltGraph");
    if (event.defaultPrevented || ((event.ctrlKey || event.altKey) && !altGraph) || event.metaKey) return;
    if (acceptsText(event.target)) {
      if (event.key === "Escape") (event.target as HTMLElement).blur();
      return;
    }
    // An open dialog has its own keys.
    if (document.querySelector("dialog[open]")) return;
    if (event.key === " " && isActivatable(event.target)) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const found = shortcuts.find(
      (shortcut) => shortcut.keys.includes(key) && (shortcut.shift === undefined || shortcut.shift === event.shiftKey),
    );
    if (!found) return;
    event.preventDefault();
    found.run(key);
  });
  // After a click a button would keep the keyboard, and the space bar would press it again instead of playing.
  document.addEventListener("click", (event) => {
    const active = document.activeElement;
    if (event.detail > 0 && active instanceof HTMLElement && active.matches("button, summary, input[type=checkbox]")) {
      if (!active.closest("dialog")) active.blur();
    }
  });
}
