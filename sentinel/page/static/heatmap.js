// Ranks by time as a picture that can be scrolled, pointed at, and walked through by keys.

import { unpack } from "./api.js";
import { onTheme, ramp, scaleOf } from "./colours.js";
import { el, replace } from "./dom.js";
import { axisTime, clock, placeName, rankName, seconds } from "./format.js";

const MOST_SLOTS = 2200;
const LABEL_PIXELS = 16;

/** `node` to show, `draw` to give it another document of /api/v1/heatmap. */
export function heatmap() {
  const canvas = el("canvas", { class: "heat-canvas", role: "img", "aria-label": "Heatmap" });
  const gutter = el("div", { class: "heat-gutter" });
  const overlay = el("div", { class: "heat-overlay", "aria-hidden": "true" });
  const cursor = el("div", { class: "heat-cursor", hidden: true, "aria-hidden": "true" });
  const field = el("div", { class: "heat-field" }, canvas, overlay, cursor);
  const plane = el("div", { class: "heat-plane" }, gutter, field);
  const help = el("p", { class: "quiet", id: "heat-help" }, "Arrow keys walk through ranks and times, Page Up and Page Down by 32 ranks, Home and End to the first and the last time, M to the next marked rank.");
  const scroll = el("div", { class: "heat-scroll", tabindex: "0", role: "group", "aria-label": "Heatmap of ranks by time", "aria-describedby": "heat-help", "data-key": "heat" }, plane);
  const axis = el("div", { class: "heat-axis", "aria-hidden": "true" });
  const readout = el("p", { class: "heat-readout", role: "status" });
  const legend = el("div", { class: "heat-legend" });
  const summary = el("p", { class: "heat-summary" });
  const node = el("div", { class: "heat" }, summary, scroll, axis, readout, legend, help);
  let map = null;
  let at = null;

  function draw(document_) {
    const first = map === null;
    map = prepare(document_);
    paint();
    labels();
    replace(summary, ...words(map));
    replace(axis, axisTexts(map));
    if (first && map.marked.size) center([...map.marked.keys()][0]);
    canvas.dataset.cells = `${document_.quantity} ${map.rows}x${map.columns}`;
    if (at !== null) move(Math.min(at.row, map.rows - 1), Math.min(at.slot, map.slots - 1), false);
  }

  function paint() {
    if (map === null) return;
    const { rows, slots, columns, values, slotOf, place } = map;
    canvas.width = Math.max(1, slots);
    canvas.height = Math.max(1, rows);
    plane.style.setProperty("--row", `${map.height}px`);
    plane.style.setProperty("--rows", String(rows));
    const colours = ramp(map.document.quantity);
    const image = new ImageData(canvas.width, canvas.height);
    const pixels = new Uint32Array(image.data.buffer);
    for (let row = 0; row < rows; row += 1) {
      for (let column = 0; column < columns; column += 1) {
        const value = values[row * columns + column];
        if (value === value) pixels[row * slots + slotOf[column]] = colours[Math.round(place(value) * 255)];
      }
    }
    canvas.getContext("2d").putImageData(image, 0, 0);
    replace(legend, legendParts(map, colours));
  }

  function labels() {
    const every = Math.max(1, Math.ceil(LABEL_PIXELS / map.height));
    const marked = map.marked;
    const texts = [];
    for (let row = 0; row < map.rows; row += every) {
      const near = [...marked.keys()].some((other) => Math.abs(other - row) * map.height < LABEL_PIXELS);
      if (!near) texts.push(el("span", { class: "heat-label", style: { top: `${row * map.height}px` } }, String(number(map, row))));
    }
    for (const [row, mark] of marked) {
      texts.push(el("a", {
        class: `heat-mark ${mark.tier}`, href: `#/incident/${encodeURIComponent(mark.incident)}`, "data-rank": number(map, row),
        "data-key": `mark:${row}`, "aria-label": `${rankName(rankAt(map, row))}, ${mark.verdict.replaceAll("_", " ")}: its incident`,
        style: { top: `${(row + 0.5) * map.height}px` },
      }, `${number(map, row)} ▶`));
    }
    replace(gutter, texts);
    replace(overlay, map.document.marks.flatMap((mark) => outlines(mark, map)));
  }

  function move(row, slot, tell = true) {
    at = { row, slot };
    cursor.hidden = false;
    Object.assign(cursor.style, { top: `${row * map.height}px`, height: `${Math.max(3, map.height)}px`, left: `${(slot / map.slots) * 100}%`, width: `${100 / map.slots}%` });
    if (tell) replace(readout, describe(map, row, slot));
  }

  function follow() {
    const top = at.row * map.height;
    if (top < scroll.scrollTop || top + map.height > scroll.scrollTop + scroll.clientHeight) center(at.row);
  }

  function center(row) {
    scroll.scrollTop = (row + 0.5) * map.height - scroll.clientHeight / 2;
  }

  field.addEventListener("pointermove", (event) => {
    if (map === null || !map.rows || !map.slots) return;
    const box = field.getBoundingClientRect();
    const row = Math.floor((event.clientY - box.top) / map.height);
    const slot = Math.floor(((event.clientX - box.left) / box.width) * map.slots);
    move(Math.max(0, Math.min(map.rows - 1, row)), Math.max(0, Math.min(map.slots - 1, slot)));
  });
  scroll.addEventListener("keydown", (event) => {
    if (event.target !== scroll || map === null || !map.rows || event.ctrlKey || event.altKey || event.metaKey) return;
    const { row, slot } = at ?? { row: 0, slot: map.slots - 1 };
    const next = {
      ArrowUp: [row - 1, slot], ArrowDown: [row + 1, slot], ArrowLeft: [row, slot - 1], ArrowRight: [row, slot + 1],
      PageUp: [row - 32, slot], PageDown: [row + 32, slot], Home: [row, 0], End: [row, map.slots - 1],
      m: [[...map.marked.keys()].find((each) => each > row) ?? [...map.marked.keys()][0] ?? row, slot],
    }[event.key];
    if (!next) return;
    event.preventDefault();
    move(Math.max(0, Math.min(map.rows - 1, next[0])), Math.max(0, Math.min(map.slots - 1, next[1])));
    follow();
  });
  const close = onTheme(paint);
  return { node, draw, close };
}

/** The document's numbers, each column in the slot of its time: what is missing in between is left empty. */
function prepare(document_) {
  const { values, rows, columns } = unpack(document_.seconds);
  const times = document_.times;
  const gaps = times.slice(1).map((time, index) => time - times[index]).sort((one, other) => one - other);
  let step = gaps.length ? gaps[gaps.length >> 1] : 1;
  const length = columns ? times[columns - 1] - times[0] : 0;
  step = Math.max(step, length / MOST_SLOTS);
  const slots = columns ? Math.round(length / step) + 1 : 0;
  const slotOf = times.map((time) => Math.round((time - times[0]) / step));
  const columnOf = new Int32Array(slots).fill(-1);
  slotOf.forEach((slot, column) => { columnOf[slot] = column; });
  const { place, ends } = scaleOf(document_.quantity, values, rows, columns);
  const height = rows <= 24 ? 20 : rows <= 64 ? 10 : rows <= 256 ? 5 : 3;
  const rowOf = new Map(document_.ranks.map((rank, row) => [rank, row]));
  const marked = new Map();
  for (const mark of document_.marks) {
    for (const rank of mark.ranks) {
      const row = rowOf.get(rank);
      // What goes on is told first.
      if (row !== undefined && (!marked.has(row) || mark.ended_at === null)) marked.set(row, mark);
    }
  }
  const ordered = new Map([...marked].sort(([one], [other]) => one - other));
  return { document: document_, values, rows, columns, slots, step, slotOf, columnOf, place, ends, height, marked: ordered, rowOf };
}

function outlines(mark, map) {
  const first = map.document.times[0];
  const place = (time) => Math.max(0, Math.min(1, (time - first + map.step) / (map.slots * map.step)));
  const left = place(mark.started_at);
  const right = mark.ended_at === null ? 1 : place(mark.ended_at);
  if (right <= left) return [];
  const rows = mark.ranks.length ? mark.ranks.map((rank) => map.rowOf.get(rank)).filter((row) => row !== undefined) : [null];
  return rows.map((row) => el("div", {
    class: `heat-outline ${mark.tier}`, "data-incident": mark.incident,
    style: {
      left: `${left * 100}%`, width: `${(right - left) * 100}%`,
      top: row === null ? "0" : `${row * map.height - 1}px`, height: row === null ? "100%" : `${map.height + 2}px`,
    },
  }));
}

function rankAt(map, row) {
  const { global_ranks: known, ranks, nodes, gpus } = map.document;
  return { global_rank: known[row], rank: ranks[row], node: nodes[row], gpu: gpus[row] };
}

/** What stands beside a row. */
function number(map, row) {
  return map.document.global_ranks[row] ?? map.document.ranks[row];
}

function who(map, row) {
  const rank = rankAt(map, row);
  const place = placeName(rank);
  return `${rankName(rank)}${place ? ` (${rank.node ? "on " : ""}${place})` : ""}`;
}

function describe(map, row, slot) {
  const column = map.columnOf[slot];
  const time = clock(map.document.times[0] + slot * map.step);
  if (column < 0) return `${who(map, row)}, ${time} UTC: nobody looked`;
  const value = map.values[row * map.columns + column];
  if (value !== value) return `${who(map, row)}, ${time} UTC: not measured (its communicator: ${map.document.states[column]})`;
  return `${who(map, row)}, ${time} UTC: ${valueText(map.document.quantity, value)}`;
}

function valueText(quantity, value) {
  if (quantity === "duration") return `${seconds(value)} an operation`;
  return value < 0 ? `${seconds(-value)} early` : `${seconds(value)} late`;
}

function words(map) {
  const { document: shown } = map;
  if (!map.columns) return ["Nothing is recorded yet."];
  const marked = [...map.marked].map(([row, mark]) => `${who(map, row)}: ${mark.verdict.replaceAll("_", " ")}`);
  const parts = [`${map.rows.toLocaleString("en")} ranks from ${clock(shown.times[0])} to ${clock(shown.times[map.columns - 1])} UTC.`];
  if (shown.ranks_left_out) parts.push(` ${shown.ranks_left_out.toLocaleString("en")} more, nearest to the others, are not drawn.`);
  parts.push(marked.length ? ` Marked: ${marked.slice(0, 8).join("; ")}${marked.length > 8 ? ` and ${marked.length - 8} more` : ""}.` : " Nobody is marked.");
  return [parts.join("")];
}

function axisTexts(map) {
  if (!map.columns) return [];
  const first = map.document.times[0];
  return [0, 0.25, 0.5, 0.75, 1].map((share) => el("span", {}, axisTime(first + share * (map.slots - 1) * map.step, map.step)));
}

function legendParts(map, colours) {
  const bar = el("canvas", { width: "256", height: "1", class: "heat-ramp", "aria-hidden": "true" });
  const image = new ImageData(256, 1);
  new Uint32Array(image.data.buffer).set(colours);
  bar.getContext("2d").putImageData(image, 0, 0);
  const [low, , high] = map.ends;
  const late = map.document.quantity === "lateness";
  return [
    el("span", {}, late ? `${seconds(-low)} early or more` : `${seconds(low)} or less`), bar,
    el("span", {}, late ? `${seconds(high)} late or more` : `${seconds(high)} or more`),
    el("span", { class: "heat-unknown" }, el("span", { class: "swatch unknown", "aria-hidden": "true" }), " not measured"),
  ];
}
