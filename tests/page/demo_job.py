"""The demo's chain, stopped where its fault goes on: exporter, Prometheus, Alertmanager, daemon, with their pages."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
from servers.process import wait_until

from sentinel.demo.chain import Chain
from sentinel.demo.scenario import recorded_scenario

_SCRAPES = 22
_TICKS = 8
_SECONDS = 90.0


@contextmanager
def demo_job(folder: Path, name: str = "late1ms") -> Iterator[str]:
    """The daemon's address, in the middle of the fault, once it has an incident and some ticks have seen it."""
    with Chain(recorded_scenario(name), folder) as chain:
        wait_until(chain.servers_ready, "the servers are ready", _SECONDS)
        wait_until(lambda: chain.scrapes() >= _SCRAPES, "enough was scraped", _SECONDS)
        chain.build_baseline()
        chain.start_daemon()
        wait_until(lambda: address(folder / "sentinel.log") is not None, "the daemon serves", _SECONDS)
        url = f"http://{address(folder / 'sentinel.log')}"
        wait_until(lambda: bool(get(url, "status")["daemon"]["last_tick"]), "it has looked", _SECONDS)
        chain.players.switch("fault")
        wait_until(lambda: bool(get(url, "incidents")["incidents"]), "there is an incident", _SECONDS)
        wait_until(lambda: ticks_of_the_fault(url) >= _TICKS, "the fault lasts", _SECONDS)
        yield url


def ticks_of_the_fault(url: str) -> int:
    """How many have seen the incident's communicator since the fault began."""
    (incident,) = get(url, "incidents")["incidents"]
    shown = get(url, "heatmap", comm=incident["comm"], span="ticks")
    return sum(time > shown["marks"][0]["started_at"] for time in shown["times"])


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
