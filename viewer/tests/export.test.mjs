// The export of pictures and videos.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { crc32 } from "node:zlib";
import { ready, run } from "../tools/launch.mjs";
import { countDifferingPixels, folder, picture, record, visit, waitForStep } from "./harness.mjs";

/** Small, because every frame is drawn in software. */
const SMALL = { width: 1000, height: 520 };

/** Clicks a button and returns the name and the content of the file that it downloads. */
async function downloaded(page, button) {
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator(button).click()]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

/** Saves a picture of a step. */
async function pictureOf(page, step) {
  await page.evaluate((step) => window.msd.player.seek(step), step);
  await waitForStep(page, step);
  return downloaded(page, "#save-picture");
}

/** Chooses the steps of a video. */
async function choose(page, from, to) {
  await page.locator("#film-from").fill(String(from));
  await page.locator("#film-to").fill(String(to));
}

/** Plays a video in a page of its own: returns its length, and its frames at these times as pictures. */
async function play(page, bytes, times) {
  const player = await page.context().browser().newPage();
  await player.setContent("<video muted></video>");
  const found = await player.evaluate(
    async ([base64, times]) => {
      const video = document.querySelector("video");
      video.src = `data:video/webm;base64,${base64}`;
      await new Promise((done, fail) => {
        video.onloadeddata = done;
        video.onerror = () => fail(new Error(video.error.message));
      });
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
      const frames = [];
      for (const time of times) {
        video.currentTime = time;
        await new Promise((done) => (video.onseeked = done));
        canvas.getContext("2d").drawImage(video, 0, 0);
        frames.push(canvas.toDataURL("image/png").split(",")[1]);
      }
      return { duration: video.duration, width: canvas.width, height: canvas.height, frames };
    },
    [bytes.toString("base64"), times],
  );
  await player.close();
  return { ...found, frames: found.frames.map((frame) => Buffer.from(frame, "base64")) };
}

/** Returns the width and height of a PNG. */
const sizeOfPng = (bytes) => [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];

/** Returns the size of the view. */
async function viewSize(page) {
  const { width, height } = await page.locator("#viewport canvas").boundingBox();
  return [width, height];
}

test("a button and a key save the view as a picture", async () => {
  const { file } = record("bouncing", "duration=1.0");
  const { page, complaints } = await visit([file], { viewport: SMALL });
  await ready(page);
  await page.getByRole("switch", { name: "Names" }).check();
  const start = await pictureOf(page, 0);
  const later = await pictureOf(page, 30);
  assert.deepEqual([start.name, later.name], ["bouncing-0.png", "bouncing-30.png"]);
  assert.deepEqual(sizeOfPng(later.bytes), await viewSize(page));
  const moved = await countDifferingPixels(page, start.bytes, later.bytes);
  // Letters and edges are smoothed otherwise than on the screen.
  const other = await countDifferingPixels(page, later.bytes, await picture(page));
  assert.ok(moved > 3000 && other < moved / 3, `${moved} pixels have moved, ${other} differ from the screen`);
  const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("s")]);
  assert.equal(download.suggestedFilename(), "bouncing-30.png");
  assert.deepEqual(complaints, []);
});

// At 60 steps per second and 30 frames per second, the steps 0, 2, ..., 20 are shown for 1/30 s each.
test("the video of a recording shows each step at its time", async () => {
  const { file } = record("bouncing", "duration=1.0");
  const { page, complaints } = await visit([file], { viewport: SMALL });
  await ready(page);
  const start = await pictureOf(page, 0);
  const end = await pictureOf(page, 20);
  await page.evaluate(() => window.msd.player.seek(7));
  await waitForStep(page, 7);
  await choose(page, 0, 20);
  const { name, bytes } = await downloaded(page, "#save-film");
  assert.equal(name, "bouncing-0-20.webm");
  await waitForStep(page, 7);
  const video = await play(page, bytes, [0.01, 0.35]);
  assert.ok(Math.abs(video.duration - 11 / 30) < 0.002, `${video.duration} s`);
  assert.deepEqual([video.width, video.height], await viewSize(page));
  const moved = await countDifferingPixels(page, start.bytes, end.bytes);
  for (const [frame, same, other] of [[video.frames[0], start, end], [video.frames[1], end, start]]) {
    const [near, far] = [await countDifferingPixels(page, frame, same.bytes), await countDifferingPixels(page, frame, other.bytes)];
    assert.ok(near < 0.2 * moved && far > 0.8 * moved, `${near} and ${far} pixels differ, ${moved} have moved`);
  }
  // At half the speed, it is twice as long, and has all steps.
  await page.locator("#speed").selectOption("0.5");
  await choose(page, 10, 13);
  const slow = await play(page, (await downloaded(page, "#save-film")).bytes, []);
  assert.ok(Math.abs(slow.duration - 4 / 30) < 0.002, `${slow.duration} s`);
  assert.deepEqual(complaints, []);
});

test("the video of a live run shows the steps in memory, and the run goes on", async () => {
  const { page, complaints } = await visit(["tower"], { viewport: SMALL });
  await ready(page);
  await page.waitForFunction(() => window.msd.model.frame.value.step > 12);
  await choose(page, 2, 8);
  const { name, bytes } = await downloaded(page, "#save-film");
  assert.equal(name, "tower-2-8.webm");
  const { duration } = await play(page, bytes, []);
  assert.ok(Math.abs(duration - 4 / 30) < 0.002, `${duration} s`);
  await page.waitForFunction(() => window.msd.model.status.value.running && window.msd.model.atEnd.value);
  assert.deepEqual(complaints, []);
});

test("without an encoder, the frames of a span are saved as pictures in an archive", async () => {
  const { file } = record("bouncing", "duration=0.5");
  const { page, complaints } = await visit([file], { viewport: SMALL, init: () => delete window.VideoEncoder });
  await ready(page);
  await choose(page, 0, 5);
  const { name, bytes } = await downloaded(page, "#save-film");
  assert.equal(name, "bouncing-0-5.zip");
  const files = unzip(bytes);
  assert.deepEqual([...files.keys()], ["frame-00001.png", "frame-00002.png", "frame-00003.png", "frame-00004.png"]);
  const [width, height] = await viewSize(page);
  for (const content of files.values()) assert.deepEqual(sizeOfPng(content), [width, height]);
  const shot = await pictureOf(page, 5);
  assert.equal(await countDifferingPixels(page, files.get("frame-00004.png"), shot.bytes), 0);
  assert.deepEqual(complaints, []);
});

test("a video of a recording of every tenth step shows each recorded step once", async () => {
  run(folder, "run", "bouncing", "--quiet", "--no-report", "--record-every", "10", "--set", "steps=30", "--out", "tenth");
  const { page } = await visit(["tenth/bouncing.mcap"], { viewport: SMALL, init: () => delete window.VideoEncoder });
  await ready(page);
  await choose(page, 0, 14);
  const { bytes } = await downloaded(page, "#save-film");
  assert.deepEqual([...unzip(bytes).keys()], ["frame-00001.png", "frame-00002.png"]);
});

test("a run that is reset while it is filmed stays as the reset left it", async () => {
  const { page } = await visit(["tower"], { viewport: SMALL });
  await ready(page);
  await page.waitForFunction(() => window.msd.model.frame.value.step > 60);
  await choose(page, 0, 60);
  await page.locator("#save-film").click();
  await page.waitForFunction(() => /^Stop [1-9]/.test(document.querySelector("#save-film").textContent));
  await page.evaluate(() => window.msd.model.send({ do: "reset" }));
  await page.waitForFunction(() => document.querySelector("#save-film").textContent === "Video");
  await page.waitForTimeout(500);
  const { running, last_step } = await page.evaluate(() => window.msd.model.status.value);
  assert.deepEqual([running, last_step], [false, 0]);
});

/** Reads an archive by its directory and compares the checksums. */
function unzip(bytes) {
  const end = bytes.length - 22;
  assert.equal(bytes.readUInt32LE(end), 0x06054b50);
  const files = new Map();
  let at = bytes.readUInt32LE(end + 16);
  for (let k = 0; k < bytes.readUInt16LE(end + 10); k++) {
    assert.equal(bytes.readUInt32LE(at), 0x02014b50);
    const [crc, size, length, local] = [16, 24, 28, 42].map((field) =>
      field === 28 ? bytes.readUInt16LE(at + field) : bytes.readUInt32LE(at + field),
    );
    const name = bytes.toString("ascii", at + 46, at + 46 + length);
    assert.equal(bytes.readUInt32LE(local), 0x04034b50);
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const content = bytes.subarray(start, start + size);
    assert.equal(crc32(content), crc, name);
    files.set(name, content);
    at += 46 + length;
  }
  assert.equal(at, end);
  return files;
}
