// Which view is shown, and when it is brought up to date.

import { ask } from "./api.js";
import { communicatorView } from "./communicator.js";
import { el, replace } from "./dom.js";
import { clock, unix } from "./format.js";
import { incidentView } from "./incident.js";
import { overview } from "./overview.js";

const LEAST_SECONDS = 2;
const MOST_SECONDS = 30;
const VIEWS = [[/^#\/communicator\/([^/]+)$/, communicatorView], [/^#\/incident\/([^/]+)$/, incidentView]];

const main = document.getElementById("main");
const pulse = document.getElementById("pulse");
let view = null;
let timer = 0;
let turn = 0;

async function show() {
  const hash = location.hash;
  if (hash === "#main") return;
  view?.close?.();
  const found = VIEWS.map(([pattern, make]) => [hash.match(pattern), make]).find(([match]) => match);
  view = found ? found[1](decodeURIComponent(found[0][1])) : overview();
  replace(main, view.node);
  scrollTo(0, 0);
  if (document.activeElement !== document.body) main.focus({ preventScroll: true });
  await update();
}

async function update() {
  clearTimeout(timer);
  turn += 1;
  const own = turn;
  let pause = MOST_SECONDS;
  try {
    const status = await ask("status");
    if (own !== turn) return;
    tell(status.daemon);
    pause = Math.min(MOST_SECONDS, Math.max(LEAST_SECONDS, status.daemon.tick_seconds));
    await view.update(status);
  } catch (error) {
    if (own !== turn) return;
    say(true, `Not up to date: ${error.message}`);
    pause = 5;
  }
  if (own !== turn) return;
  main.dataset.ready = "true";
  timer = setTimeout(update, document.hidden ? MOST_SECONDS * 1000 : pause * 1000);
}

function tell(daemon) {
  if (daemon.fault) say(true, daemon.fault);
  else say(false, `Looked at ${clock(unix(daemon.last_tick))} UTC, every ${daemon.tick_seconds} s`);
}

function say(fault, text) {
  pulse.classList.toggle("fault", fault);
  if (pulse.textContent !== text) replace(pulse, el("span", {}, text));
}

addEventListener("hashchange", () => {
  delete main.dataset.ready;
  show();
});
document.addEventListener("visibilitychange", () => document.hidden || update());
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
show();
