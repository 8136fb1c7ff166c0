"""The demo's chain, stopped where its fault goes on: exporter, Prometheus, Alertmanager, daemon, with their pages."""

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import numpy.typing as npt
from servers.process import wait_until

from sentinel.demo.chain import Chain
from sentinel.demo.scenario import recorded_scenario
from sentinel.model.instant import parse_instant

LATE_RANK = 3
_SCRAPES = 22
_TICKS = 8
_SECONDS = 90.0


@contextmanager
def demo_job(folder: Path) -> Iterator[str]:
    """The daemon's address, in the middle of the fault, once it has an incident and some ticks have seen it."""
    with Chain(recorded_scenario("late1ms"), folder) as chain:
        wait_until(chain.servers_ready, "the servers are ready", _SECONDS)
        wait_until(lambda: chain.scrapes() >= _SCRAPES, "enough was scraped", _SECONDS)
        chain.build_baseline()
        chain.start_daemon()
        wait_until(lambda: address(folder / "sentinel.log") is not None, "the daemon serves", _SECONDS)
        url = f"http://{address(folder / 'sentinel.log')}"
        wait_until(lambda: bool(get(url, "status")["daemon"]["last_tick"]), "it has looked", _SECONDS)
        chain.players.switch("fault")
        wait_until(lambda: bool(of_rank(url, LATE_RANK)), "there is an incident", _SECONDS)
        wait_until(lambda: ticks_of_the_fault(url) >= _TICKS, "the fault lasts", _SECONDS)
        yield url


def ticks_of_the_fault(url: str) -> int:
    """How many have seen the incident's communicator since the fault began."""
    incident = accused(url)
    shown = get(url, "heatmap", comm=incident["comm"], span="ticks")
    return sum(time > parse_instant(incident["started_at"]) for time in shown["times"])


def accused(url: str) -> dict[str, Any]:
    """The incident of the rank that is late."""
    return of_rank(url, LATE_RANK)[0]


def of_rank(url: str, rank: int) -> list[dict[str, Any]]:
    """Incidents that name one rank alone. There may be others: a busy machine makes ranks late as well."""
    return [each for each in get(url, "incidents")["incidents"] if each["ranks"] == [rank]]


def seconds_of(heatmap: Mapping[str, Any]) -> npt.NDArray[np.float32]:
    """The numbers of a heatmap, ranks by time."""
    packed = heatmap["seconds"]
    return np.frombuffer(base64.b64decode(packed["base64"]), "<f4").reshape(packed["shape"])


def address(log: Path) -> str | None:
    """Where the daemon serves, as its log tells."""
    lines = log.read_text().splitlines() if log.exists() else []
    served = [event["address"] for event in map(json.loads, lines) if event["event"] == "serving"]
    return served[0] if served else None


def get(url: str, name: str, **parameters: str) -> Any:
    """A document of the API."""
    answer = httpx.get(f"{url}/api/v1/{name}", params=parameters, trust_env=False, timeout=20.0)
    assert answer.status_code == 200, answer.text
    return json.loads(answer.text)
