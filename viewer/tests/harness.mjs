// What the tests of the page share: a browser, pages of new servers, recordings and pictures.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before } from "node:test";
import { openBrowser, run, serve } from "../tools/launch.mjs";

export const DESKTOP = { width: 1280, height: 720 };
export const PHONE = { width: 390, height: 844 };

/** The folder in which the tests of a file run the command. */
export const folder = mkdtempSync(join(tmpdir(), "msd-browser-"));

let browser;
let open = [];

before(async () => {
  browser = await openBrowser();
});

afterEach(async () => {
  for (const { page, server } of open) {
    await page.close();
    server.stop();
  }
  open = [];
});

after(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

/** Opens a page of a new server. Tests fail on any complaint: script errors, console errors and policy violations.
 * `init` runs in the page before its own scripts. */
export async function visit(args, { viewport = DESKTOP, path = "", touch = false, init = () => {} } = {}) {
  const server = await serve(folder, ...args);
  const context = { viewport, hasTouch: touch, deviceScaleFactor: 1, reducedMotion: "reduce" };
  const page = await browser.newPage(context);
  await page.addInitScript(init);
  page.setDefaultTimeout(60_000);
  const complaints = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
  page.on("requestfailed", (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`));
  open.push({ page, server });
  await page.goto(new URL(path, server.address).href);
  return { page, complaints };
}

/** Makes a recording; returns its file and the positions of its bodies: step -> name -> [x, y, z]. */
export function record(scene, ...set) {
  run(folder, "run", scene, "--quiet", "--no-report", ...set.flatMap((value) => ["--set", value]));
  const file = `runs/${scene}.mcap`;
  const steps = new Map();
  for (const line of run(folder, "export", file, "--json", "-").trim().split("\n")) {
    const { step, body, px, py, pz } = JSON.parse(line);
    if (!steps.has(step)) steps.set(step, new Map());
    steps.get(step).set(body, [px, py, pz]);
  }
  return { file, steps };
}

/** Counts the pixels that differ visibly between two images, in all or within a distance of a point. */
export async function countDifferingPixels(page, first, second, [x, y, near] = [0, 0, Infinity]) {
  return page.evaluate(
    async ([a, b, x, y, near]) => {
      const decode = async (png) => {
        const image = new Image();
        image.src = `data:image/png;base64,${png}`;
        await image.decode();
        const canvas = document.createElement("canvas");
        [canvas.width, canvas.height] = [image.width, image.height];
        const context = canvas.getContext("2d");
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height);
      };
      const [{ data: p, width }, { data: q }] = [await decode(a), await decode(b)];
      let count = 0;
      for (let at = 0; at < p.length; at += 4) {
        const [column, row] = [(at / 4) % width, Math.floor(at / 4 / width)];
        if (near !== null && Math.hypot(column - x, row - y) > near) continue;
        if ([0, 1, 2].some((channel) => Math.abs(p[at + channel] - q[at + channel]) > 24)) count++;
      }
      return count;
    },
    // Infinity arrives as null.
    [first.toString("base64"), second.toString("base64"), x, y, near === Infinity ? null : near],
  );
}

/** Takes a screenshot of the viewport. */
export async function picture(page) {
  // After two animation frames, pending changes have been drawn; a full-resolution frame follows soon after.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await page.waitForTimeout(600);
  return page.locator("#viewport canvas").screenshot();
}

/** Waits until the frame of this step is on display. */
export async function waitForStep(page, step) {
  await page.waitForFunction((step) => window.msd.model.frame.value?.step === step, step);
}

/** Returns the positions at which the renderer draws the bodies, by name. */
export async function drawnPositions(page) {
  const list = await page.evaluate(() => {
    const { model, viewport } = window.msd;
    return model.bodies.value.map((body, index) => [body.name, viewport.drawnPosition(index)]);
  });
  return new Map(list);
}


/** Returns how far from the center of the viewport the center of a body is drawn, CSS pixels. */
export async function distanceFromCenter(page, body) {
  return page.evaluate((body) => {
    const { viewport } = window.msd;
    const [x, y] = viewport.toScreen(viewport.drawnPosition(body));
    const { left, top, width, height } = document.querySelector("#viewport canvas").getBoundingClientRect();
    return Math.hypot(x - left - width / 2, y - top - height / 2);
  }, body);
}

/** Returns where a point of the world is in pictures of the viewport. */
export async function inPicture(page, point) {
  return page.evaluate((point) => {
    const [x, y] = window.msd.viewport.toScreen(point);
    const { left, top } = document.querySelector("#viewport canvas").getBoundingClientRect();
    return [x - left, y - top];
  }, point);
}
