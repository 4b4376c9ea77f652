// The top bar: name and mode of the scene, step, time and rates, and the buttons that open panels.

import type { Model } from "../model";
import type { Hello } from "../protocol";
import type { Viewport } from "../viewport/viewport";
import { timeOfStep } from "./step-time";
import { h, iconButton, oncePerAnimationFrame, setLabel, setPressed, setText, throttled } from "./dom";
import { seconds, significant } from "./format";
import { toggleTheme, type Ui } from "./ui";

/** Describes what the recording omits, after `prefix`; empty if nothing. */
function omissions(hello: Hello | null, prefix: string): string {
  const parts = [];
  if (hello && hello.every > 1) parts.push(`every ${hello.every} steps`);
  if (hello && !hello.contacts) parts.push("no contacts");
  return parts.length > 0 ? `${prefix}${parts.join(", ")}` : "";
}

function describe(hello: Hello): string {
  const cut = hello.mode === "replay" && !hello.complete ? ", truncated" : "";
  return `${hello.mode}${cut}${omissions(hello, ", ")}`;
}

export function createTopBar(model: Model, viewport: Viewport, ui: Ui): HTMLElement {
  const name = h("strong", { id: "scene-name" });
  const title = h("span", { id: "scene-title" });
  const mode = h("span", { id: "mode", class: "badge" });
  const step = h("span", { id: "step" });
  const time = h("span", { id: "time" });
  const rate = h("span", { id: "rate" });
  const fps = h("span", { id: "fps", title: "Rendered frames per second, while anything moves" });

  const left = iconButton("toggle-left", "left", "Bodies and view", "", () => (ui.left.value = !ui.left.value));
  const right = iconButton("toggle-right", "right", "Inspector", "", () => (ui.right.value = !ui.right.value));
  const charts = iconButton("toggle-charts", "charts", "Charts", "C", () => ui.toggleCharts());
  const theme = iconButton("theme", "theme", "Theme", "D", () => (model.theme.value = toggleTheme(model.theme.value)));
  const help = iconButton("help-button", "help", "Help", "?", () => (ui.help.value = true));
  ui.left.watch((open) => setPressed(left, open));
  ui.right.watch((open) => setPressed(right, open));
  ui.chartsShown.watch((open) => setPressed(charts, open));
  model.theme.watch((now) => setLabel(theme, now === "dark" ? "Light theme" : "Dark theme", "D"));

  model.hello.watch((hello) => {
    setText(name, hello?.name ?? "msd");
    setText(title, hello && hello.title !== hello.name ? hello.title : "");
    title.title = hello?.title ?? "";
    mode.hidden = !hello;
    mode.dataset.mode = hello?.mode ?? "";
    setText(mode, hello ? describe(hello) : "");
    mode.title = hello?.mode === "live" ? "A live simulation" : `A recording${omissions(hello, ". ")}`;
    document.title = hello ? `${hello.name} - msd` : "msd";
  });

  const showCursor = oncePerAnimationFrame(() => {
    // The step on display, not the requested one: its frame may not have arrived yet.
    const now = model.frame.value?.step ?? model.cursor.value;
    const status = model.status.value;
    // A live frame can be ahead of the status.
    setText(step, status ? `step ${now} / ${Math.max(now, status.last_step)}` : "");
    step.dataset.value = String(now);
    const at = timeOfStep(model, now);
    setText(time, status ? seconds(at) : "");
    time.dataset.value = String(at);
  });
  model.cursor.watch(showCursor);
  model.frame.watch(showCursor);
  const showRate = throttled(200, () => setText(rate, rateText(model)));
  model.status.watch(() => {
    showCursor();
    showRate();
  });
  rate.title = "Simulation steps per second, and simulated seconds per second";
  viewport.framesPerSecond.watch((value) => setText(fps, value > 0 ? `${Math.round(value)} fps` : ""));

  return h(
    "header",
    { id: "top" },
    h("div", { class: "title" }, name, title, mode),
    h("div", { class: "numbers", role: "group", "aria-label": "Progress of the run" }, step, time, rate, fps),
    h(
      "div",
      { class: "buttons" },
      left, right, charts, theme, help,
      h("a", { id: "gallery-link", class: "button", href: "./gallery.html", title: "Open the gallery of scenes" }, "Scenes"),
    ),
  );
}

function rateText(model: Model): string {
  const status = model.status.value;
  if (!status || model.hello.value?.mode !== "live") return "";
  if (!status.running) return "paused";
  const factor = status.steps_per_second * status.settings.dt;
  return `${Math.round(status.steps_per_second)} steps/s, ${significant(factor, 3)}× real time`;
}
