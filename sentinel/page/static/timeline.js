// Incidents and what was said of communicators, over time.

import { el, svg } from "./dom.js";
import { axisTime, clock, commName, count } from "./format.js";

const WIDTH = 1000;
const ROW = 22;
const BAR = 14;
const SPANS = { ticks: 3600, bins: 86_400 };
const MOST_INCIDENTS = 40;
const MOST_COMMUNICATORS = 12;

/** A picture with a row for each incident and communicator; beside it the same in words. Times are Unix seconds. */
export function timeline(incidents, signals, span, now) {
  const oldest = Math.min(...signals.communicators.flatMap((each) => each.runs.map((run) => run[0])), now);
  const from = Math.max(now - 7 * 86_400, Math.min(now - 60, span === "ticks" ? Math.max(now - SPANS.ticks, oldest) : oldest));
  const place = (time) => Math.max(0, Math.min(WIDTH, ((time - from) / (now - from)) * WIDTH));
  const shown = incidents.filter((each) => each.ended_at === null || Date.parse(each.ended_at) / 1000 > from).slice(0, MOST_INCIDENTS);
  const communicators = signals.communicators.slice(0, MOST_COMMUNICATORS);
  if (!shown.length && !communicators.length) return el("p", { class: "quiet" }, "Nothing yet.");
  const rows = [
    ...shown.map((each) => ({ name: `${each.tier} ${each.verdict.replaceAll("_", " ")}`, href: `#/incident/${encodeURIComponent(each.id)}`, key: `time:${each.id}`, bars: [incidentBar(each, place, now)] })),
    ...communicators.map((each) => ({ name: commName(each), href: `#/communicator/${encodeURIComponent(each.comm)}`, key: `time:${each.comm}`, bars: each.runs.map((run) => signalBar(run, place)) })),
  ];
  const names = el("ul", { class: "timeline-names" }, rows.map((row) => el("li", {}, el("a", { href: row.href, "data-key": row.key }, row.name))));
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${rows.length * ROW}`, preserveAspectRatio: "none", "aria-hidden": "true", class: "timeline-picture", style: { height: `${rows.length * ROW}px` } },
    rows.map((row, at) => svg("g", { transform: `translate(0 ${at * ROW + (ROW - BAR) / 2})` }, svg("rect", { class: "lane", width: WIDTH, height: BAR }), row.bars.filter(Boolean))));
  const said = `From ${clock(from)} to ${clock(now)} UTC: ${count(shown.length, "incident")}; ${communicators.map((each) => `${commName(each)}: ${summary(each.runs)}`).join("; ")}.`;
  return el("figure", { class: "timeline" },
    el("div", { class: "timeline-body" }, names, picture),
    el("div", { class: "timeline-axis", "aria-hidden": "true" }, [0, 0.25, 0.5, 0.75, 1].map((share) => el("span", {}, axisTime(from + share * (now - from), (now - from) / 8)))),
    el("p", { class: "keys" }, [["watching", "watching"], ["learning", "learning, warming"], ["paused", "paused"], ["abstain", "not judged"], ["stalled", "stalled"], ["finding", "a verdict holds"], ["incident", "incident"]].map(([kind, text]) =>
      el("span", {}, el("span", { class: `swatch ${kind}`, "aria-hidden": "true" }), ` ${text}`))),
    el("figcaption", { class: "hidden" }, said));
}

function incidentBar(incident, place, now) {
  const start = place(Date.parse(incident.started_at) / 1000);
  const end = place(incident.ended_at === null ? now : Date.parse(incident.ended_at) / 1000);
  return svg("rect", { class: `bar incident ${incident.tier}`, x: start, width: Math.max(2, end - start), height: BAR });
}

function signalBar([from, until, state, findings], place) {
  const start = place(from);
  const width = place(until) - start;
  if (width <= 0) return null;
  const kind = findings ? "finding" : state;
  return svg("rect", { class: `bar ${kind}`, x: start, width: width + 0.3, height: BAR });
}

function summary(runs) {
  const kinds = new Set(runs.map(([, , state, findings]) => (findings ? `${state} with verdicts` : state)));
  return [...kinds].join(", then ");
}
