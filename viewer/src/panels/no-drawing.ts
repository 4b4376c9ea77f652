// The message in place of the scene while it cannot be drawn.

import type { Viewport } from "../viewport/viewport";
import { h, setText } from "./dom";

const REASONS = {
  unavailable: {
    title: "The scene cannot be drawn: this browser has no WebGL.",
    advice: "It may be switched off in the browser's settings (hardware acceleration), or the graphics driver may be too old.",
  },
  lost: {
    title: "The browser has stopped drawing the scene.",
    advice: "The graphics driver was reset or has run out of memory. Drawing resumes by itself; if it does not, reload the page.",
  },
};

export function createNoDrawing(viewport: Viewport): HTMLElement {
  const title = h("h2", {});
  const advice = h("p", {});
  const message = h(
    "div",
    { id: "no-drawing", role: "alert", hidden: true },
    title,
    advice,
    h("p", {}, "Everything else works: playback, timeline, events, charts, checks and the numbers of each body. Select bodies in the list."),
  );
  viewport.drawing.watch((state) => {
    message.hidden = state === "works";
    viewport.host.dataset.drawing = state;
    if (state === "works") return;
    setText(title, REASONS[state].title);
    setText(advice, REASONS[state].advice);
  });
  viewport.host.append(message);
  return message;
}
