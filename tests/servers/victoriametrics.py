"""A real VictoriaMetrics server, single-node, filled from OpenMetrics text."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from servers.process import find_program, free_port, running


@contextmanager
def victoriametrics(directory: Path) -> Iterator[str]:
    """Run VictoriaMetrics on `directory`; gives its address.

    As shipped, but for what it keeps: everything.
    """
    url = f"http://127.0.0.1:{free_port()}"
    arguments = [
        find_program("victoria-metrics"),
        f"-storageDataPath={directory / 'data'}",
        f"-httpListenAddr={url.removeprefix('http://')}",
        "-retentionPeriod=100y",
        "-loggerLevel=WARN",
    ]
    with running(arguments, directory, f"{url}/health"):
        yield url


def fill(url: str, openmetrics: str) -> None:
    """Write history into it. The text has timestamps in seconds, as `servers.prometheus.fill` takes it."""
    lines = [line.rpartition(" ") for line in openmetrics.splitlines() if not line.startswith("#")]
    text = "".join(f"{sample} {round(float(time) * 1000)}\n" for sample, _, time in lines)
    with httpx.Client(base_url=url, trust_env=False, timeout=60.0) as client:
        client.post("/api/v1/import/prometheus", content=text).raise_for_status()
        client.get("/internal/force_flush").raise_for_status()
