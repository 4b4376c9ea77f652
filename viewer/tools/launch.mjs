// Starts `msd view` and a browser for it; shared by tests, screenshots and measurements.

import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** Path of the `msd` command: the environment variable MSD, or the release build. */
export const msd = process.env.MSD ?? join(root, "target/release/msd");

const BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** Returns the path of Chromium, or null: the environment variable CHROMIUM, or the usual locations. */
export function findBrowser() {
  if (process.env.CHROMIUM) return process.env.CHROMIUM;
  const mac = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";
  if (existsSync(mac)) return mac;
  for (const name of BROWSERS) {
    for (const folder of (process.env.PATH ?? "").split(":")) {
      if (existsSync(join(folder, name))) return join(folder, name);
    }
  }
  return null;
}

/** Opens a headless browser that renders in software, so that it needs no GPU. */
export async function openBrowser() {
  return chromium.launch({
    executablePath: findBrowser(),
    args: [
      // Tests may run as root in a container, and they open only our own page.
      "--no-sandbox",
      "--use-angle=swiftshader",
      "--enable-unsafe-swiftshader",
      "--ignore-gpu-blocklist",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
    ],
  });
}

/** Runs the command in a folder and returns its output. */
export function run(folder, ...args) {
  const done = spawnSync(msd, args, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28 });
  if (done.status !== 0) throw new Error(`msd ${args.join(" ")}: ${done.stdout}${done.stderr}${done.error ?? ""}`);
  return done.stdout;
}

/** Serves a scene or a recording; returns the address and a function that stops the server. */
export async function serve(folder, ...args) {
  const child = spawn(msd, ["view", "--no-open", ...args], { cwd: folder });
  let errors = "";
  child.stderr.on("data", (data) => (errors += data));
  const address = await new Promise((resolve, reject) => {
    child.stdout.once("data", (data) => resolve(String(data).trim()));
    child.once("exit", () => reject(new Error(`msd view ${args.join(" ")}: ${errors}`)));
    child.once("error", reject);
  });
  return { address, stop: () => child.kill() };
}

/** Waits until the page has received a frame and the status. */
export async function ready(page) {
  await page.waitForFunction(() => window.msd?.model.frame.value && window.msd.model.status.value);
}
