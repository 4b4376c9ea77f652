"use strict";
// The page: header, checks, charts, mouse and keyboard.

const data = JSON.parse(document.getElementById("data").textContent);
const PALETTE = 8, DASHES = [undefined, "7 3", "2 2.5", "9 3 2 3"], FIRST = 8;
const WORDS = { pass: "pass", skip: "skipped", warn: "warning", fail: "fail" };

/** Returns the sample times, or the sample indices if the times do not ascend. */
function axisTimes() {
  const rises = (v) => v.length > 0 && v.every((t, i) => finite(t) && (i === 0 || t >= v[i - 1]));
  return rises(data.time) ? data.time : data.time.map((_, i) => i);
}

const times = axisTimes();
const view = {
  t: times, a: 0, b: 1,
  events: data.events.filter((e) => finite(e.time)).sort((p, q) => p.time - q.time),
};
const whole = { a: times[0] ?? 0, b: times[times.length - 1] ?? 1 };
if (!(whole.b > whole.a)) { whole.a -= 0.5; whole.b += 0.5; }
Object.assign(view, whole);
const eventsAt = new Map();
for (const e of view.events) {
  const i = nearest(times, e.time);
  if (!eventsAt.has(i)) eventsAt.set(i, []);
  eventsAt.get(i).push(e);
}

const charts = [];
const state = { hover: null, pinned: null, brush: null, pointed: null };
let due = 0, redraw = false;

/** Requests one redraw at the next frame: of the crosshair, or of everything. */
function refresh(all) {
  redraw ||= all;
  due ||= requestAnimationFrame(paint);
}

function paint() {
  due = 0;
  if (redraw) for (const c of charts) c.stale = true;
  redraw = false;
  const pinned = times[state.pinned] >= view.a && times[state.pinned] <= view.b ? state.pinned : null;
  const at = state.hover ?? pinned;
  const shown = at ?? lastShown();
  for (const c of charts) {
    if (!c.visible) continue;
    if (c.stale) c.render();
    c.cursor(at, shown, state.brush);
    c.point(state.pointed?.chart === c ? at : null, state.pointed?.y);
  }
  showTime(at, shown);
}

/** Returns the last visible sample, which legends show without a crosshair. */
function lastShown() {
  const i = lowerBound(times, view.b + (view.b - view.a) * 1e-9) - 1;
  return Math.max(0, Math.min(times.length - 1, i));
}

/** Shows a time range of at least two samples. */
function zoom(a, b) {
  const lacking = Math.max(0, (2 * (whole.b - whole.a)) / Math.max(2, times.length - 1) - (b - a));
  view.a = Math.max(whole.a, a - lacking / 2);
  view.b = Math.min(whole.b, b + lacking / 2);
  refresh(true);
}

/** Pins the crosshair to a sample and scrolls to it. */
function pin(i) {
  state.hover = null;
  state.pinned = Math.max(0, Math.min(times.length - 1, i));
  const t = times[state.pinned], width = view.b - view.a;
  if (t < view.a || t > view.b) {
    const a = Math.min(Math.max(whole.a, t - width / 2), whole.b - width);
    zoom(a, a + width);
  }
  refresh(false);
}

/** A button with a step number that moves the crosshair to the step. */
function stepButton(step) {
  const b = el("button", { class: "step", type: "button", title: "Show this step in the charts" }, `step ${step}`);
  b.addEventListener("click", () => pin(nearest(data.step, step)));
  return times.length ? b : `step ${step}`;
}

function sign(verdict) {
  const d = { pass: "M2 8.5l4 4L14 3.5", warn: "M8 1.8L15 14H1zM8 6v4M8 11.6v1", fail: "M3 3l10 10M13 3L3 13" }[verdict] ?? "M3 8h10";
  return draw("svg", { class: "sign", viewBox: "0 0 16 16", "aria-hidden": "true" },
    draw("path", { d, fill: "none", stroke: "currentColor", "stroke-width": verdict === "warn" ? 1.5 : 2.2 }));
}

/** Title, verdict, checks and facts. */
function head() {
  const all = data.checks.length;
  const [worst, text] = all ? data.conclusion : ["none", "Nothing was checked."];
  const notes = el("ul", { class: "notes", "aria-label": "Notes" }, ...data.notes.map((note) => el("li", {}, note)));
  const urgency = ["fail", "warn", "pass", "skip"];
  const sorted = [...data.checks].sort((p, q) => urgency.indexOf(p.verdict) - urgency.indexOf(q.verdict));
  const rows = sorted.map((c) => el("tr", {},
    el("td", { class: `word ${c.verdict}` }, sign(c.verdict), ` ${WORDS[c.verdict] || c.verdict}`),
    el("th", { scope: "row" }, c.name), el("td", { class: "long" }, c.message),
    el("td", { class: "tight long" }, c.step === null ? "" : stepButton(c.step))));
  const table = el("table", { class: "checks" }, el("thead", {}, el("tr", {},
    ...["Verdict", "Check", "Result", "Step"].map((h) => el("th", { scope: "col" }, h)))), el("tbody", {}, ...rows));
  const facts = el("dl", {}, ...data.facts.flatMap(([k, v]) => [el("dt", {}, k), el("dd", {}, v)]));
  const checks = el("section", { class: "panel", "aria-label": "Checks" }, all ? table : "No checks.");
  document.getElementById("head").append(
    el("h1", {}, data.title), el("p", { class: "origin" }, [data.recording, data.engine].filter(Boolean).join(" \u00b7 ")),
    ...(data.description ? [el("p", { class: "about" }, data.description)] : []),
    ...(data.notes.length ? [notes] : []),
    el("div", { class: `verdict ${worst}`, role: "status" }, sign(worst), text),
    el("div", { class: "two" }, checks, el("section", { class: "panel", "aria-label": "Facts" }, facts)));
}

/** The bar: time under the crosshair, reset, theme. */
const when = el("div", { id: "when" });
const resetButton = el("button", { type: "button", title: "Show the whole run (double-click a chart)" }, "Whole run");
function bar() {
  const theme = el("button", { type: "button" });
  const root = document.documentElement;
  const dark = () => (root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const name = () => (theme.textContent = dark() ? "Light" : "Dark");
  const asked = location.hash.slice(1);
  if (asked === "dark" || asked === "light") root.dataset.theme = asked;
  theme.title = "Change between light and dark";
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; name(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  name();
  resetButton.addEventListener("click", () => zoom(whole.a, whole.b));
  document.getElementById("bar").append(when, ...(times.length ? [resetButton] : []), theme);
}

function showTime(at, shown) {
  const step = data.step[shown];
  const place = `${format(data.time[shown], "s", 5)}, step ${step ?? "\u2013"}`;
  const events = (eventsAt.get(at) || []).map((e) => e.text);
  let note = events.slice(0, 2).join("; ") + (events.length > 2 ? `; ${events.length - 2} more` : "");
  const zoomed = view.a > whole.a || view.b < whole.b;
  if (at === null) note = zoomed ? "end of the visible range" : "end of the run";
  when.replaceChildren(el("p", {}, el("b", {}, place), el("span", { class: "said" }, note)));
  resetButton.disabled = !zoomed;
}

/** The energy ledger as a stack of held and dissipated energy, and the line that it must reach. */
function energyChart() {
  const E = data.energy;
  const spread = (values) => { const known = values.filter(finite); return known.length ? Math.max(...known) - Math.min(...known) : 0; };
  // Nothing moves and nothing falls.
  if (E.kinetic.some(finite) && Math.max(largest(E.kinetic), spread(E.potential)) <= data.rounding.energy) return void leftOut.zero.push("energy in motion");
  const terms = [
    ["normal_impulses", "normal impulses", 1], ["friction", "friction", 5], ["damping", "damping", 3], ["joints", "joints", 2],
    ["position_correction", "position correction", 6], ["integration", "integration", 8], ["applied_forces", "applied forces", 9], ["moving_environment", "moving environment", 7],
    ["unsplit", "contacts, joints and errors", 2],
  ].filter(([key]) => E[key].some(finite)).map(([key, name, c]) => ({ name, color: `var(--c${c})`, work: E[key], largest: E[key].reduce((m, v) => Math.max(m, Math.abs(v ?? 0)), 0) }));
  const lowest = E.potential.reduce((m, v) => (finite(v) && v < m ? v : m), Infinity);
  const potential = E.potential.map((v) => (finite(v) ? v - lowest : null));
  const top = [], total = [], guide = [];
  let start = null, gap = 0;
  for (let i = 0; i < times.length; i++) {
    // Steps that do not measure a term leave it unchanged.
    for (const t of terms) if (!finite(t.work[i])) t.work[i] = finite(t.work[i - 1]) ? t.work[i - 1] : 0;
    const parts = [E.kinetic[i], potential[i], ...terms.map((t) => t.work[i])];
    if (!parts.every(finite)) { for (const v of [top, total, guide]) v.push(null); continue; }
    const held = parts[0] + parts[1];
    let taken = 0, given = 0;
    for (const t of terms) if (t.work[i] < 0) taken -= t.work[i]; else given += t.work[i];
    start ??= held + taken - given;
    guide.push(held);
    top.push(held + taken);
    total.push(start + given);
    gap = Math.max(gap, Math.abs(held + taken - start - given));
  }
  const least = 1e-3 * (data.energy_scale ?? 0);
  const size = top.reduce((m, v) => Math.max(m, v ?? 0), least);
  const signed = (t) => (i) => (finite(t.work[i]) ? `${t.work[i] > 0 ? "added" : "removed"} ${format(Math.abs(t.work[i]), "J")}` : "\u2013");
  const seen = terms.filter((t) => t.largest > size * 1e-3);
  const small = terms.filter((t) => t.largest > 0 && !seen.includes(t));
  const idle = terms.filter((t) => t.largest === 0).map((t) => t.name);
  const note = ["Energy of the bodies, with the energy removed from them stacked on top. The stack must reach the dashed line: the initial energy plus the work added since, which is flat unless something does work on the bodies."];
  if (start !== null) note.push(`Largest gap between stack and line: ${format(gap, "J", 3)}.`);
  const holes = top.filter((v) => v === null).length;
  if (holes) note.push(`${holes} of ${times.length} samples have a non-finite value and are drawn as gaps.`);
  if (finite(lowest)) note.push(`Potential energy is counted from its lowest value in this run, ${format(lowest, "J")}.`);
  if (small.length) note.push(`Too small to see: ${small.map((t) => `${t.name} (at most ${format(t.largest, "J", 2)})`).join(", ")}.`);
  const absent = ["normal_impulses", "friction", "joints", "position_correction", "integration"].filter((key) => !E[key].some(finite));
  if (absent.length && E.kinetic.some(finite))
    note.push("Swept steps measure only the total work of normal impulses, friction, joints and discretization, not each term.");
  if (idle.length && idle.length < 8) note.push(`Zero throughout: ${idle.join(", ")}.`);
  const chart = new Chart({ title: "Energy ledger", note: note.join(" "), unit: "J", kind: "stack", wide: true, floor: true, least, total, top, guide }, view);
  chart.setSeries([
    { name: "potential", color: "var(--c4)", values: potential },
    { name: "kinetic", color: "var(--c0)", values: E.kinetic },
    ...terms.map((t) => ({ name: t.name, color: t.color, values: t.work.map((v) => Math.max(0, -v)), label: signed(t), pale: true, unlisted: !seen.includes(t) })),
    { name: "initial energy + work added", color: "var(--ink)", dash: "5 3", values: total },
  ]);
  return chart;
}

/** Titles of charts that are left out: of quantities that were not measured, and of those that stayed at zero. */
const leftOut = { unmeasured: [], zero: [] };

/** Returns the largest magnitude of a series. */
const largest = (values) => values.reduce((m, v) => (finite(v) ? Math.max(m, Math.abs(v)) : m), 0);

/** A chart of one or two series; null if they were not measured or nowhere exceed `floor`, which is their rounding. */
function plain(title, note, unit, kind, series, more = {}) {
  const { rounding = 0, ...rest } = more;
  const measured = series.filter(([, values]) => values.some(finite));
  if (!measured.length) return void leftOut.unmeasured.push(title.toLowerCase());
  if (measured.every(([, values]) => largest(values) <= rounding)) return void leftOut.zero.push(title.toLowerCase());
  const c = new Chart({ title, note, unit, kind, floor: true, ...rest }, view);
  c.setSeries(measured.map(([name, values], k) => ({ name, color: k ? "var(--c1)" : "var(--main)", dash: k ? "5 3" : undefined, values })));
  return c;
}

/** Says which charts are left out. */
function leftOutNote() {
  const { unmeasured, zero } = leftOut;
  const parts = [zero.length ? `Zero or rounding throughout: ${zero.join(", ")}.` : "", unmeasured.length ? `Not measured in this run: ${unmeasured.join(", ")}.` : ""];
  return el("p", { class: "left-out" }, parts.filter(Boolean).join(" "));
}

/** The pictures of steps. */
function pictures() {
  const title = (p) => `${p.caption[0].toUpperCase()}${p.caption.slice(1)}, ${format(p.time, "s", 4)}`;
  return el("div", { class: "pictures" }, ...data.pictures.map((p) => el("figure", { class: "panel" },
    el("img", { src: p.image, alt: `The scene at step ${p.step}: ${p.caption}`, width: 560, height: 350 }),
    el("figcaption", {}, `${title(p)} `, stepButton(p.step)))));
}

/** The charts of bodies, and the list that selects the bodies. */
function bodyCharts() {
  const make = (title, unit, floor) => new Chart({ title, unit, kind: "line", floor }, view);
  // What no body did is left out: a billionth of a body's size, or of a radian.
  const small = 1e-9;
  const kinds = [
    ["height", "Height", "m", false, 0], ["drift", "Horizontal displacement", "m", true, small * data.length_scale], ["speed", "Speed", "m/s", true, small * data.length_scale],
    ["spin", "Angular speed", "rad/s", true, small], ["tilt", "Tilt from the orientation at the start", "\u00b0", true, small],
  ];
  const list = [];
  for (const [key, title, unit, floor, least] of kinds) {
    if (data.bodies.every((b) => largest(b[key]) <= least)) leftOut.zero.push(title.toLowerCase());
    else list.push([key, make(title, unit, floor)]);
  }
  const n = data.bodies.length;
  const slots = [];
  const rows = data.bodies.map((b, k) => {
    const box = el("input", { type: "checkbox" });
    const swatch = draw("path", { d: "M0 5H18", "stroke-width": 2.4 });
    box.addEventListener("change", () => { set(k, box.checked); update(); });
    const row = el("li", {}, el("label", {}, box, draw("svg", { class: "swatch", viewBox: "0 0 18 10", "aria-hidden": "true" }, swatch), nameSpan(b.name)));
    return { box, swatch, row, slot: -1, name: b.name.toLowerCase() };
  });
  // A body keeps its color while it is drawn; a new one takes the first free color.
  function set(k, on) {
    const r = rows[k];
    if (on === r.slot >= 0) return;
    if (on) {
      let s = 0;
      while (slots[s]) s++;
      slots[s] = true;
      r.slot = s;
    } else {
      slots[r.slot] = false;
      r.slot = -1;
    }
  }
  const chosen = el("p", { class: "note" });
  function update() {
    const drawn = [];
    rows.forEach((r, k) => {
      r.box.checked = r.slot >= 0;
      r.color = `var(--c${r.slot % PALETTE})`;
      r.dash = DASHES[Math.floor(r.slot / PALETTE) % DASHES.length];
      r.swatch.setAttribute("stroke", r.slot >= 0 ? r.color : "none");
      r.swatch.setAttribute("stroke-dasharray", r.dash || "none");
      if (r.slot >= 0) drawn.push(k);
    });
    for (const [key, chart] of list)
      chart.setSeries(drawn.map((k) => ({ name: data.bodies[k].name, color: rows[k].color, dash: rows[k].dash, values: data.bodies[k][key] })));
    const rest = data.bodies_total > n ? ` This report holds ${n} of the ${data.bodies_total} bodies of the scene.` : "";
    chosen.textContent = `${drawn.length} of ${n} ${n === 1 ? "body" : "bodies"} drawn.${rest}`;
    refresh(true);
  }
  const button = (text, f) => {
    const b = el("button", { type: "button" }, text);
    b.addEventListener("click", () => { rows.forEach((r, k) => set(k, f(k, r))); update(); });
    return b;
  };
  const search = el("input", { type: "search", placeholder: "Search bodies", "aria-label": "Search bodies" });
  const all = button("All", (_, r) => !r.row.hidden);
  search.addEventListener("input", () => {
    const wanted = search.value.trim().toLowerCase();
    for (const r of rows) r.row.hidden = !r.name.includes(wanted);
    all.textContent = wanted ? "All found" : "All";
  });
  const picker = el("section", { class: "panel picker wide", "aria-label": "Bodies drawn" }, el("h3", {}, "Bodies drawn"), chosen,
    el("div", { class: "row" }, search, ...(n > FIRST ? [button(`First ${FIRST}`, (k) => k < FIRST)] : []), all, button("None", () => false)),
    el("ul", {}, ...rows.map((r) => r.row)));
  rows.forEach((_, k) => set(k, k < FIRST));
  update();
  if (n > 1) return [picker, ...list.map(([, c]) => c)];
  return list.map(([, c]) => c);
}

/** The legend of the marks below the time axis, and the table of events. */
function eventTable() {
  const meaning = { hit: "hit", begun: "contact begun", quarantined: "quarantined" };
  const kinds = [...new Set(view.events.map((e) => e.kind))];
  const key = el("p", { class: "note marks" }, "Marks below the time axes:", ...kinds.map((k) => el("span", {},
    draw("svg", { width: 10, height: 10, "aria-hidden": "true" }, draw("path", { class: k in meaning ? `mark ${k}` : "mark", d: eventPath(k, 5, 1) })), meaning[k] || k)));
  const rows = view.events.map((e) => el("tr", {}, el("td", { class: "tight" }, format(e.time, "s", 5)), el("td", { class: "tight" }, stepButton(e.step)),
    el("td", { class: "tight" }, meaning[e.kind] || e.kind), el("td", {}, e.text)));
  const table = el("table", {}, el("thead", {}, el("tr", {}, ...["Time", "Step", "Kind", "Event"].map((h) => el("th", { scope: "col" }, h)))), el("tbody", {}, ...rows));
  return el("details", { class: "panel wide" }, el("summary", {}, `${rows.length} event${rows.length === 1 ? "" : "s"}`), key, el("div", { class: "scroll" }, table));
}

/** Handles mouse, touch and pen. */
function listen(chart) {
  const plot = chart.plot;
  const place = (e) => {
    const r = plot.getBoundingClientRect();
    return { x: e.clientX - r.left, y: e.clientY - r.top };
  };
  let from = null;
  plot.addEventListener("pointerdown", (e) => {
    if (e.button !== 0) return;
    from = place(e).x;
    plot.setPointerCapture(e.pointerId);
  });
  plot.addEventListener("pointermove", (e) => {
    const p = place(e);
    state.hover = nearest(times, chart.timeAt(p.x));
    state.pointed = { chart, y: p.y };
    state.brush = from !== null && Math.abs(p.x - from) > 5 ? [chart.timeAt(from), chart.timeAt(p.x)] : null;
    refresh(false);
  });
  plot.addEventListener("pointerup", (e) => {
    if (from === null) return;
    const brush = state.brush;
    from = state.brush = null;
    if (brush) zoom(Math.min(...brush), Math.max(...brush));
    else state.pinned = nearest(times, chart.timeAt(place(e).x));
    refresh(false);
  });
  plot.addEventListener("pointercancel", () => { from = state.brush = state.hover = null; refresh(false); });
  plot.addEventListener("pointerleave", () => {
    if (from !== null) return;
    state.hover = state.pointed = null;
    refresh(false);
  });
  plot.addEventListener("dblclick", () => zoom(whole.a, whole.b));
}

/** Handles keys: arrows move the crosshair, + and - zoom, Escape resets. */
function keys(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest?.("input, summary, .scroll")) return;
  const at = state.hover ?? state.pinned;
  const by = e.shiftKey ? 10 : 1;
  const t = at === null ? (view.a + view.b) / 2 : times[at];
  const scaled = (f) => zoom(t - (t - view.a) * f, t + (view.b - t) * f);
  const onPlot = e.target.closest?.(".plot");
  if (e.key === "ArrowRight") pin(at === null ? lowerBound(times, view.a) : at + by);
  else if (e.key === "ArrowLeft") pin(at === null ? lastShown() : at - by);
  else if (onPlot && e.key === "Home") pin(0);
  else if (onPlot && e.key === "End") pin(times.length - 1);
  else if (e.key === "+" || e.key === "=") scaled(0.5);
  else if (e.key === "-") scaled(2);
  else if (e.key === "Escape") { state.hover = state.pinned = null; zoom(whole.a, whole.b); }
  else return;
  e.preventDefault();
  const chart = charts.find((c) => c.plot === onPlot);
  if (!chart || state.pinned === null) return;
  const values = chart.series.filter((s) => !s.unlisted).slice(0, 8).map((s) => `${s.name} ${chart.label(s, state.pinned)}`);
  document.getElementById("live").textContent = `${format(times[state.pinned], "s", 5)}, step ${data.step[state.pinned]}: ${values.join(", ")}`;
}

/** Builds the page. */
function build() {
  head();
  bar();
  const main = document.getElementById("main");
  if (!times.length) {
    main.append(el("p", { class: "empty" }, "The recording holds no samples."));
    return;
  }
  const section = (title, ...all) => {
    const parts = all.filter(Boolean);
    for (const p of parts) if (p instanceof Chart) charts.push(p);
    main.append(el("h2", {}, title), el("div", { class: "grid" }, ...parts.map((p) => (p instanceof Chart ? p.figure : p))));
  };
  if (data.pictures.length) main.append(el("h2", {}, "Pictures"), pictures());
  const { energy, momentum, length } = data.rounding;
  section("Energy and momentum", energyChart(),
    plain("Energy error", "Magnitude of the energy error of the ledger.", "J", "log", [["energy error", data.energy_error]], { rounding: energy }),
    plain("Momentum error", "Magnitude of the difference between momentum change and impulses.", "N s", "log", [["momentum error", data.momentum_error]], { rounding: momentum }));
  if (data.bodies.length) section("Bodies", ...bodyCharts());
  section("Contacts and solver",
    plain("Contact force", "Largest force between two bodies, mean over a step.", "N", "line", [["largest force", data.force]]),
    plain("Penetration", "Deepest overlap of two bodies.", "m", "line", [["deepest overlap", data.penetration]], { rounding: length }),
    plain("Joint error", "Largest position error of a joint.", "m", "line", [["joint error", data.joint_error]], { rounding: length }),
    plain("Residual", "Relative residual of the solver.", "", "log", [["residual", data.residual]]),
    plain("Contacts and islands", "", "#", "line", [["contacts", data.contacts], ["islands", data.islands]], { stairs: true }),
    plain("Solver iterations", "", "#", "line", [["iterations", data.iterations]], { stairs: true }),
    leftOutNote(),
    ...(view.events.length ? [eventTable()] : []));
  charts.forEach(listen);
  // Charts far outside the viewport are drawn when scrolled to or printed.
  const watch = new IntersectionObserver((entries) => {
    for (const e of entries) charts.find((c) => c.figure === e.target).visible = e.isIntersecting;
    refresh(false);
  }, { rootMargin: "400px" });
  for (const c of charts) watch.observe(c.figure);
  addEventListener("beforeprint", () => {
    for (const c of charts) {
      c.render(c.spec.wide ? 680 : 330); // the width of a page, and half of it
      c.cursor(null, state.pinned ?? lastShown(), null);
    }
  });
  addEventListener("afterprint", () => refresh(true));
  document.addEventListener("keydown", keys);
  new ResizeObserver(() => refresh(true)).observe(main);
  const help = el("p", { class: "keys" });
  const words = [["Drag"], " across a chart to zoom all charts, ", ["double-click"], " to show the whole run. ", ["\u2190"], " ", ["\u2192"],
    " move the crosshair (with ", ["Shift"], " by ten), ", ["+"], " ", ["\u2212"], " zoom, ", ["Esc"], " resets, a click pins the crosshair."];
  help.append(...words.map((w) => (typeof w === "string" ? w : el("kbd", {}, w[0]))));
  if (times !== data.time) document.getElementById("foot").append(el("p", {}, "The times of the recording do not ascend: the axes show sample indices instead."));
  document.getElementById("foot").append(...(data.samples_note ? [el("p", {}, data.samples_note)] : []), help);
  paint();
}

build();
