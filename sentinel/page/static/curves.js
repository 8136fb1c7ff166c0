// Lines over time, drawn by uPlot, and the same numbers as a table.

import { line, onTheme, style } from "./colours.js";
import { el, replace, table } from "./dom.js";
import { axisTime } from "./format.js";

const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]];
const HEIGHT = 220;
const TIME_PIXELS = 72; // from one time to the next: `14:05:30` has room

/** `curves`: {name, values, colour, dash, width, band}; `format` turns a value into text. `spans` are [from, until] to shade. */
export function lineChart(title, format) {
  const holder = el("div", { class: "chart" });
  const legend = el("ul", { class: "legend" });
  const node = el("figure", {}, el("figcaption", {}, title), holder, legend);
  let plot = null;
  let shown = null;

  function draw(times, curves, spans = [], shade = []) {
    shown = [times, curves, spans, shade];
    const options = {
      width: Math.max(240, holder.clientWidth || 600), height: HEIGHT, legend: { show: false },
      cursor: { drag: { x: false, y: false } },
      tzDate: (unix) => window.uPlot.tzDate(new Date(unix * 1000), "Etc/UTC"),
      scales: { x: { time: true } },
      axes: [{ ...axis(), space: TIME_PIXELS, values: (_, ticks, __, ___, step) => ticks.map((tick) => axisTime(tick, step)) }, { ...axis(), size: 78, values: (_, ticks) => ticks.map((tick) => format(tick)) }],
      series: [{}, ...curves.map((each, at) => ({
        label: each.name, stroke: line(each.colour ?? at), dash: DASHES[(each.dash ?? 0) % DASHES.length],
        width: each.width ?? 1.5, points: { show: false }, spanGaps: false,
      }))],
      bands: shade.map(([high, low]) => ({ series: [high + 1, low + 1], fill: withAlpha(line(curves[high].colour ?? high), 0.18) })),
      hooks: { drawClear: [(chart) => spans.forEach((span) => shadeSpan(chart, span))] },
    };
    plot?.destroy();
    plot = new window.uPlot(options, [times, ...curves.map((each) => each.values)], holder);
    plot.root.querySelector("canvas").setAttribute("aria-hidden", "true");
    replace(legend, curves.map((each, at) => el("li", {}, sample(each, at), ` ${each.name}`)));
  }

  const observer = new ResizeObserver(() => plot?.setSize({ width: Math.max(240, holder.clientWidth), height: HEIGHT }));
  observer.observe(holder);
  const endTheme = onTheme(() => shown && draw(...shown));
  function close() {
    observer.disconnect();
    endTheme();
    plot?.destroy();
  }
  return { node, draw, close };
}

function axis() {
  return { stroke: style("--quiet"), grid: { stroke: style("--line"), width: 1 }, ticks: { stroke: style("--line"), width: 1 }, font: "12px system-ui, sans-serif" };
}

function shadeSpan(chart, [from, until]) {
  const { left, top, width, height } = chart.bbox;
  const start = Math.max(left, chart.valToPos(from, "x", true));
  const end = Math.min(left + width, chart.valToPos(until, "x", true));
  if (end <= start) return;
  chart.ctx.save();
  chart.ctx.fillStyle = style("--shade");
  chart.ctx.fillRect(start, top, end - start, height);
  chart.ctx.restore();
}

function sample(curve, at) {
  const mark = el("canvas", { width: "28", height: "8", class: "sample", "aria-hidden": "true" });
  const pen = mark.getContext("2d");
  pen.strokeStyle = line(curve.colour ?? at);
  pen.lineWidth = curve.width ?? 2;
  pen.setLineDash(DASHES[(curve.dash ?? 0) % DASHES.length]);
  pen.beginPath();
  pen.moveTo(0, 4);
  pen.lineTo(28, 4);
  pen.stroke();
  return mark;
}

function withAlpha(colour, alpha) {
  return colour + Math.round(alpha * 255).toString(16).padStart(2, "0");
}

/** A part of /api/v1/operations and its like: chart, and the newest values as a table with a row and a column label. */
export function storeChart(title, format, [rowLabel, columnLabel]) {
  const chart = lineChart(title, format);
  const numbers = el("div", { class: "newest" });
  const said = el("p", { class: "quiet" });
  const node = el("div", { class: "curves" }, chart.node, numbers, said);
  chart.node.hidden = true;

  function draw(times, part) {
    const curves = part.curves;
    chart.node.hidden = !curves.length;
    replace(said, curves.length ? null : "The metrics store has nothing about it.");
    if (!curves.length) return replace(numbers);
    const rows = distinct(curves, rowLabel);
    const columns = columnLabel ? distinct(curves, columnLabel) : [""];
    // From where anything is known.
    const first = times.findIndex((_, at) => curves.some((each) => each.values[at] !== null));
    chart.draw(times.slice(first), curves.map((each) => ({
      name: [rowLabel, columnLabel].filter(Boolean).map((name) => nameOf(name, each.labels[name])).join(", "),
      values: each.values.slice(first), colour: rows.indexOf(each.labels[rowLabel]), dash: columnLabel ? columns.indexOf(each.labels[columnLabel]) : 0,
    })));
    const cell = (row, column) => curves.find((each) => each.labels[rowLabel] === row && (!columnLabel || each.labels[columnLabel] === column));
    replace(numbers, table(`${title}, newest values`,
      [[rowLabel], ...columns.map((each) => [columnLabel ? nameOf(columnLabel, each) : "newest", "number"])],
      rows.map((row) => [nameOf(rowLabel, row), ...columns.map((column) => format(newest(cell(row, column)?.values)))])));
  }

  function fail(why) {
    chart.node.hidden = true;
    replace(numbers);
    replace(said, el("span", { class: "fault" }, `Not known: ${why}`));
  }
  return { node, draw, fail, close: chart.close };
}

function distinct(curves, label) {
  return [...new Set(curves.map((each) => each.labels[label]))].slice(0, 32);
}

function nameOf(label, value) {
  return label === "quantile" ? `P${Number((Number(value) * 100).toPrecision(4))}` : value || "–";
}

export function newest(values = []) {
  return values.findLast((value) => value !== null) ?? null;
}
