"""A recorded job through the whole chain, watched by a Prometheus with the shipped rules, as in production."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import yaml
from cluster.recording import TRACES
from deployment.rule_files import ALERTS, RECORDING
from nccl_exporter.catalogue import RAS_STATUS
from nccl_exporter.ras.status import STATUSES
from servers.exporter import exporter
from servers.process import wait_until

from sentinel.demo.chain import Chain
from sentinel.demo.scenario import own_scenario

CULPRIT = "6"  # the global rank that comes late in the recording
_SCENARIO = own_scenario(TRACES / "p2p_late6", "5:48", "50:99")  # collectives, Send and Recv, network steps
_LEARN_SCRAPES = 22
_STEP_SECONDS = 2
_READY_SECONDS = 60.0
_INCIDENT_SECONDS = 90.0


@dataclass(frozen=True)
class Watched:
    """Prometheus at `url`, which has scraped since `since`, Unix time."""

    url: str
    since: float

    def get(self, path: str, **parameters: object) -> Any:
        """What the API answers; AssertionError with Prometheus' words where it refuses."""
        given = {name: str(value) for name, value in parameters.items()}
        answer = httpx.get(f"{self.url}/api/v1/{path}", params=given, trust_env=False, timeout=30.0).json()
        assert answer["status"] == "success", answer
        return answer["data"]

    def now(self, query: str) -> list[dict[str, Any]]:
        """An instant query's series."""
        found: list[dict[str, Any]] = self.get("query", query=query)["result"]
        return found

    def since_start(self, query: str) -> list[dict[str, Any]]:
        """A range query's series, over all that there is, from now backwards."""
        end = time.time()
        start = end - (end - self.since) // _STEP_SECONDS * _STEP_SECONDS
        answer = self.get("query_range", query=query, start=start, end=end, step=_STEP_SECONDS)
        found: list[dict[str, Any]] = answer["result"]
        return found


@contextmanager
def watched_chain(folder: Path) -> Iterator[Watched]:
    """Play healthy steps, then a rank that is late, until the daemon has opened an incident and its heartbeat is back.

    What NCCL's RAS service would add is served beside it: the recording has none.
    """
    chain = Chain(_SCENARIO, folder)
    with exporter() as ras:
        _configure(chain, ras.target)
        with chain:
            wait_until(chain.servers_ready, "the servers are ready", _READY_SECONDS)
            watched = Watched(chain.prometheus_url, time.time())
            wait_until(lambda: chain.scrapes() >= _LEARN_SCRAPES, "enough is learnt from", _READY_SECONDS)
            ras.text = _statuses(watched)
            chain.build_baseline()
            chain.start_daemon()
            wait_until(chain.daemon_ready, "the daemon ticks", _READY_SECONDS)
            chain.players.switch("fault")
            wait_until(lambda: _found(chain, watched), "the incident and the heartbeat", _INCIDENT_SECONDS)
            yield watched


def _found(chain: Chain, watched: Watched) -> bool:
    chain.check()
    return all(
        watched.now(query)
        for query in (
            'sum(nccl_sentinel_incidents{verdict="late_rank"}) > 0',
            "nccl_sentinel_heartbeat_last_received_timestamp_seconds > 0",
            "nccl_ras_rank_status",
        )
    )


def _configure(chain: Chain, ras: str) -> None:
    """The demo's own files, but for the rules, the names of the scrapes, and the heartbeat's way back."""
    daemon = chain.daemon_url.removeprefix("http://")
    targets = {"nccl-exporter": [chain.exporter_url.removeprefix("http://"), ras], "nccl-sentinel": [daemon]}
    prometheus = {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(RECORDING), str(ALERTS)],
        "scrape_configs": [
            {"job_name": job, "static_configs": [{"targets": addresses}]} for job, addresses in targets.items()
        ],
    }
    (chain.folder / "prometheus.yml").write_text(yaml.safe_dump(prometheus))
    file = chain.folder / "alertmanager.yml"
    alertmanager = yaml.safe_load(file.read_text())
    (nobody,) = (each for each in alertmanager["receivers"] if each["name"] == "nobody")
    nobody["webhook_configs"] = [{"url": f"http://{daemon}/webhook/alertmanager"}]
    file.write_text(yaml.safe_dump(alertmanager))


def _statuses(watched: Watched) -> str:
    lines = [RAS_STATUS.head]
    for series in watched.now("nccl_communicator_info"):
        for index, status in enumerate(STATUSES):
            place = (series["metric"]["comm"], series["metric"]["rank"], status)
            lines.append(RAS_STATUS.line(place, float(index == 0)))
    return "".join(lines)
