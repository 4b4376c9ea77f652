// Tests of the page in a real browser, operated like a user would: the screen must show the simulated state.
// `cargo test` runs them; to run them by hand: MSD=../target/debug/msd node --test tests/*.test.mjs

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ready, run } from "../tools/launch.mjs";
import { countDifferingPixels, DESKTOP, drawnPositions, folder, PHONE, picture, record, visit, waitForStep } from "./harness.mjs";

const SLOPE = `
version = 1
[world]
duration = 1.0
[[body]]
name = "slope"
kind = "environment"
shape = { half_space = { normal = [0.5, 0, 0.8660254037844386] } }
material = { friction = 0.7 }
[[body]]
name = "box"
kind = "inertial"
shape = { cuboid = { half_extents = [0.5, 0.5, 0.5] } }
orientation = { axis = [0, 1, 0], angle_deg = 30 }
position = [0.25, 0, 0.4330127018922193]
mass = 2
material = { friction = 0.7 }
`;

test("a recording plays, and bodies are drawn at their recorded positions", async () => {
  const { file, steps } = record("bouncing", "duration=2.0");
  const { page, complaints } = await visit([file]);
  await ready(page);
  await waitForStep(page, 0);
  const start = await picture(page);
  assert.equal(await countDifferingPixels(page, start, await picture(page)), 0, "nothing moves before playback starts");

  await page.getByRole("button", { name: "Play", exact: true }).click();
  await page.waitForFunction(() => window.msd.model.frame.value.step > 20);
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  const step = await page.evaluate(() => window.msd.model.frame.value.step);
  const later = await picture(page);
  assert.ok((await countDifferingPixels(page, start, later)) > 200, "bodies moved on the screen");

  for (const wanted of [step, 0, 37, 120]) {
    await page.evaluate((wanted) => window.msd.player.seek(wanted), wanted);
    await waitForStep(page, wanted);
    await picture(page);
    const positions = await drawnPositions(page);
    for (const [name, position] of steps.get(wanted)) {
      // The GPU computes in single precision: its input is the nearest single-precision number.
      assert.deepEqual(positions.get(name), position.map(Math.fround), `${name} at step ${wanted}`);
    }
  }
  assert.deepEqual(complaints, []);
});

test("the inspector stores a body's numbers with all digits", async () => {
  const { file, steps } = record("bouncing", "duration=1.0");
  const { page, complaints } = await visit([file]);
  await ready(page);
  const name = [...steps.get(30).keys()].at(-1);
  await page.locator("#body-search").fill(name);
  await page.keyboard.press("Enter");
  await page.locator("#body-name").getByText(name, { exact: true }).waitFor();
  await page.evaluate(() => window.msd.player.seek(30));
  await waitForStep(page, 30);
  for (const [axis, value] of ["x", "y", "z"].map((axis, index) => [axis, steps.get(30).get(name)[index]])) {
    await page.locator(`#body-position-${axis}[data-value="${value}"]`).waitFor();
  }
  assert.deepEqual(complaints, []);
});

// The box on the slope is turned by 30 degrees about y: its quaternion is (0, sin 15, 0, cos 15).
test("the inspector shows an orientation as an angle about an axis and as a quaternion", async () => {
  writeFileSync(join(folder, "slope.toml"), SLOPE);
  run(folder, "run", "slope.toml", "--quiet", "--no-report");
  const { page, complaints } = await visit(["runs/slope.mcap"]);
  await ready(page);
  await page.evaluate(() => (window.msd.model.selection.value = { kind: "body", body: 1 }));
  await page.locator("#body-angle[data-value]").waitFor();
  const read = async (id) => Number(await page.locator(`#body-${id}`).getAttribute("data-value"));
  const near = (value, expected) => assert.ok(Math.abs(value - expected) < 1e-9, `${value}, expected ${expected}`);
  near(await read("angle"), 30);
  for (const [axis, value] of [["x", 0], ["y", 1], ["z", 0]]) near(await read(`axis-${axis}`), value);
  const [sin, cos] = [Math.sin(Math.PI / 12), Math.cos(Math.PI / 12)];
  for (const [axis, value] of [["x", 0], ["y", sin], ["z", 0], ["w", cos]]) near(await read(`orientation-${axis}`), value);
  assert.deepEqual(complaints, []);
});

// Ten cubes of 1 kg: the floor supports their weight, 98.1 N, at the four corners of the lowest. Statics does not
// determine how the corners share the load and which friction they exert, but friction must be within the cone.
test("a click on a contact explains it, and the floor supports the tower", async () => {
  const { file } = record("tower", "duration=1.0");
  const { page, complaints } = await visit([file]);
  await ready(page);
  await page.evaluate(() => window.msd.player.seek(60));
  await waitForStep(page, 60);
  await page.getByRole("switch", { name: "Contact points" }).check();
  await page.getByRole("switch", { name: "Contact normals" }).check();
  await picture(page);
  const contacts = await page.evaluate(() => window.msd.viewport.drawnContacts());
  const mine = contacts.filter((contact) => contact.a === 0 && contact.b === 1);
  assert.equal(mine.length, 4, "the lowest cube has four contact points with the floor");
  // The one nearest to the camera: lowest on the screen.
  const [x, y] = mine.map((contact) => contact.screen).reduce((a, b) => (a[1] > b[1] ? a : b));
  await page.mouse.click(x, y);
  await page.locator("#contact-bodies").getByText("floor and cube[0,0,0]").waitFor();
  const read = async (id) => Number(await page.locator(`#contact-${id}`).getAttribute("data-value"));
  assert.equal(await read("normal-z"), 1);
  const forces = [];
  for (let point = 0; point < 4; point++) {
    forces.push(await read("normal-force"));
    assert.ok((await read("cone-use")) < 1, "it does not slide");
    assert.ok((await read("residual")) < 1e-9);
    assert.ok(Math.abs(await read("depth")) < 1e-6);
    assert.equal(await read("approach"), 0);
    await page.getByRole("button", { name: "Next point of this pair" }).click();
    await picture(page);
  }
  const sum = forces.reduce((a, b) => a + b);
  assert.ok(Math.abs(sum - 98.1) < 1e-6, `${forces} N`);
  assert.deepEqual(complaints, []);
});

// Balls that fall h = 2 m hit the floor at sqrt(2 g h) = 6.26 m/s and rebound with the restitution in their names.
test("an impact is explained with its speed and its restitution", async () => {
  const { file } = record("bouncing", "duration=1.0");
  const { page, complaints } = await visit([file]);
  await ready(page);
  let explained = 0;
  for (let step = 30; step < 50; step++) {
    await page.evaluate((step) => window.msd.player.seek(step), step);
    await waitForStep(page, step);
    const hits = await page.evaluate(() => {
      const { frame, bodies } = window.msd.model;
      const { pairCount, pairA, pairB, pairFirst, pairPoints, pointApproach } = frame.value;
      const found = [];
      for (let pair = 0; pair < pairCount; pair++) {
        if (pairPoints[pair] > 0 && pointApproach[pairFirst[pair]] > 0) {
          found.push({ a: pairA[pair], b: pairB[pair], name: bodies.value[pairB[pair]].name });
        }
      }
      return found;
    });
    for (const { a, b, name } of hits) {
      await page.evaluate(([a, b]) => (window.msd.model.selection.value = { kind: "contact", a, b, point: 0 }), [a, b]);
      await page.locator("#contact-bodies").getByText(name, { exact: false }).waitFor();
      await picture(page);
      const read = async (id) => Number(await page.locator(`#contact-${id}`).getAttribute("data-value"));
      assert.ok(Math.abs((await read("approach")) - 6.26) < 0.1, `${await read("approach")} m/s`);
      assert.equal(await read("restitution"), Number(name.replace("e = ", "")));
      assert.match(await page.locator("#contact-section").innerText(), /surfaces collided in this step/);
      explained++;
    }
  }
  assert.ok(explained > 0, "the recording has impacts");
  assert.deepEqual(complaints, []);
});

// A box of 2 kg at rest on a slope of 30 degrees with friction 0.7: the normal force is m g cos 30 = 16.99 N and
// friction is m g sin 30 = 9.81 N, 0.825 of its limit. Single corners may be at their limit, but none slides.
test("a box at rest on a slope is not reported as sliding", async () => {
  writeFileSync(join(folder, "slope.toml"), SLOPE);
  run(folder, "run", "slope.toml", "--quiet", "--no-report");
  const { page, complaints } = await visit(["runs/slope.mcap"]);
  await ready(page);
  await page.evaluate(() => {
    window.msd.player.seek(60);
    window.msd.model.selection.value = { kind: "contact", a: 0, b: 1, point: 0 };
  });
  await waitForStep(page, 60);
  await picture(page);
  const read = async (id) => Number(await page.locator(`#contact-${id}`).getAttribute("data-value"));
  let push = 0;
  for (let point = 0; point < 4; point++) {
    push += await read("normal-force");
    assert.ok((await read("sliding")) < 1e-9);
    assert.match(await page.locator("#contact-state").innerText(), /sticks|holds/);
    await page.getByRole("button", { name: "Next point of this pair" }).click();
    await picture(page);
  }
  assert.ok(Math.abs(push - 2 * 9.81 * Math.cos(Math.PI / 6)) < 1e-6, `${push} N`);
  assert.deepEqual(complaints, []);
});

test("a click on a chart moves the chart, the timeline and the scene to that time", async () => {
  const { file } = record("bouncing", "duration=2.0");
  const { page, complaints } = await visit([file]);
  await ready(page);
  await page.keyboard.press("c");
  const chart = page.locator("#chart-energy .u-over");
  await chart.waitFor();
  await page.waitForFunction(() => window.msd.model.series.value.length === 120);
  await picture(page);
  const { x, y, width, height } = await chart.boundingBox();
  await page.mouse.click(x + width / 2, y + height / 2);
  await page.waitForFunction(() => Math.abs(window.msd.model.frame.value.step - 60) < 5);
  const step = await page.evaluate(() => window.msd.model.frame.value.step);
  assert.equal(Number(await page.locator("#timeline").getAttribute("aria-valuenow")), step);
  await picture(page);
  // The legend shows the energies at the cursor: kinetic and potential add up to the total.
  const value = async (line) =>
    Number(await page.locator(`#chart-energy .legend-value[data-line="${line}"]`).getAttribute("data-value"));
  const [kinetic, potential, total] = [await value("kinetic"), await value("potential"), await value("total")];
  assert.ok(kinetic > 0 && Math.abs(kinetic + potential - total) < 1e-9 * Math.abs(total));
  assert.deepEqual(complaints, []);
});

test("the accuracy is chosen in the panel and acts at once", async () => {
  const { page, complaints } = await visit(["tower", "--accuracy", "fast"]);
  await ready(page);
  const accuracy = page.locator("#accuracy");
  await page.waitForFunction(() => document.querySelector("#accuracy").value === "fast");
  assert.deepEqual(await accuracy.locator("option").allTextContents(), ["fast", "balanced", "exact"]);
  await accuracy.selectOption("exact");
  await page.waitForFunction(() => window.msd.model.status.value?.settings.accuracy === "exact");
  assert.deepEqual(complaints, []);
});

test("a live scene runs, pauses, steps and accepts a thrown box", async () => {
  const { page, complaints } = await visit(["tower"]);
  await ready(page);
  const step = () => page.evaluate(() => window.msd.model.status.value?.last_step);
  await page.waitForFunction(() => window.msd.model.frame.value?.step > 3);
  const before = await picture(page);

  await page.getByRole("button", { name: "Throw", exact: true }).click();
  const canvas = await page.locator("#viewport canvas").boundingBox();
  await page.mouse.click(canvas.x + canvas.width / 2, canvas.y + canvas.height / 2);
  await page.waitForFunction(() => window.msd.model.bodies.value.length === 12);
  await page.waitForFunction(() => window.msd.model.frame.value.bodyCount === 12);
  const thrown = await page.evaluate(() => [...window.msd.model.frame.value.position.slice(33, 36)]);
  await page.waitForFunction(([x, y, z]) => {
    // Null until the box is drawn for the first time.
    const drawn = window.msd.viewport.drawnPosition(11);
    return drawn && Math.hypot(drawn[0] - x, drawn[1] - y, drawn[2] - z) > 1;
  }, thrown);
  assert.ok((await countDifferingPixels(page, before, await picture(page))) > 200, "the box is visible");
  await page.locator("#body-search").fill("thrown");
  await page.keyboard.press("Enter");
  await page.locator("#body-name").getByText("thrown 1").waitFor();

  await page.getByRole("button", { name: "Pause", exact: true }).first().click();
  await page.waitForFunction(() => window.msd.model.status.value?.running === false);
  const paused = await step();
  await page.getByRole("button", { name: "Step forward" }).click();
  await page.waitForFunction((paused) => window.msd.model.status.value?.last_step === paused + 1, paused);

  // A box thrown while paused appears at once.
  await page.mouse.click(canvas.x + canvas.width / 3, canvas.y + canvas.height / 2);
  await page.waitForFunction(() => window.msd.viewport.drawnPosition(12) !== null);
  assert.equal(await page.evaluate(() => window.msd.model.frame.value.step), paused + 1);

  await page.getByRole("button", { name: "Moon", exact: true }).click();
  await page.waitForFunction(() => Math.abs(window.msd.model.status.value?.settings.gravity[2] + 1.62) < 0.01);
  await page.getByRole("button", { name: "Reset", exact: true }).click();
  await page.waitForFunction(() => window.msd.model.bodies.value.length === 11 && window.msd.model.frame.value?.step === 0);
  assert.deepEqual(complaints, []);
});

test("a body can be pulled", async () => {
  const { page, complaints } = await visit(["tower"]);
  await ready(page);
  await page.getByRole("button", { name: "Pull", exact: true }).click();
  const [x, y] = await page.evaluate(() => {
    const { model, viewport } = window.msd;
    const row = model.frame.value.rowOf(10);
    return viewport.toScreen([...model.frame.value.position.slice(3 * row, 3 * row + 3)]);
  });
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let move = 1; move <= 10; move++) await page.mouse.move(x + 15 * move, y, { steps: 2 });
  await page.waitForFunction(() => {
    const { frame } = window.msd.model;
    const row = frame.value.rowOf(10);
    return Math.hypot(frame.value.position[3 * row], frame.value.position[3 * row + 1]) > 0.5;
  });
  await page.mouse.up();
  assert.deepEqual(complaints, []);
});

test("the chart of the energy ledger has a value for each of its terms, by its name", async () => {
  const { file } = record("bouncing", "duration=0.5");
  const { page, complaints } = await visit([file]);
  await ready(page);
  await page.keyboard.press("c");
  await page.locator("#chart-ledger .u-over").waitFor();
  await page.waitForFunction(() => window.msd.model.series.value.length === 30);
  await page.evaluate(() => window.msd.player.seek(20));
  await waitForStep(page, 20);
  await picture(page);
  const shown = await page.locator("#chart-ledger .legend-item:visible .legend-value").evaluateAll((values) =>
    values.map((value) => [value.dataset.line, value.textContent]),
  );
  assert.deepEqual(shown.map(([line]) => line), [
    "normal impulses", "friction", "joints", "position correction", "damping", "applied forces", "moving environment", "integration",
  ]);
  for (const [line, value] of shown) assert.match(value, /\d/, `${line}: ${value}`);
  assert.deepEqual(complaints, []);
});

test("the keyboard plays, steps, opens help and charts", async () => {
  const { file } = record("dominoes", "duration=1.0");
  const { page, complaints } = await visit([file]);
  await ready(page);
  await page.keyboard.press("ArrowRight");
  await waitForStep(page, 1);
  await page.keyboard.press("End");
  await waitForStep(page, 60);
  await page.keyboard.press("Home");
  await waitForStep(page, 0);
  await page.keyboard.press(" ");
  await page.waitForFunction(() => window.msd.model.frame.value.step > 2);
  await page.keyboard.press(" ");
  assert.equal(await page.evaluate(() => window.msd.model.playing.value), false);
  await page.keyboard.press("l");
  const marks = await page.evaluate(() => window.msd.model.marks.value.map((mark) => mark.step));
  assert.ok(marks.length > 3, "impacts have marks");
  const cursor = await page.evaluate(() => window.msd.model.cursor.value);
  assert.ok(marks.includes(cursor), "L moves to an event");
  await page.keyboard.press("?");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "hidden" });
  await page.keyboard.press("c");
  await page.locator(".uplot canvas").first().waitFor();
  assert.deepEqual(complaints, []);
});

test("the gallery shows every scene with its picture and opens one", async () => {
  const { page, complaints } = await visit([], { path: "gallery.html" });
  await page.waitForFunction(() => document.querySelectorAll("a img").length === 21);
  await page.waitForFunction(() =>
    [...document.querySelectorAll("a img")].every((image) => image.complete || image.loading === "lazy"),
  );
  const missing = await page.evaluate(async () => {
    const images = [...document.querySelectorAll("a img")];
    images.forEach((image) => (image.loading = "eager"));
    await Promise.all(images.map((image) => image.decode().catch(() => {})));
    return images.filter((image) => image.naturalWidth !== 640).map((image) => image.src);
  });
  assert.deepEqual(missing, []);
  await page.getByRole("link", { name: /cradle/i }).first().click();
  await page.waitForFunction(() => window.msd?.model.hello.value?.name === "cradle");
  await page.waitForFunction(() => window.msd.model.frame.value?.step > 1);
  assert.ok(!page.url().includes("scene="), "reloading the page does not restart the scene");
  assert.deepEqual(complaints, []);
});

for (const [name, viewport] of [["a desktop", DESKTOP], ["a phone", PHONE]]) {
  test(`all controls have names and fit the page on ${name}`, async () => {
    const { page, complaints } = await visit(["tower"], { viewport, touch: viewport === PHONE });
    await ready(page);
    const found = await page.evaluate(() => {
      const visible = (element) => element.checkVisibility();
      const controls = [...document.querySelectorAll("button, a, input, select, [role=slider]")].filter(visible);
      const nameOf = (element) =>
        element.getAttribute("aria-label") || element.textContent?.trim() || element.labels?.[0]?.textContent?.trim() || element.title;
      return {
        count: controls.length,
        nameless: controls.filter((element) => !nameOf(element)).map((element) => element.outerHTML.slice(0, 120)),
        overflow: document.documentElement.scrollWidth - innerWidth,
        viewport: document.querySelector("#viewport canvas").getBoundingClientRect().height / innerHeight,
      };
    });
    assert.ok(found.count > 8);
    assert.deepEqual(found.nameless, []);
    assert.ok(found.overflow <= 0, "nothing overflows");
    assert.ok(found.viewport > 0.4, `the viewport has ${found.viewport} of the height`);
    assert.deepEqual(complaints, []);
  });
}

test("a recording of every tenth step plays, steps and seeks by recorded steps", async () => {
  run(folder, "run", "bouncing", "--quiet", "--no-report", "--set", "steps=95", "--record-every", "10", "--record", "contacts=off");
  const { page, complaints } = await visit(["runs/bouncing.mcap"]);
  await ready(page);
  await waitForStep(page, 0);
  assert.equal(await page.locator("#mode").innerText(), "replay, every 10 steps, no contacts");
  for (const [key, step] of [["ArrowRight", 10], ["ArrowRight", 20], ["End", 95], ["ArrowLeft", 90], ["ArrowRight", 95], ["Home", 0]]) {
    await page.keyboard.press(key);
    await waitForStep(page, step);
  }
  for (const [wanted, step] of [[14, 10], [16, 20], [92, 90], [94, 95]]) {
    await page.evaluate((wanted) => window.msd.player.seek(wanted), wanted);
    await waitForStep(page, step);
  }
  await page.keyboard.press("Home");
  await page.keyboard.press(" ");
  await waitForStep(page, 95);
  assert.deepEqual(complaints, []);
});

// The ring's minimum diameter is 26 pixels and its hole half of that: an area of 3/4 pi 13^2 = 398. A sixth of it is
// allowed for soft edges and for pixels that already have its colors.
test("a selected contact is clearly visible", async () => {
  const { file } = record("tower", "duration=0.2");
  const { page, complaints } = await visit([file]);
  await ready(page);
  await page.keyboard.press("End");
  await waitForStep(page, 12);
  await page.getByRole("switch", { name: "Contact points" }).check();
  const before = await picture(page);
  await page.evaluate(() => (window.msd.model.selection.value = { kind: "contact", a: 0, b: 1, point: 0 }));
  const ringed = await countDifferingPixels(page, before, await picture(page));
  assert.ok(ringed > 330, `${ringed} pixels differ`);
  assert.deepEqual(complaints, []);
});

test("on a phone, tapping near a contact explains it", async () => {
  const { file } = record("tower", "duration=0.2");
  const { page, complaints } = await visit([file], { viewport: PHONE, touch: true });
  await ready(page);
  await page.evaluate(() => window.msd.player.seek(12));
  await waitForStep(page, 12);
  await page.locator("#tab-view").tap();
  await page.getByRole("switch", { name: "Contact points" }).check();
  await page.locator("#tab-view").tap();
  await picture(page);
  const contacts = await page.evaluate(() => window.msd.viewport.drawnContacts());
  const [x, y] = contacts.filter(({ a }) => a === 0).map(({ screen }) => screen).reduce((a, b) => (a[1] > b[1] ? a : b));
  await page.touchscreen.tap(x + 9, y + 12);
  await page.locator("#contact-bodies").getByText("floor and cube[0,0,0]").waitFor();
  const sheet = await page.locator("#right").boundingBox();
  const title = await page.locator("#contact-bodies").boundingBox();
  assert.ok(title.y > sheet.y && title.y + title.height < sheet.y + sheet.height, "the explanation is on the screen");
  // A tap far away from all contacts does not select one.
  const canvas = await page.locator("#viewport canvas").boundingBox();
  await page.touchscreen.tap(canvas.x + 15, canvas.y + 15);
  await page.waitForFunction(() => window.msd.model.selection.value?.kind !== "contact");
  assert.deepEqual(complaints, []);
});

test("on a phone, every tab shows only its own section, scrolled to the top", async () => {
  const { page, complaints } = await visit(["tower"], { viewport: PHONE, touch: true });
  await ready(page);
  for (const tab of ["bodies", "view", "inspect", "live", "events", "checks"]) {
    await page.locator(`#tab-${tab}`).tap();
    const found = await page.evaluate(() => {
      const sections = [...document.querySelectorAll(".side .section")].filter((section) => section.checkVisibility());
      const side = sections[0].closest(".side");
      return {
        tabs: [...new Set(sections.map((section) => section.dataset.tab))],
        top: sections[0].getBoundingClientRect().top - side.getBoundingClientRect().top,
      };
    });
    assert.deepEqual(found.tabs, [tab]);
    // Only the sheet's border is above it.
    assert.ok(found.top >= 0 && found.top <= 2, `${tab} starts ${found.top} pixels below the top`);
  }
  assert.deepEqual(complaints, []);
});

for (const width of [320, PHONE.width]) {
  test(`the hint of the throw tool fits a phone ${width} pixels wide`, async () => {
    const { page, complaints } = await visit(["tower"], { viewport: { width, height: 640 }, touch: true });
    await ready(page);
    await page.locator("#tab-live").tap();
    await page.getByRole("button", { name: "Throw", exact: true }).tap();
    const done = page.locator("#tool-hint .link");
    await done.waitFor();
    const hint = await page.locator("#tool-hint").boundingBox();
    assert.ok(hint.x >= 0 && hint.x + hint.width <= width, "the hint fits the screen");
    const lines = await done.evaluate((link) => {
      const range = document.createRange();
      range.selectNodeContents(link);
      return range.getClientRects().length;
    });
    assert.equal(lines, 1, "the button's text is on one line");
    await done.tap();
    await page.locator("#tool-hint").waitFor({ state: "hidden" });
    assert.deepEqual(complaints, []);
  });
}
