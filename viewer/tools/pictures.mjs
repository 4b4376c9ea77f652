// Makes the pictures of the gallery and the README: `npm run pictures`, after `cargo build --release`.
// They are screenshots of the viewer, of recordings made for the purpose.

import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { openBrowser, ready, run, serve } from "./launch.mjs";

const viewer = join(dirname(fileURLToPath(import.meta.url)), "..");
const SIZE = { width: 640, height: 400 };

/** Time of the picture by scene, s; a third of the duration for other scenes. */
const MOMENTS = {
  arch: 1,
  billiards: 1.2,
  bouncing: 0.9,
  bricks: 1.6,
  bullet: 0.05,
  chain: 1.1,
  cradle: 0.35,
  dominoes: 2,
  furniture: 1,
  "hull-pile": 2.5,
  "ladder-slips": 1.4,
  "incline-race": 1,
};

const folder = mkdtempSync(join(tmpdir(), "msd-pictures-"));
const browser = await openBrowser();
try {
  const scenes = JSON.parse(run(folder, "scenes", "--json")).map((scene) => scene.name);
  mkdirSync(join(viewer, "public/pictures"), { recursive: true });
  for (const name of process.argv.length > 2 ? process.argv.slice(2) : scenes) {
    const target = join(viewer, `public/pictures/${name}.jpg`);
    await withRecording(name, async (page, steps, dt) => {
      const wanted = Math.min(Math.round((MOMENTS[name] ?? (steps * dt) / 3) / dt), steps);
      await show(page, wanted);
      const picture = await page.evaluate(({ width, height }) => window.msd.viewport.screenshot(width, height), SIZE);
      writeFileSync(target, Buffer.from(picture.split(",")[1], "base64"));
      console.log(`${target}: step ${wanted} of ${steps}`);
    });
  }
  if (process.argv.length === 2) await withRecording("bricks", readmePicture);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}

async function withRecording(name, work) {
  run(folder, "run", name, "--quiet", "--no-report");
  const server = await serve(folder, `runs/${name}.mcap`);
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, colorScheme: "light", deviceScaleFactor: 1 });
  await page.goto(server.address);
  await ready(page);
  const [steps, dt] = await page.evaluate(() => {
    const { status } = window.msd.model;
    return [status.value.last_step, status.value.settings.dt];
  });
  await work(page, steps, dt);
  await page.close();
  server.stop();
}

/** Shows a step and frames the whole scene at that time. */
async function show(page, step) {
  await page.evaluate((step) => window.msd.player.seek(step), step);
  await page.waitForFunction((step) => window.msd.model.frame.value?.step === step, step);
  await page.evaluate(() => window.msd.viewport.resetCamera());
  await page.waitForTimeout(500);
}

/** Takes a screenshot of the whole page: a falling wall with contacts and normals, one contact explained, charts. */
async function readmePicture(page, steps, dt) {
  await show(page, Math.min(Math.round(1.6 / dt), steps));
  await page.keyboard.press("c");
  await page.evaluate(() => {
    const { model } = window.msd;
    model.toggle("contacts");
    model.toggle("normals");
  });
  await page.waitForTimeout(1000);
  await page.evaluate(() => window.msd.viewport.resetCamera());
  await page.waitForTimeout(1000);
  const target = await page.evaluate(() => {
    const drawn = window.msd.viewport.drawnContacts();
    const [x, y] = [innerWidth / 2, innerHeight / 2];
    const distance = ({ screen }) => Math.hypot(screen[0] - x, screen[1] - y);
    return drawn.reduce((a, b) => (distance(a) < distance(b) ? a : b));
  });
  await page.evaluate(({ a, b, point }) => (window.msd.model.selection.value = { kind: "contact", a, b, point }), target);
  await page.waitForTimeout(2000);
  const file = join(viewer, "../docs/viewer.png");
  await page.screenshot({ path: file });
  console.log(file);
}
