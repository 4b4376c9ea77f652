// Starts `msd view` and a browser for it: what tests, pictures and measurements have in common.

import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

const root = join(dirname(fileURLToPath(import.meta.url)), "../..");

/** The command: the one that is named in MSD, else what cargo built. */
export const msd = process.env.MSD ?? join(root, "target/release/msd");

const BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** Where Chromium is, or null. CHROMIUM says so, else the usual places are looked at. */
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

/** A browser without a window that draws on the processor, so that it needs no graphics card. */
export async function openBrowser() {
  return chromium.launch({
    executablePath: findBrowser(),
    args: [
      // Tests run as whoever builds, which in a container is root, and open nothing but our own page.
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

/** Runs the command to its end in a folder and answers what it printed. */
export function run(folder, ...args) {
  const done = spawnSync(msd, args, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28 });
  if (done.status !== 0) throw new Error(`msd ${args.join(" ")}: ${done.stdout}${done.stderr}${done.error ?? ""}`);
  return done.stdout;
}

/** Serves a scene or a recording: the address, and how to end it. */
export async function serve(folder, ...args) {
  const child = spawn(msd, ["view", "--no-open", ...args], { cwd: folder });
  let said = "";
  child.stderr.on("data", (data) => (said += data));
  const address = await new Promise((resolve, reject) => {
    child.stdout.once("data", (data) => resolve(String(data).trim()));
    child.once("exit", () => reject(new Error(`msd view ${args.join(" ")}: ${said}`)));
    child.once("error", reject);
  });
  return { address, stop: () => child.kill() };
}

/** Waits until the page has drawn a frame and all that the server knows has arrived. */
export async function ready(page) {
  await page.waitForFunction(() => window.msd?.model.frame.value && window.msd.model.status.value);
}
