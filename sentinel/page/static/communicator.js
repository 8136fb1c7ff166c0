// One communicator: heatmap, ranking, and what the metrics store has about it.

import { ask } from "./api.js";
import { storeChart } from "./curves.js";
import { choices, el, missing, replace, table } from "./dom.js";
import { commName, count, jobName, placeName, rankName, rate, seconds } from "./format.js";
import { heatmap } from "./heatmap.js";

const FIRST_RANKS = 20;
const COLUMNS = [
  ["rank", "Rank", (each) => -number(each)],
  [null, "Where"],
  ["median", "Late, median", (each) => each.lateness_median_seconds],
  ["p95", "Late, P95", (each) => each.lateness_p95_seconds],
  ["newest", "Late, newest", (each) => each.lateness_newest_seconds],
  ["duration", "Duration, median", (each) => each.duration_median_seconds],
  ["duration-p95", "Duration, P95", (each) => each.duration_p95_seconds],
];

export function communicatorView(comm) {
  const title = el("h1", {}, "Communicator");
  const which = el("div");
  const fault = el("div");
  const map = heatmap();
  const ranking = el("div");
  const panels = [
    ["operations", [["duration", storeChart("Durations by operation", seconds, ["op", "quantile"])]]],
    ["network", [["step", storeChart("Time of a network step in each state", seconds, ["state", "direction"])], ["bandwidth", storeChart("Network bandwidth, all ranks", rate, ["direction"])]]],
    ["channels", [["bandwidth", storeChart("Bandwidth of a channel while it is busy", rate, ["spread"])]]],
  ];
  const filter = el("input", { type: "search", id: "rank-filter", placeholder: "rank or node", autocomplete: "off", "data-key": "filter", oninput: () => showRanking() });
  const chosen = { span: "ticks", quantity: "lateness", all: false, order: "p95" };
  let ranks = null;
  let last = null;
  const choose = (name) => (value) => {
    chosen[name] = value;
    update(last);
  };
  const node = el("div", {}, title, which, fault,
    el("div", { class: "controls" },
      choices("Time", "span", [["ticks", "Last hour"], ["bins", "All that is kept"]], chosen.span, choose("span")),
      choices("Quantity", "quantity", [["lateness", "Lateness"], ["duration", "Duration"]], chosen.quantity, choose("quantity"))),
    el("h2", {}, "Ranks by time"), map.node,
    el("h2", {}, "Ranks by lateness"),
    el("p", { class: "filter" }, el("label", { for: "rank-filter" }, "Show only "), filter), ranking,
    el("h2", {}, "Operations"), panels[0][1].map(([, chart]) => chart.node),
    el("h2", {}, "Network"), panels[1][1].map(([, chart]) => chart.node),
    el("h2", {}, "Channels"), panels[2][1].map(([, chart]) => chart.node));

  function showRanking() {
    if (ranks === null) return;
    const wanted = filter.value.trim().toLowerCase();
    const found = ranks.ranks.filter((each) => !wanted || String(number(each)) === wanted || each.node.toLowerCase().includes(wanted));
    const [, , by] = COLUMNS.find(([name]) => name === chosen.order);
    found.sort((one, other) => (by(other) ?? -Infinity) - (by(one) ?? -Infinity));
    const shown = chosen.all ? found : found.slice(0, FIRST_RANKS);
    const rows = shown.map((each) => ({
      class: each.incidents.length ? "accused" : null, "data-rank": number(each),
      cells: [
        [rankName(each), each.incidents.map((id) => [" ", el("a", { href: `#/incident/${encodeURIComponent(id)}`, "data-key": `rank:${each.rank}:${id}` }, "incident")])],
        placeName(each) || "–",
        seconds(each.lateness_median_seconds), seconds(each.lateness_p95_seconds), seconds(each.lateness_newest_seconds),
        seconds(each.duration_median_seconds), seconds(each.duration_p95_seconds),
      ],
    }));
    const more = found.length - shown.length;
    const shownTable = table("Ranks; the buttons order them", COLUMNS.map(([, heading], at) => [heading, at > 1 ? "number" : null]), rows, { class: "cards ranking" });
    shownTable.querySelectorAll("thead th").forEach((head, at) => order(head, ...COLUMNS[at]));
    replace(ranking, shownTable,
      more > 0 ? el("button", { type: "button", "data-key": "all", onclick: () => { chosen.all = true; showRanking(); } }, `Show ${count(more, "more rank")}`) : null);
  }

  function order(head, name, heading) {
    if (name === null) return;
    const is = chosen.order === name;
    if (is) head.setAttribute("aria-sort", name === "rank" ? "ascending" : "descending");
    head.replaceChildren(el("button", { type: "button", class: "order", "data-key": `order:${name}`, onclick: () => { chosen.order = name; showRanking(); } },
      heading, el("span", { "aria-hidden": "true" }, is ? (name === "rank" ? " ▲" : " ▼") : "")));
  }

  function showWhich(status) {
    const all = status.jobs.flatMap((job) => job.communicators.map((each) => ({ ...each, job_id: job.job_id, job: job.job })));
    const own = all.find((each) => each.comm === comm);
    if (own) {
      replace(title, `${commName(own)} of job ${jobName(own)}`);
      document.title = `${commName(own)} – nccl-sentinel`;
    } else replace(title, `Communicator ${comm}`);
    const options = all.map((each) => el("option", { value: each.comm, selected: each.comm === comm }, `${jobName(each)}: ${commName(each)}, ${each.ranks} of ${each.nranks || each.ranks} ranks, ${each.state}`));
    if (!own) options.unshift(el("option", { value: comm, selected: true }, comm));
    replace(which, el("p", {}, el("label", { for: "which" }, "Communicator "),
      el("select", { id: "which", "data-key": "which", onchange: (event) => { location.hash = `#/communicator/${encodeURIComponent(event.target.value)}`; } }, options)));
  }

  async function update(status) {
    last = status;
    if (document.activeElement?.id !== "which") showWhich(status);
    const { span, quantity } = chosen;
    try {
      const cells = await ask("heatmap", { comm, span, quantity });
      if (span !== chosen.span || quantity !== chosen.quantity) return;
      replace(fault, missing(cells.fault));
      map.draw(cells);
      const found = await ask("ranking", { comm, span });
      if (span !== chosen.span) return;
      ranks = found;
      showRanking();
    } catch (error) {
      replace(fault, el("p", { class: "fault" }, error.message));
    }
    for (const [name, parts] of panels) {
      try {
        const answer = await ask(name, { comm, span });
        for (const [part, chart] of parts) chart.draw(answer.times, answer.parts[part]);
      } catch (error) {
        for (const [, chart] of parts) chart.fail(error.message);
      }
    }
  }

  function close() {
    map.close();
    for (const [, parts] of panels) for (const [, chart] of parts) chart.close();
  }
  return { node, update, close };
}

/** What a rank is ordered and found by. */
function number({ global_rank: known, rank }) {
  return known ?? rank;
}
