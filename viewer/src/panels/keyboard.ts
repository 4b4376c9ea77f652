// Keyboard shortcuts. The help dialog lists them from the same table.

import type { Model } from "../model";
import type { Player } from "../player";
import type { Viewport } from "../viewport/viewport";
import { frameBody } from "./inspector";
import { OVERLAYS } from "./overlays";
import { changeSpeed, goFirst, goLast } from "./transport";
import { toggleTheme, type Ui } from "./ui";

export interface Shortcut {
  /** Values of `KeyboardEvent.key`, letters in lower case. */
  keys: string[];
  shift?: boolean;
  /** Key names for the help dialog, separated by spaces. */
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
    else model.notice.value = "The throw and pull tools are available only in a live simulation.";
  };
  return [
    { keys: [" "], label: "Space", description: "play or pause; run or pause (live)", run: () => player.toggle() },
    { keys: ["ArrowLeft"], shift: false, label: "←", description: "step back", run: () => player.step(-1) },
    { keys: ["ArrowRight"], shift: false, label: "→", description: "step forward", run: () => player.step(1) },
    { keys: ["ArrowLeft"], shift: true, label: "Shift ←", description: "ten steps back", run: () => move(-10) },
    { keys: ["ArrowRight"], shift: true, label: "Shift →", description: "ten steps forward", run: () => move(10) },
    { keys: ["Home"], label: "Home", description: "first step", run: () => goFirst(model, player) },
    { keys: ["End"], label: "End", description: "last or newest step", run: () => goLast(model, player) },
    { keys: ["j", ","], label: "J ,", description: "previous event", run: () => player.jump(-1) },
    { keys: ["l", "."], label: "L .", description: "next event", run: () => player.jump(1) },
    { keys: ["["], label: "[", description: "slower", run: () => changeSpeed(model, player, -1) },
    { keys: ["]"], label: "]", description: "faster", run: () => changeSpeed(model, player, 1) },
    { keys: ["r"], label: "R", description: "reset (live)", run: () => live() && model.send({ do: "reset" }) },
    { keys: ["f"], label: "F", description: "frame the whole scene", run: () => viewport.resetCamera() },
    { keys: ["e"], label: "E", description: "frame the selected body", run: () => frameBody(model, viewport) },
    { keys: ["g"], label: "G", description: "follow the selected body with the camera, or stop", run: () => follow(model) },
    { keys: ["o"], label: "O", description: "orbit tool", run: () => tool("orbit") },
    { keys: ["t"], label: "T", description: "throw tool (live)", run: () => tool("throw") },
    { keys: ["p"], label: "P", description: "pull tool (live)", run: () => tool("pull") },
    {
      keys: OVERLAYS.map((_, index) => String(index + 1)),
      label: "1 … 9",
      description: "toggle overlays, in order",
      run: (key) => model.toggle(OVERLAYS[Number(key) - 1].key),
    },
    { keys: ["s"], label: "S", description: "save a picture of the view", run: () => document.querySelector<HTMLButtonElement>("#save-picture")?.click() },
    { keys: ["c"], label: "C", description: "show or hide charts", run: () => ui.toggleCharts() },
    { keys: ["b"], label: "B", description: "search bodies", run: () => searchBodies(ui) },
    { keys: ["d"], label: "D", description: "dark or light theme", run: () => (model.theme.value = toggleTheme(model.theme.value)) },
    { keys: ["Escape"], label: "Esc", description: "close panel, leave tool, or clear the selection", run: () => escape(model, ui) },
    { keys: ["?"], label: "?", description: "this help", run: () => (ui.help.value = !ui.help.value) },
  ];
}

function follow(model: Model): void {
  if (model.selectedBody() === null) model.notice.value = "Select a body to follow first.";
  else model.follow.value = !model.follow.value;
}

function searchBodies(ui: Ui): void {
  ui.left.value = true;
  if (ui.narrow.value) ui.sheet.value = "bodies";
  document.querySelector<HTMLDetailsElement>("#body-list")!.open = true;
  document.querySelector<HTMLInputElement>("#body-search")?.focus();
}

/** Undoes one thing per key press: closes the sheet, leaves the tool, clears the selection, then closes the charts. */
function escape(model: Model, ui: Ui): void {
  if (ui.narrow.value && ui.sheet.value) ui.sheet.value = null;
  else if (model.tool.value !== "orbit") model.tool.value = "orbit";
  else if (model.selection.value) model.selection.value = null;
  else ui.charts.value = false;
}

/** Returns whether an element accepts text input. */
function acceptsText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== "checkbox";
  return target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

/** Returns whether the space bar activates an element. */
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
    // An open dialog handles its own keys.
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
  // A clicked button would keep the focus, and the space bar would press it again instead of starting playback.
  document.addEventListener("click", (event) => {
    const active = document.activeElement;
    if (event.detail > 0 && active instanceof HTMLElement && active.matches("button, summary, input[type=checkbox]")) {
      if (!active.closest("dialog")) active.blur();
    }
  });
}
