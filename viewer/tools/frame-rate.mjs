// Measures the frame rate of the page with many bodies: `npm run frame-rate [BODIES...]`.
// Rendered in software, without a GPU: a lower bound for any machine that has one.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBrowser, ready, run, serve } from "./launch.mjs";

const SECONDS = 8;
const folder = mkdtempSync(join(tmpdir(), "msd-frame-rate-"));
const browser = await openBrowser();
try {
  const counts = process.argv.length > 2 ? process.argv.slice(2).map(Number) : [100, 1000, 10000];
  for (const count of counts) {
    for (const shape of ["cuboid = { half_extents = [0.3, 0.3, 0.3] }", "sphere = { radius = 0.3 }"]) {
      console.log(await measure(count, shape));
    }
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true });
}

/** Replays bodies that tumble in a grid without touching, in a loop. Counts rendered frames in which all bodies have
 * moved. */
async function measure(count, shape) {
  const side = Math.ceil(Math.cbrt(count));
  writeFileSync(
    join(folder, "many.toml"),
    `version = 1
[world]
gravity = [0, 0, 0]
steps = 120
[[body]]
name = "many"
kind = "inertial"
shape = { ${shape} }
mass = 1.0
velocity = [0.5, 0.2, 0]
angular_velocity = [1, 2, 3]
array = { count = [${side}, ${side}, ${Math.ceil(count / (side * side))}], spacing = [1.5, 1.5, 1.5] }
`,
  );
  run(folder, "run", "many.toml", "--quiet", "--no-report");
  const server = await serve(folder, "runs/many.mcap");
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 }, deviceScaleFactor: 1 });
  page.setDefaultTimeout(120_000);
  await page.goto(server.address);
  await ready(page);
  const found = await page.evaluate(async (seconds) => {
    const { model, player } = window.msd;
    model.loop.value = true;
    player.toggle();
    let frames = 0;
    let last = model.frame.value;
    const start = performance.now();
    await new Promise((done) => {
      const count = () => {
        if (model.frame.value !== last) frames++;
        last = model.frame.value;
        if (performance.now() - start < 1000 * seconds) requestAnimationFrame(count);
        else done();
      };
      requestAnimationFrame(count);
    });
    const time = (performance.now() - start) / 1000;
    return { bodies: model.frame.value.bodyCount, frames: frames / time };
  }, SECONDS);
  await page.close();
  server.stop();
  const kind = shape.split(" ")[0];
  return `${found.bodies} ${kind}s: ${found.frames.toFixed(1)} frames/s`;
}
