"""What it takes to turn a range query's answer into numbers: ours, and prometheus-api-client's DataFrame.

Both get the bytes that Prometheus would send, each in a process of its own, in turns. The DataFrame's path is that of
the package's users: the body decoded as JSON, then `MetricRangeDataFrame`. Memory is the most that is resident beyond
what was there when the bytes were. Run by `make bench-decode`.
"""

import argparse
import json
import multiprocessing
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
from machine import most_resident_bytes
from rich.console import Console
from rich.table import Table

SERIES, POINTS, STEP_SECONDS = 1000, 1440, 60
MOST_SECONDS, MOST_BYTES, LEAST_RATIO = 1.2, 150 << 20, 2.5
_START = 1_700_000_000
_LABELS = ("comm", "rank", "op", "size", "algo", "proto")


@dataclass(frozen=True)
class Cost:
    """Of one path: seconds, median and largest of some rounds; `peak_bytes` is the most of all."""

    path: str
    median_seconds: float
    largest_seconds: float
    peak_bytes: int


def answer(series: int, points: int, seed: int) -> bytes:
    """A counter's history, as Prometheus 2 writes it."""
    random = np.random.default_rng(seed)
    found = []
    for rank in range(series):
        values = np.cumsum(random.integers(10, 100, points) + random.random(points))
        name = ("0123456789abcdef", str(rank), "AllReduce", "16777216", "RING", "SIMPLE")
        metric = {"__name__": "nccl_collective_seconds_total"} | dict(zip(_LABELS, name, strict=True))
        samples = [[_START + STEP_SECONDS * at, repr(value)] for at, value in enumerate(values.tolist())]
        found.append({"metric": metric, "values": samples})
    document = {"status": "success", "data": {"resultType": "matrix", "result": found}}
    return json.dumps(document, separators=(",", ":")).encode()


def ours() -> Callable[[bytes, int], object]:
    """The daemon's reader. Imported here: each path is in a process without the other."""
    from sentinel.model.vocabulary import Vocabulary
    from sentinel.source.prometheus_grid import Axis
    from sentinel.source.prometheus_labels import LabelReader
    from sentinel.source.prometheus_matrix import MatrixReader

    def decode(body: bytes, points: int) -> object:
        axis = Axis(_START * 1000, STEP_SECONDS * 1000, points)
        return MatrixReader(_LABELS, LabelReader(Vocabulary())).read(body, "", axis).values

    return decode


def data_frame() -> Callable[[bytes, int], object]:
    """The package's."""
    from prometheus_api_client import MetricRangeDataFrame

    def decode(body: bytes, _: int) -> object:
        return MetricRangeDataFrame(json.loads(body)["data"]["result"])

    return decode


PATHS = {"nccl-sentinel": ours, "prometheus-api-client, DataFrame": data_frame}


def measure(path: str, file: Path, points: int, pipe: Connection) -> None:
    """One round, in this process: says seconds and bytes."""
    decode, body = PATHS[path](), file.read_bytes()
    before = most_resident_bytes()
    begun = time.perf_counter()
    found = decode(body, points)
    pipe.send((time.perf_counter() - begun, most_resident_bytes() - before))
    del found


def cost(path: str, rounds: list[tuple[float, int]]) -> Cost:
    """Of one path's rounds."""
    seconds, peaks = zip(*rounds, strict=True)
    return Cost(path, statistics.median(seconds), max(seconds), max(peaks))


def main() -> int:
    """Exit status 1 when a bar was missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--series", type=int, default=SERIES)
    parser.add_argument("--points", type=int, default=POINTS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    context, rounds = multiprocessing.get_context("spawn"), {path: list[tuple[float, int]]() for path in PATHS}
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "answer.json"
        file.write_bytes(answer(options.series, options.points, options.seed))
        for _ in range(options.rounds):
            for path, found in rounds.items():
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(target=measure, args=(path, file, options.points, sender))
                process.start()
                sender.close()
                found.append(receiver.recv())
                process.join()
    one, other = (cost(path, found) for path, found in rounds.items())
    ratio = other.median_seconds / one.median_seconds
    passed = one.median_seconds <= MOST_SECONDS and one.peak_bytes <= MOST_BYTES and ratio >= LEAST_RATIO
    if options.json:
        document = {"costs": [asdict(one), asdict(other)], "ratio": ratio, "passed": passed}
        sys.stdout.write(json.dumps(document) + "\n")
        return 0 if passed else 1
    table = Table("path", "median, s", "largest, s", "peak, MiB", "times ours")
    for each in (one, other):
        times = each.median_seconds / one.median_seconds
        peak = f"{each.peak_bytes / 2**20:.0f}"
        table.add_row(each.path, f"{each.median_seconds:.2f}", f"{each.largest_seconds:.2f}", peak, f"{times:.1f}")
    console = Console(width=120)
    console.print(table)
    bar = f"{MOST_SECONDS:g} s, {MOST_BYTES >> 20} MiB, {LEAST_RATIO:g} times as fast as the DataFrame"
    console.print(f"{options.series} series of {options.points} points; bar: {bar}: {'met' if passed else 'MISSED'}")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
