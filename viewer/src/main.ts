import { Model } from "./model";
import { createPanels } from "./panels/panels";
import { Player } from "./player";
import { socketAddress } from "./protocol";
import { Connection } from "./connection";
import { Viewport } from "./viewport/viewport";
import "./style.css";

const model = new Model();
const player = new Player(model);
const viewport = new Viewport(document.querySelector<HTMLElement>("#viewport")!, model);
createPanels(model, player, viewport);

const connection = new Connection(model, socketAddress());
connection.connect();

// From the gallery: open that scene, once. Reloading the page shows the current scene instead.
const scene = new URLSearchParams(location.search).get("scene");
if (scene) {
  history.replaceState(null, "", location.pathname);
  const done = model.connection.watch((state) => {
    if (state !== "open") return;
    model.send({ do: "open", scene });
    queueMicrotask(() => done());
  });
}

function draw(now: number): void {
  player.tick(now);
  connection.tick();
  viewport.draw(now);
  requestAnimationFrame(draw);
}
requestAnimationFrame(draw);

/** The scripting interface for tests, screenshots and the browser's console. */
declare global {
  interface Window {
    msd: { model: Model; player: Player; viewport: Viewport };
  }
}
window.msd = { model, player, viewport };
