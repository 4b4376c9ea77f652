// The playback controls, which move the cursor or control the live simulation.

import type { Model } from "../model";
import type { Player } from "../player";
import { h, iconButton, setIcon, setLabel, setPressed } from "./dom";

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 5, 10];

/** Returns the current speed: the server's in live mode, the page's otherwise. */
export function currentSpeed(model: Model): number {
  const live = model.hello.value?.mode === "live";
  return live ? (model.status.value?.speed ?? model.speed.value) : model.speed.value;
}

/** Switches to the next faster or slower speed of the list. */
export function changeSpeed(model: Model, player: Player, by: 1 | -1): void {
  const now = currentSpeed(model);
  const next = by === 1 ? SPEEDS.find((speed) => speed > now) : SPEEDS.findLast((speed) => speed < now);
  // Zero means as fast as possible: nothing is faster, and the fastest speed of the list is the next slower one.
  if (now === 0) {
    if (by === -1) player.setSpeed(SPEEDS[SPEEDS.length - 1]);
  } else if (next !== undefined) {
    player.setSpeed(next);
  }
}

export function createTransport(model: Model, player: Player): HTMLElement {
  const first = iconButton("first", "first", "First step", "Home", () => goFirst(model, player));
  const previous = iconButton("previous-event", "previousEvent", "Previous event", "J", () => player.jump(-1));
  const back = iconButton("step-back", "back", "Step back", "Left", () => player.step(-1));
  const play = iconButton("play", "play", "Play", "Space", () => player.toggle());
  const forward = iconButton("step-forward", "forward", "Step forward", "Right", () => player.step(1));
  const next = iconButton("next-event", "nextEvent", "Next event", "L", () => player.jump(1));
  const last = iconButton("newest", "last", "Last step", "End", () => goLast(model, player));
  const loop = iconButton("loop", "loop", "Loop playback", "", () => (model.loop.value = !model.loop.value));
  const reset = iconButton("reset", "reset", "Reset the simulation", "R", () => model.send({ do: "reset" }));
  play.classList.add("primary");

  const speed = h("select", {
    id: "speed",
    title: "Simulated seconds per second ([ slower, ] faster)",
    "aria-label": "Speed",
    on: { change: () => player.setSpeed(Number(speed.value)) },
  });

  const showPlaying = () => {
    const live = model.hello.value?.mode === "live";
    const running = live ? (model.status.value?.running ?? false) : model.playing.value;
    setIcon(play, running ? "pause" : "play");
    setLabel(play, running ? "Pause" : live ? "Run" : "Play", "Space");
  };
  const showSpeed = () => {
    const value = currentSpeed(model);
    fillSpeeds(speed, value, model.hello.value?.mode === "live");
    if (document.activeElement !== speed) speed.value = String(value);
  };
  model.hello.watch((hello) => {
    const live = hello?.mode === "live";
    loop.hidden = live;
    reset.hidden = !live;
    setLabel(last, live ? "Newest step" : "Last step", "End");
    showPlaying();
    showSpeed();
  });
  model.playing.watch(showPlaying);
  model.status.watch(() => {
    showPlaying();
    showSpeed();
  });
  model.speed.watch(showSpeed);
  model.loop.watch((value) => setPressed(loop, value));
  model.atEnd.watch((value) => last.classList.toggle("lit", value));
  return h(
    "div",
    { id: "transport", role: "toolbar", "aria-label": "Playback" },
    first, previous, back, play, forward, next, last, loop, reset, speed,
  );
}

/** Fills the list of speeds, including the current one if it is not a preset. */
function fillSpeeds(select: HTMLSelectElement, value: number, live: boolean): void {
  const speeds = [...new Set([...SPEEDS, value])].filter((speed) => speed > 0).sort((a, b) => a - b);
  if (live) speeds.push(0);
  const wanted = speeds.join();
  if (select.dataset.speeds === wanted) return;
  select.dataset.speeds = wanted;
  select.replaceChildren(...speeds.map((speed) => h("option", { value: speed }, speed === 0 ? "max" : `${speed}×`)));
}

export function goFirst(model: Model, player: Player): void {
  model.playing.value = false;
  player.seek(model.status.value?.first_step ?? 0);
}

export function goLast(model: Model, player: Player): void {
  model.playing.value = false;
  player.seek(model.status.value?.last_step ?? 0);
}
