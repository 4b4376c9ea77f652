// Keys. The list also makes the help, so that none is forgotten there.

import type { Model } from "../model";
import type { Player } from "../player";
import type { Stage } from "../stage/stage";
import { OVERLAYS } from "./overlays";
import { changeSpeed, goFirst, goLast } from "./transport";
import { otherTheme, type Ui } from "./ui";

export interface Shortcut {
  /** Names of the keys as the browser gives them; letters are small. */
  keys: string[];
  shift?: boolean;
  /** For help; a blank parts keys. */
  shown: string;
  says: string;
  act: (key: string) => void;
}

export function createShortcuts(model: Model, player: Player, stage: Stage, ui: Ui): Shortcut[] {
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
    { keys: [" "], shown: "Space", says: "play or pause; run or pause (live)", act: () => player.toggle() },
    { keys: ["ArrowLeft"], shift: false, shown: "←", says: "one step back", act: () => player.step(-1) },
    { keys: ["ArrowRight"], shift: false, shown: "→", says: "one step on", act: () => player.step(1) },
    { keys: ["ArrowLeft"], shift: true, shown: "Shift ←", says: "ten steps back", act: () => move(-10) },
    { keys: ["ArrowRight"], shift: true, shown: "Shift →", says: "ten steps on", act: () => move(10) },
    { keys: ["Home"], shown: "Home", says: "first step", act: () => goFirst(model, player) },
    { keys: ["End"], shown: "End", says: "last or newest step", act: () => goLast(model, player) },
    { keys: ["j", ","], shown: "J ,", says: "previous event", act: () => player.jump(-1) },
    { keys: ["l", "."], shown: "L .", says: "next event", act: () => player.jump(1) },
    { keys: ["["], shown: "[", says: "slower", act: () => changeSpeed(model, player, -1) },
    { keys: ["]"], shown: "]", says: "faster", act: () => changeSpeed(model, player, 1) },
    { keys: ["r"], shown: "R", says: "reset (live)", act: () => live() && model.send({ do: "reset" }) },
    { keys: ["f"], shown: "F", says: "frame the whole scene", act: () => stage.resetCamera() },
    { keys: ["g"], shown: "G", says: "follow the selected body", act: () => follow(model) },
    { keys: ["o"], shown: "O", says: "orbit tool", act: () => tool("orbit") },
    { keys: ["t"], shown: "T", says: "throw tool (live)", act: () => tool("throw") },
    { keys: ["p"], shown: "P", says: "pull tool (live)", act: () => tool("pull") },
    {
      keys: OVERLAYS.map((_, place) => String(place + 1)),
      shown: "1 … 8",
      says: "overlays, in their order",
      act: (key) => model.toggle(OVERLAYS[Number(key) - 1].key),
    },
    { keys: ["c"], shown: "C", says: "charts", act: () => ui.toggleCharts() },
    { keys: ["b"], shown: "B", says: "search bodies", act: () => searchBodies(ui) },
    { keys: ["d"], shown: "D", says: "dark or light", act: () => (model.theme.value = otherTheme(model.theme.value)) },
    { keys: ["Escape"], shown: "Esc", says: "close, or clear the selection", act: () => escape(model, ui) },
    { keys: ["?"], shown: "?", says: "this help", act: () => (ui.help.value = !ui.help.value) },
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
function typesInto(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target instanceof HTMLInputElement) return target.type !== "checkbox";
  return target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement;
}

/** Whether the space bar and Enter press an element. */
function isPressed(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest("button, summary, a, input") !== null;
}

export function listenToKeys(shortcuts: readonly Shortcut[]): void {
  document.addEventListener("keydown", (event) => {
    const written = event.getModifierState("AltGraph");
    if (event.defaultPrevented || ((event.ctrlKey || event.altKey) && !written) || event.metaKey) return;
    if (typesInto(event.target)) {
      if (event.key === "Escape") (event.target as HTMLElement).blur();
      return;
    }
    // An open dialog has its own keys.
    if (document.querySelector("dialog[open]")) return;
    if (event.key === " " && isPressed(event.target)) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const found = shortcuts.find(
      (shortcut) => shortcut.keys.includes(key) && (shortcut.shift === undefined || shortcut.shift === event.shiftKey),
    );
    if (!found) return;
    event.preventDefault();
    found.act(key);
  });
  // After a click a button would keep the keyboard, and the space bar would press it again instead of playing.
  document.addEventListener("click", (event) => {
    const active = document.activeElement;
    if (event.detail > 0 && active instanceof HTMLElement && active.matches("button, summary, input[type=checkbox]")) {
      if (!active.closest("dialog")) active.blur();
    }
  });
}
