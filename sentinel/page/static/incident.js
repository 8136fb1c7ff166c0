// One incident: who, what it costs, what shows it, and where there is more.

import { ask } from "./api.js";
import { lineChart } from "./curves.js";
import { el, missing, replace, table } from "./dom.js";
import { clock, commName, count, jobName, placeName, ratio, seconds, unix } from "./format.js";

export function incidentView(id) {
  const lateness = lineChart("Lateness: the culprit and the others", seconds);
  const duration = lineChart("Time in an operation: the culprit and the others", seconds);
  const title = el("h1", {}, `Incident ${id}`);
  const top = el("div");
  const picture = el("section", { "aria-label": "Picture" }, el("h2", {}, "Picture"), lateness.node, duration.node);
  const noPicture = el("p", { class: "quiet" });
  picture.append(noPicture);
  const rest = el("div");
  let before = "";
  const node = el("div", {}, el("p", {}, el("a", { href: "#/" }, "All jobs and incidents")), title, top, picture, rest);

  async function update() {
    let found;
    try {
      found = await ask("incident", { id });
    } catch (error) {
      return replace(top, el("p", { class: "fault" }, error.message));
    }
    const { course, course_fault: fault, ...told } = found;
    tell(told);
    drawCourse(course, fault);
  }

  function tell(found) {
    // Not again while nothing has changed: what is being read, or is open, stays as it is.
    if (JSON.stringify(found) === before) return;
    before = JSON.stringify(found);
    document.title = `${found.summary} – nccl-sentinel`;
    replace(title, el("span", { class: `tier ${found.tier}` }, found.tier), ` ${found.summary}`);
    replace(top, el("p", {}, found.description), facts(found), links(found));
    replace(rest, evidence(found), context(found), silences(found), labels(found));
  }

  function drawCourse(course, fault) {
    lateness.node.hidden = duration.node.hidden = course === null;
    if (course === null) return replace(noPicture, "Nothing of its communicator and time is kept here. `sentinel explain ", id, " --plot FILE.png` draws it from the metrics store. ", missing(fault, "span"));
    replace(noPicture, "The band is where 80% of the other ranks are; the shaded time is the incident. ", missing(fault, "span"));
    const end = course.ended_at ?? course.times.at(-1);
    for (const [chart, key] of [[lateness, "lateness_seconds"], [duration, "duration_seconds"]]) {
      const values = course[key];
      const curves = [
        { name: "others, P90", values: values.peers_p90, colour: 0, width: 0.5 }, { name: "others, P10", values: values.peers_p10, colour: 0, width: 0.5 },
        { name: "others, median", values: values.peers_median, colour: 0, width: 1.5 },
        ...values.culprits.map((own, at) => ({ name: culpritName(course.culprits[at]), values: own, colour: at + 1, width: 2.5, dash: at ? at % 4 : 0 })),
      ];
      chart.draw(course.times, curves, [[course.started_at, end]], [[0, 1]]);
    }
  }
  function close() {
    lateness.close();
    duration.close();
  }
  return { node, update, close };
}

function facts(found) {
  const ranks = found.ranks.slice(0, 32).join(", ") + (found.ranks.length > 32 ? ` and ${found.ranks.length - 32} more` : "");
  const place = placeName(found);
  const who = found.ranks.length ? `rank ${ranks}` : place ? `what is on ${place}` : "no rank stands out";
  const comm = el("a", { href: `#/communicator/${encodeURIComponent(found.comm)}` }, commName(found));
  const pairs = [
    ["Verdict", found.verdict.replaceAll("_", " ")],
    [found.ranks.length === 1 ? "Culprit" : "Culprits", who],
    ["Where", place || "–"],
    ["Job", jobName({ job_id: found.job_id })], ["Communicator", comm],
    ["Since", `${clock(unix(found.started_at))} UTC, detected ${seconds(unix(found.detected_at) - unix(found.started_at))} later`],
    ["Ended", found.ended_at === null ? el("strong", {}, "goes on") : `${clock(unix(found.ended_at))} UTC`],
    ["Costs", `${ratio(found.cost_ratio)} of the job's time`],
    ["Victims", victims(found)],
    found.recurrences ? ["Came back", count(found.recurrences, "time")] : null,
    found.former_tiers.length ? ["Was before", found.former_tiers.join(", ")] : null,
  ].filter(Boolean);
  return el("dl", { class: "facts" }, pairs.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
}

function victims(found) {
  const named = found.victim_ranks;
  const which = named.length ? `; its evidence names ${named.length === 1 ? "rank" : "ranks"} ${named.join(", ")}` : "";
  return `${count(found.victims, "rank")} ${found.victims === 1 ? "waits" : "wait"} for it${which}`;
}

function culpritName(each) {
  return each.global_rank === null ? placeName(each) || "the culprit" : `rank ${each.global_rank}`;
}

function links(found) {
  const names = { runbook: `Runbook ${found.alertname}`, dashboard: "Dashboard", query: "Query in Prometheus" };
  const shown = Object.entries(names).filter(([name]) => /^https?:\/\//.test(found.links[name] ?? ""));
  const items = shown.map(([name, text]) => el("li", {}, el("a", { href: found.links[name], rel: "noopener noreferrer", target: "_blank" }, text)));
  if (!found.links.runbook) items.unshift(el("li", {}, "Runbook: ", el("code", {}, `docs/runbooks/${found.alertname}.md`), " (a link with alertmanager.runbook_url)"));
  return el("ul", { class: "links", "aria-label": "More about it" }, items);
}

function evidence(found) {
  const lines = found.evidence_parts.filter((each) => "value" in each);
  const tables = found.evidence_parts.filter((each) => "rows" in each);
  return el("details", { class: "evidence", open: true }, el("summary", {}, el("h2", {}, "Evidence")),
    tables.map((each) => [el("h3", {}, each.name), el("div", { class: "wide", tabindex: "0", role: "group", "aria-label": each.name },
      table(each.name, each.columns.map((name) => [name]), each.rows)), each.left_out ? el("p", { class: "quiet" }, `and ${each.left_out} more`) : null]),
    el("dl", { class: "facts" }, lines.map((each) => el("div", {}, el("dt", {}, each.name), el("dd", {}, each.value)))),
    el("p", {}, "Query: ", el("code", {}, found.query)));
}

function context(found) {
  if (!found.context.length) return null;
  return el("section", {}, el("h2", {}, "Alerts of others there"), el("ul", {}, found.context.map((each) => el("li", {},
    `${each.alertname || "an alert without a name"} (${each.effect}), since ${clock(unix(each.started_at))} UTC, ${each.ended_at === null ? "fires" : `ended ${clock(unix(each.ended_at))} UTC`}: `,
    el("code", {}, pairsText(each.labels))))));
}

function silences(found) {
  if (!found.silenced_by.length) return null;
  return el("section", {}, el("h2", {}, "Silences"), el("ul", {}, found.silenced_by.map((each) => el("li", {}, `until ${clock(unix(each.ends_at))} UTC by ${each.created_by}: ${each.comment}`))));
}

function labels(found) {
  return el("details", {}, el("summary", {}, el("h2", {}, "Labels of its alert")), el("p", {}, el("code", {}, pairsText(found.labels))));
}

function pairsText(pairs) {
  return Object.entries(pairs).map(([name, value]) => `${name}="${value}"`).join(", ");
}
