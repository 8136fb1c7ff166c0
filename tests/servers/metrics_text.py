"""Snapshots as an exporter would have published them."""

import math
from collections import defaultdict
from collections.abc import Iterable

from sentinel.model.snapshot import Snapshot

TYPES = {
    "nccl_communicator_info": "gauge",
    "nccl_collective_operations": "counter",
    "nccl_collective_seconds": "counter",
    "nccl_collective_log_microseconds": "counter",
    "nccl_collective_started": "counter",
    "nccl_oldest_inflight_seconds": "gauge",
}


def openmetrics(snapshots: Iterable[Snapshot]) -> str:
    """History for `promtool tsdb create-blocks-from openmetrics`."""
    families: dict[str, list[str]] = defaultdict(list)
    for snapshot in snapshots:
        for family, line in _samples(snapshot):
            families[family].append(f"{line} {snapshot.time:.3f}")
    return _text(families) + "# EOF\n"


def exposition(snapshot: Snapshot) -> str:
    """What a scrape gives at that moment."""
    families: dict[str, list[str]] = defaultdict(list)
    for family, line in _samples(snapshot):
        families[family].append(line)
    return _text(families)


def _text(families: dict[str, list[str]]) -> str:
    return "".join(f"# TYPE {family} {TYPES[family]}\n" + "\n".join(lines) + "\n" for family, lines in families.items())


def _samples(snapshot: Snapshot) -> Iterable[tuple[str, str]]:
    text = snapshot.vocabulary.text
    who = snapshot.communicators
    for row in range(len(who.rank)):
        labels = {
            "comm": text(who.comm[row]),
            "rank": who.rank[row],
            "global_rank": who.global_rank[row],
            "nranks": who.nranks[row],
            "nnodes": who.nnodes[row],
            "comm_name": text(who.comm_name[row]),
            "node": text(who.node[row]),
            "gpu": text(who.gpu[row]),
            "gpu_uuid": text(who.gpu_uuid[row]),
            "job_id": text(who.job_id[row]),
            "pid": 100 + int(who.rank[row]),
        }
        yield "nccl_communicator_info", f"nccl_communicator_info{_labels(labels)} 1"
    cells = snapshot.cells
    for row in range(len(cells.rank)):
        labels = {"comm": text(cells.comm[row]), "rank": cells.rank[row]}
        labels |= {name: text(getattr(cells, name)[row]) for name in ("op", "size", "algo", "proto")}
        for name in ("operations", "seconds", "log_microseconds"):
            value = float(getattr(cells, name)[row])
            if not math.isnan(value):
                yield f"nccl_collective_{name}", f"nccl_collective_{name}_total{_labels(labels)} {value!r}"
    started = snapshot.started
    for row in range(len(started.rank)):
        labels = {"comm": text(started.comm[row]), "rank": started.rank[row], "op": text(started.op[row])}
        yield (
            "nccl_collective_started",
            f"nccl_collective_started_total{_labels(labels)} {float(started.started[row])!r}",
        )
    waiting = snapshot.in_flight
    for row in range(len(waiting.rank)):
        labels = {"comm": text(waiting.comm[row]), "rank": waiting.rank[row]}
        value = float(waiting.oldest_seconds[row])
        yield "nccl_oldest_inflight_seconds", f"nccl_oldest_inflight_seconds{_labels(labels)} {value!r}"


def _labels(labels: dict[str, object]) -> str:
    return "{" + ",".join(f'{name}="{value}"' for name, value in labels.items() if value != "") + "}"
