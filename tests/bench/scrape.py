"""What a scrape costs: 8 processes with 4 communicators each, every table full, before and after others come and go.

Prints the median of 50 scrapes and the memory of this process, which is the exporter without its web server; beside it
what the official Python client takes for the same text, with nothing to read. Run by `make bench-scrape`.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from nccl_exporter import layout
from nccl_exporter.collector import Collector
from prometheus_client import CollectorRegistry, Metric, generate_latest
from prometheus_client.parser import text_string_to_metric_families

sys.path.insert(0, str(Path(__file__).parents[1] / "exporter"))
from conftest import LockHolder, MappedFile

PROCESSES, COMMUNICATORS, SCRAPES, OTHERS = 8, 4, 50, 10
COME_AND_GO = 10_000
SECOND = 1_000_000_000
_MEMORY = Path("/dev/shm")  # noqa: S108
COLLECTIVES = ("AllReduce", "AllGather", "ReduceScatter", "Broadcast")
ALGORITHMS = (("RING", "LL"), ("RING", "LL128"), ("RING", "SIMPLE"), ("TREE", "LL"))


def fill_tables(file: MappedFile, row: Any) -> None:
    """Every row of every table, as a job does that uses more of everything than there is room for."""
    for index, name in enumerate((*COLLECTIVES, "Send", "Recv")):
        kind = layout.OperationKind.POINT_TO_POINT if name in {"Send", "Recv"} else layout.OperationKind.COLLECTIVE
        file.operation(row, index, name, kind=kind, launched=100_000, skipped=1_500_000)
    for index in range(layout.CELLS):
        algo, proto = ALGORITHMS[index // 4 % 4]
        op, power = COLLECTIVES[index % 4], 10 + index // 16
        file.cell(
            row, index, op, power, algo=algo, proto=proto, operations=1000, duration_ns=10**8, log_microseconds=4605.0
        )
    for index in range(layout.PEERS):
        file.peer(row, index, ("Send", "Recv")[index % 2], index // 4, 16 + index // 2 % 2, operations=500, bytes=2**30)
    for index in range(layout.LINKS):
        file.link(row, index, index // 2, index % 2, operations=700, bytes=2**32, steps=[9000] * 3)
    row["channels"]["operations"], row["channels"]["duration_ns"] = 1000, 10**8
    row["callbacks"], row["callbacks_timed"], row["callback_ns"] = 10**7, 10**5, 10**7


def step(files: list[MappedFile]) -> None:
    """Everything counts on, and a few operations are in flight."""
    now = time.monotonic_ns()
    for file in files:
        for row in file.data["communicators"][0][:COMMUNICATORS]:
            for table in ("cells", "peers", "links"):
                row[table]["counts"]["operations"] += 1
                row[table]["commit"] += 2 << layout.COMMIT_SHIFT
            row["cells"]["counts"]["buckets"][:, :, 0] += 1
            row["operations"]["launched"] += 1
            for place in range(16):
                file.fly(row, place, now, row=place % 6, number=int(row["operations"]["launched"][0]) - 1)


def come_and_go(files: list[MappedFile], collector: Collector) -> int:
    """One communicator after the other takes a slot that is free of the four; how many there were."""
    born = 0
    while born < COME_AND_GO:
        for file in files:
            for slot in range(COMMUNICATORS, layout.COMMUNICATORS, 4):
                born += 1
                row = file.data["communicators"][0][slot]
                for table in ("operations", "cells", "peers", "links"):
                    row[table] = np.zeros_like(row[table])
                file.communicator(slot, comm=2**32 + born, rank=0, nranks=8)
                file.operation(row, launched=5)
                file.cell(row, power=born % 40, operations=5, log_microseconds=1.0)
        collector.collect()
    for file in files:
        file.data["communicators"]["state"][0][COMMUNICATORS:] = layout.SlotState.FREE
    return born


@dataclass(frozen=True)
class Scrape:
    """Seconds of one, median and largest; how many series it has, and the memory of this process.

    `client_seconds`: what prometheus_client takes to write the same series, with nothing to read.
    """

    when: str
    median_seconds: float
    largest_seconds: float
    series: int
    resident_bytes: int
    client_seconds: float


def measure(files: list[MappedFile], collector: Collector, when: str) -> Scrape:
    """Scrape again and again, in turns with the other."""
    # Without the mappings through which this program writes the files, and before the other has its own.
    text = collector.collect()
    status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines())
    kilobytes = sum(int(status[part].split()[0]) for part in ("RssAnon", "RssFile"))
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Families(text))
    seconds, others = [], []
    for number in range(SCRAPES):
        step(files)
        start = time.perf_counter()
        text = collector.collect()
        seconds.append(time.perf_counter() - start)
        if number % (SCRAPES // OTHERS) == 0:
            start = time.perf_counter()
            generate_latest(registry)
            others.append(time.perf_counter() - start)
    series = sum(not line.startswith(("#", "nccl_exporter_")) for line in text.splitlines())
    median = statistics.median(seconds)
    return Scrape(when, median, max(seconds), series, kilobytes * 1024, statistics.median(others))


class _Families:
    """What was scraped, by prometheus_client's own objects: anew each time, as its collectors do."""

    def __init__(self, text: str) -> None:
        self._families = list(text_string_to_metric_families(text))

    def collect(self) -> Iterator[Metric]:
        for family in self._families:
            metric = Metric(family.name, family.documentation, family.type)
            for sample in family.samples:
                metric.add_sample(sample.name, sample.labels, sample.value)
            yield metric


def main() -> None:
    """Write the files, and read them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    holder = LockHolder()
    try:
        with tempfile.TemporaryDirectory(dir=_MEMORY if _MEMORY.is_dir() else None) as folder:
            files = []
            for process in range(PROCESSES):
                path = Path(folder) / f"{process + 1}{layout.FILE_SUFFIX}"
                file = MappedFile(path, pid=process + 1, start_monotonic_ns=time.monotonic_ns() - 10 * SECOND)
                for slot in range(COMMUNICATORS):
                    fill_tables(file, file.communicator(slot, comm=slot + 1, rank=process, nranks=64))
                holder.lock(path)
                files.append(file)
            collector = Collector([Path(folder)])
            scrapes = [measure(files, collector, "at first")]
            born = come_and_go(files, collector)
            scrapes.append(measure(files, collector, f"after {born}"))
    finally:
        holder.close()
    if options.json:
        sys.stdout.write(json.dumps([asdict(each) for each in scrapes]) + "\n")
    else:
        for each in scrapes:
            sys.stdout.write(
                f"{each.when:>14}: {each.median_seconds * 1e3:6.1f} ms (worst {each.largest_seconds * 1e3:.1f}), "
                f"{each.series} series, {each.resident_bytes / 2**20:.0f} MiB; prometheus_client alone, to write them: "
                f"{each.client_seconds / each.median_seconds:.1f} times as long\n"
            )


if __name__ == "__main__":
    main()
