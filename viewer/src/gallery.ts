// The gallery: all scenes of the catalog, with a picture of each.

import type { Theme } from "./model";
import { h, iconButton, setLabel, setText } from "./panels/dom";
import { plural } from "./panels/format";
import { applyTheme, initialTheme, toggleTheme } from "./panels/ui";
import { type CatalogScene, type Message, socketAddress } from "./protocol";
import "./style.css";

const search = h("input", {
  id: "scene-search",
  type: "search",
  placeholder: "Search scenes",
  "aria-label": "Search scenes",
  autocomplete: "off",
  on: { input: () => filter() },
});
const state = h("p", { id: "gallery-state", class: "dim", role: "status" }, "Connecting…");
const grid = h("ul", { id: "scenes", class: "cards" });

document.body.append(
  h(
    "header",
    { class: "gallery-head" },
    h("h1", {}, "Scenes"),
    search,
    h("div", { class: "buttons" }, themeButton(), h("a", { id: "back", class: "button", href: "./" }, "Back to the viewer")),
  ),
  h("main", {}, state, grid),
);
fetchScenes();

function themeButton(): HTMLElement {
  let theme: Theme = initialTheme();
  const show = () => {
    applyTheme(theme);
    setLabel(button, theme === "dark" ? "Light theme" : "Dark theme");
  };
  const button = iconButton("theme", "theme", "Theme", "", () => {
    theme = toggleTheme(theme);
    show();
  });
  show();
  return button;
}

/** Requests the catalog from the server and ignores its messages about the running scene. */
function fetchScenes(): void {
  const socket = new WebSocket(socketAddress());
  let answered = false;
  socket.binaryType = "arraybuffer";
  socket.onopen = () => socket.send(JSON.stringify({ do: "scenes" }));
  socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
    if (typeof event.data !== "string") return;
    const message = JSON.parse(event.data) as Message;
    if (message.type !== "scenes") return;
    answered = true;
    show(message.scenes, message.argument);
    socket.close();
  };
  socket.onclose = () => {
    if (!answered) setText(state, "No connection. Check that msd is still running, and open the address it printed.");
  };
}

/** Fills the grid. The scene or recording named on the command line comes first, so that the user can return to it. */
function show(scenes: readonly CatalogScene[], argument: CatalogScene | null): void {
  const others = scenes.filter((scene) => scene.name !== argument?.name);
  grid.replaceChildren(...(argument ? [argument, ...others] : scenes).map(card));
  filter();
}

function card(scene: CatalogScene): HTMLElement {
  const name = encodeURIComponent(scene.name);
  const summary = firstParagraph(scene.comment);
  const link = h(
    "a",
    { class: "card", href: `./?scene=${name}`, "data-scene": scene.name },
    picture(`./pictures/${name}.jpg`),
    h(
      "div",
      { class: "card-text" },
      h("h2", {}, scene.title || scene.name),
      h("span", { class: "card-name dim" }, scene.name),
      summary && h("p", {}, summary),
    ),
  );
  const item = h("li", {}, link);
  item.dataset.text = `${scene.name} ${scene.title} ${scene.comment}`.toLowerCase();
  return item;
}

function picture(address: string): HTMLElement {
  const image = h("img", { src: address, alt: "", width: 640, height: 400, loading: "lazy", decoding: "async" });
  image.addEventListener("error", () => image.replaceWith(h("div", { class: "no-picture" }, "no picture")));
  return image;
}

function firstParagraph(comment: string): string {
  return comment.trim().split(/\n\s*\n/)[0].replace(/\s+/g, " ");
}

function filter(): void {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const item of grid.children as HTMLCollectionOf<HTMLElement>) {
    const matches = words.every((word) => item.dataset.text?.includes(word));
    item.hidden = !matches;
    if (matches) count++;
  }
  const all = grid.childElementCount;
  setText(state, count === all ? plural(all, "scene") : `${count} of ${plural(all, "scene")}`);
}
