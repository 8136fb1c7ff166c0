"""How long it takes from a verdict to a webhook: real Prometheus, daemon's code, real Alertmanager, a receiver.

Twenty jobs, in each of which a rank gets late, one job after the other. Alertmanager is told not to wait
(`group_wait: 0s`): what it waits for otherwise comes on top.
"""

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from cluster.job import Job
from faults.history import History
from faults.station import Station
from servers.alertmanager import alertmanager
from servers.metrics_text import openmetrics
from servers.process import wait_until
from servers.prometheus import fill, prometheus
from servers.webhook import Webhook, webhook

from sentinel.incident.tracker import Changes
from sentinel.model.vocabulary import Vocabulary

TICK_SECONDS = 30
FIRST, APART, AFTER = 40, 2, 6
MOST_SECONDS = 2.0


class Arrivals(list[dict[str, Any]]):
    """Alerts with when they came."""

    def extend(self, alerts: Any) -> None:
        now = time.perf_counter()
        super().extend({**alert, "arrived": now} for alert in alerts)


def make_history(incidents: int) -> tuple[History, int]:
    """The job of number n gets late at tick `FIRST` + n × `APART`; and the last tick."""
    last = FIRST + incidents * APART + AFTER
    start = time.time() // TICK_SECONDS * TICK_SECONDS - 60.0 - last * TICK_SECONDS
    vocabulary = Vocabulary()
    snapshots = []
    for number in range(incidents):
        job = Job(
            tick_seconds=float(TICK_SECONDS),
            start=start,
            step_seconds=0.1,
            seed=number,
            comm=f"{number:016x}",
            job_id=str(number),
            vocabulary=vocabulary,
        )
        healthy = FIRST + number * APART
        snapshots += job.ticks(healthy)
        job.delay_seconds[3] = 0.02
        snapshots += job.ticks(last - healthy)
    return History(start, openmetrics(snapshots)), last


def measure(directory: Path, incidents: int) -> list[float]:
    """Seconds from each verdict to the receiver."""
    history, last = make_history(incidents)
    fill(directory / "store", history.text)
    with (
        prometheus(directory / "store") as store,
        webhook() as receiver,
        alertmanager(directory / "alertmanager", receiver.url) as replica,
    ):
        receiver.alerts = Arrivals()
        station = Station(directory, history, store, [replica], "none")
        station.pass_to(FIRST - 1)
        station.open()
        verdicts = _watch_verdicts(station)
        while station.tick < last:
            station.pass_to(station.tick + 1)
            station.watch.run()
        wait_until(lambda: len(_arrived(receiver)) == incidents, "every incident is told")
        station.close()
        arrived = _arrived(receiver)
        return [arrived[each] - verdicts[each] for each in verdicts]


def _watch_verdicts(station: Station) -> dict[str, float]:
    """When each incident was opened, by id, filled from now on."""
    verdicts: dict[str, float] = {}
    tracker = station.watch.cycle.tracker
    step = tracker.step

    def watched(*arguments: Any, **more: Any) -> Changes:
        changes: Changes = step(*arguments, **more)
        verdicts.update(dict.fromkeys((incident.id for incident in changes.opened), time.perf_counter()))
        return changes

    tracker.step = watched
    return verdicts


def _arrived(receiver: Webhook) -> dict[str, float]:
    return {alert["annotations"]["incident"]: alert["arrived"] for alert in receiver.find("firing")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--incidents", type=int, default=20)
    parser.add_argument("--json", action="store_true", help="one object")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        seconds = measure(Path(directory), options.incidents)
    found = {f"p{share}": float(np.percentile(seconds, share)) for share in (50, 90, 100)}
    verdict = "PASS" if found["p100"] <= MOST_SECONDS else "MISSED"
    if options.json:
        sys.stdout.write(json.dumps({"incidents": len(seconds), "seconds": found, "verdict": verdict}) + "\n")
        return
    lines = [f"  {name.replace('p100', 'slowest'):8}{value * 1000:8.1f} ms" for name, value in found.items()]
    head, foot = f"from verdict to webhook, {len(seconds)} incidents:", f"  slowest <= {MOST_SECONDS:g} s: {verdict}"
    sys.stdout.write("\n".join((head, *lines, foot)) + "\n")


if __name__ == "__main__":
    main()
