// All jobs, what happened lately, and the incidents.

import { ask } from "./api.js";
import { choices, el, missing, replace, table } from "./dom.js";
import { clock, commName, count, jobName, ratio, seconds, unix } from "./format.js";
import { timeline } from "./timeline.js";

const HEALTH = {
  critical: ["✖", "critical"], warning: ["▲", "slow"], notice: ["●", "to review"], healthy: ["✔", "healthy"],
  learning: ["…", "learning"], idle: ["‖", "idle"], unknown: ["?", "not known"],
};
const COMMUNICATORS_SHOWN = 6;

export function overview() {
  const jobs = el("div");
  const course = el("div");
  const incidents = el("div");
  let span = "ticks";
  let last = null;
  const node = el("div", {},
    el("h1", {}, "Jobs"), jobs,
    el("h2", {}, "What happened"),
    choices("Time", "overview-span", [["ticks", "Last hour"], ["bins", "All that is kept"]], span, (value) => {
      span = value;
      update(last);
    }),
    course,
    el("h2", {}, "Incidents"), incidents);
  document.title = "nccl-sentinel";

  async function update(status) {
    last = status;
    replace(jobs, jobTable(status));
    const [found, signals] = await Promise.all([ask("incidents"), ask("signals", { span })]);
    replace(course, missing(signals.fault), timeline(found.incidents, signals, span, unix(status.time)));
    replace(incidents, missing(found.fault),
      incidentTable(found.incidents));
  }
  return { node, update };
}

function jobTable(status) {
  if (!status.jobs.length) return el("p", { class: "quiet" }, "No job is seen. Communicators appear with the first tick that finds their series.");
  const warnings = status.quality.warnings.map((text) => el("p", { class: "fault" }, `The metrics store warns: ${text}`));
  const rows = status.jobs.map((job) => ({
    "data-job": job.job_id,
    cells: [
      jobName(job), badge(job.health), job.incidents.length ? ratio(job.cost_ratio) : "nothing",
      job.incidents.length ? job.incidents.map((each) => incidentLink(each, "job")) : "none",
      quality(job, status.quality), learning(job.states), communicators(job),
    ],
  }));
  const left = status.jobs_left_out ? el("p", { class: "quiet" }, `${count(status.jobs_left_out, "more job")} that cost less.`) : null;
  return [warnings, table("Jobs", [["Job"], ["Health"], ["Costs now", "number"], ["Incidents"], ["Data"], ["Learning"], ["Communicators"]], rows, { class: "cards" }), left].flat();
}

function badge(health) {
  const [sign, text] = HEALTH[health] ?? HEALTH.unknown;
  return el("span", { class: `badge ${health}` }, el("span", { "aria-hidden": "true" }, sign), ` ${text}`);
}

function quality(job, all) {
  const parts = [`${ratio(job.ranks_seen_ratio)} of the ranks seen`];
  if (all.partial) parts.push("answers may be partial");
  if (all.malformed_series) parts.push(count(all.malformed_series, "series left out", "series left out"));
  return parts.join(", ");
}

function learning(states) {
  return Object.entries(states).map(([state, number]) => `${number} ${state}`).join(", ") || "–";
}

function communicators(job) {
  const links = job.communicators.slice(0, COMMUNICATORS_SHOWN).map((each) =>
    el("li", {}, el("a", { href: `#/communicator/${encodeURIComponent(each.comm)}`, "data-key": `comm:${each.comm}` },
      `${commName(each)}, ${count(each.ranks, "rank")}`)));
  const more = job.communicators_count - links.length;
  return el("ul", { class: "plain" }, links, more > 0 ? el("li", { class: "quiet" }, `${more} more: choose them in one's page`) : null);
}

export function incidentLink(incident, place) {
  return el("a", { class: "incident-link", href: `#/incident/${encodeURIComponent(incident.id)}`, "data-key": `${place}:${incident.id}` },
    el("span", { class: `tier ${incident.tier}` }, incident.tier), ` ${incident.summary}`);
}

function incidentTable(incidents) {
  if (!incidents.length) return el("p", { class: "quiet" }, "None in the time that is kept.");
  const rows = incidents.map((each) => ({
    "data-incident": each.id,
    cells: [
      incidentLink(each, "list"), each.verdict.replaceAll("_", " "), clock(unix(each.started_at)),
      each.ended_at === null ? el("strong", {}, "goes on") : `${clock(unix(each.ended_at))}, after ${seconds(unix(each.ended_at) - unix(each.started_at))}`,
      ratio(each.cost_ratio), String(each.victims) + (each.silenced ? ", silenced" : ""),
    ],
  }));
  const found = table("Incidents, those that go on first", [["What"], ["Verdict"], ["Since (UTC)"], ["Ended"], ["Cost", "number"], ["Waiting ranks", "number"]], rows, { class: "cards incidents" });
  found.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const links = [...found.querySelectorAll(".incident-link")];
    const at = links.indexOf(document.activeElement);
    if (!step || at < 0) return;
    event.preventDefault();
    links[Math.min(links.length - 1, Math.max(0, at + step))].focus();
  });
  return found;
}
