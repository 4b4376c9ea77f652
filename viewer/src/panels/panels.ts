// The panels around the viewport. The page's body is a grid with the viewport as one cell, so that no panel covers the
// scene.

import type { Model } from "../model";
import { keepMotionCurrent } from "../motion";
import type { Player } from "../player";
import type { Viewport } from "../viewport/viewport";
import { createBodyList } from "./body-list";
import { createCharts } from "./charts";
import { createAbout, createChecks } from "./checks";
import { createContact } from "./contact";
import { h } from "./dom";
import { createEvents } from "./events";
import { createExport } from "./export";
import { createHelp } from "./help";
import { createInspector } from "./inspector";
import { createShortcuts, listenToKeys } from "./keyboard";
import { createLegend } from "./legend";
import { createLive } from "./live";
import { createNoDrawing } from "./no-drawing";
import { createConnectionBanner, createNotice, createToolHint } from "./notice";
import { createOverlays } from "./overlays";
import { createTabs } from "./tabs";
import { Timeline } from "./timeline";
import { createTopBar } from "./topbar";
import { createTransport } from "./transport";
import { initTheme, Ui } from "./ui";

export function createPanels(model: Model, player: Player, viewport: Viewport): void {
  initTheme(model);
  const ui = new Ui();
  const shortcuts = createShortcuts(model, player, viewport, ui);
  document.body.classList.add("viewer");
  document.body.append(
    createTopBar(model, viewport, ui),
    h(
      "aside",
      { id: "left", class: "side", "aria-label": "Bodies and view" },
      createBodyList(model),
      createOverlays(model, viewport),
      createExport(model, player, viewport),
    ),
    h(
      "aside",
      { id: "right", class: "side", "aria-label": "Inspector" },
      createContact(model),
      createInspector(model, viewport),
      createLive(model, player),
      createEvents(model, player),
      createChecks(model, player, viewport),
      createAbout(model),
    ),
    createCharts(model, player, ui),
    h("footer", { id: "bottom" }, createTransport(model, player), new Timeline(model, player).element),
    createTabs(model, ui),
    h("div", { id: "messages" }, createConnectionBanner(model), createToolHint(model), createNotice(model)),
    createHelp(ui, shortcuts),
  );
  model.hello.watch((hello) => {
    if (hello?.mode === "replay") model.tool.value = "orbit";
  });
  createLegend(viewport);
  createNoDrawing(viewport);
  keepMotionCurrent(model, ui.chartsShown);
  listenToKeys(shortcuts);
}
