"""All benchmarks, one after the other, and one table: what was measured, beside what, against which bar.

Each runs as it does alone, in a process of its own. Some take minutes, all of them half an hour: on a machine with
nothing else to do. Run by `make bench`; `--only scale decode` runs some.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from baseline import BAR_BYTES as BUILD_BYTES
from baseline import BAR_RATIO as BUILD_RATIO
from baseline import BAR_SECONDS as BUILD_SECONDS
from decode import LEAST_RATIO
from decode import MOST_BYTES as DECODE_BYTES
from decode import MOST_SECONDS as DECODE_SECONDS
from delivery import MOST_SECONDS as DELIVERY_SECONDS
from detect import SURE_COST
from machine import machine
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from running import started
from scale import MOST_BYTES as SCALE_BYTES
from tick import BAR_SECONDS as TICK_SECONDS
from tick import LARGEST

_PACKAGES = ("nccl-sentinel", "numpy", "orjson", "prometheus-api-client", "pandas", "prometheus-client", "distributed")


@dataclass(frozen=True)
class Line:
    """One row. `beside`: what else was measured in the same run, as a ratio. `passed` is None where there is no bar."""

    what: str
    measured: str
    beside: str = ""
    bar: str = ""
    passed: bool | None = None


def scrape(found: Any) -> Iterator[Line]:
    """Of the exporter."""
    for each in found:
        ratio = each["client_seconds"] / each["median_seconds"]
        yield Line(
            f"exporter: a scrape, {each['series']:,} series, {each['when']}",
            f"{each['median_seconds'] * 1e3:.0f} ms, {each['resident_bytes'] / 2**20:.0f} MiB",
            f"prometheus_client takes {ratio:.1f} times as long to write it alone",
        )


def decode(found: Any) -> Iterator[Line]:
    """Of answers to range queries."""
    one, other = found["costs"]
    yield Line(
        "decode 1,000 series of 1,440 points",
        f"{one['median_seconds']:.2f} s, {one['peak_bytes'] / 2**20:.0f} MiB",
        f"{other['path']}: {found['ratio']:.1f} times as long, {other['peak_bytes'] / one['peak_bytes']:.0f} times the "
        "memory",
        f"{DECODE_SECONDS:g} s, {DECODE_BYTES >> 20} MiB, {LEAST_RATIO:g} times",
        found["passed"],
    )


def tick(found: Any) -> Iterator[Line]:
    """Of detection alone."""
    for each in found:
        if each["series"] == "stay" and each["baseline"] == "stored":
            has_bar = each["ranks"] == LARGEST
            yield Line(
                f"detection alone, {each['ranks']:,} ranks, {each['cells']:,} cells",
                f"{each['median_seconds']:.3f} s",
                bar=f"{TICK_SECONDS:g} s" if has_bar else "",
                passed=each["median_seconds"] <= TICK_SECONDS if has_bar else None,
            )


def scale(found: Any) -> Iterator[Line]:
    """Of a whole tick."""
    first = found[0]
    for each in found:
        setting, most = each["setting"], each["setting"]["most_seconds"]
        more = ", network" * setting["network"] + ", recording rules" * setting["rules"]
        times, series = each["median_seconds"] / first["median_seconds"], each["series"] / first["series"]
        yield Line(
            f"a tick, {setting['ranks']:,} ranks, {each['series']:,} series{more}",
            f"{each['median_seconds']:.2f} s, {each['resident_bytes'] / 2**20:.0f} MiB",
            "" if each is first else f"{times:.0f} times as long for {series:.0f} times the series",
            f"{most:g} s, {SCALE_BYTES >> 20} MiB" if most else "",
            each["passed"] if most else None,
        )


def baseline(found: Any) -> Iterator[Line]:
    """Of `sentinel baseline build`."""
    here, *others = found["builds"]
    far = f"two Dask workers: {found['ratio']:.2f} times as fast" if others and found["ratio"] else ""
    yield Line(
        "baseline build, 1,024 ranks, 7 days at 60 s",
        f"{here['seconds']:.0f} s, {here['resident_bytes'] / 2**20:.0f} MiB",
        far,
        f"{BUILD_SECONDS:g} s, {BUILD_BYTES >> 20} MiB, {BUILD_RATIO:g} times",
        not found["missed"],
    )


def delivery(found: Any) -> Iterator[Line]:
    """From a verdict to a webhook."""
    seconds = found["seconds"]
    measured = f"{seconds['p50'] * 1e3:.0f} ms, slowest {seconds['p100'] * 1e3:.0f} ms"
    yield Line(
        "from a verdict to a webhook",
        measured,
        bar=f"slowest {DELIVERY_SECONDS:g} s",
        passed=found["verdict"] == "PASS",
    )


def detect(found: Any) -> Iterator[Line]:
    """Of incidents in simulated jobs of 64 ranks."""
    sure = [each for each in found["outcomes"] if each["fault"] == "stall" or each["cost_ratio"] >= SURE_COST]
    named = sum(each["ticks"] is not None for each in sure)
    yield Line(
        f"detection: {len(sure)} incidents of 5% and more",
        f"{named / len(sure):.1%} rightly named",
        bar="",
        passed=None,
    )


def plugin(found: Any) -> Iterator[Line]:
    """Of callbacks: the median over traces."""
    rows = [each for each in found if each["callback"] == "any callback"]
    for setting in dict.fromkeys(each["setting"] for each in rows):
        chosen = [each for each in rows if each["setting"] == setting]
        medians = sorted(each["plugins"]["sentinel"]["median"] for each in chosen)
        verdicts = [each["verdict"] for each in chosen if each["verdict"]]
        yield Line(
            f"plugin: a callback, {setting}, {len(chosen)} traces",
            f"{medians[len(medians) // 2]:.1f} ns median, {medians[-1]:.1f} in the worst trace",
            "over a plugin that does nothing",
            {"everything on": "30 ns", "skipped by sampling": "15 ns"}.get(setting, ""),
            all("MISS" not in verdict.upper() for verdict in verdicts) if verdicts else None,
        )


BENCHMARKS: dict[str, tuple[tuple[str, ...], Callable[[Any], Iterator[Line]]]] = {
    "plugin": ((), plugin),
    "scrape": ((), scrape),
    "decode": ((), decode),
    "tick": ((), tick),
    "scale": ((), scale),
    "baseline": ((), baseline),
    "delivery": ((), delivery),
    "detect": (("--quick",), detect),
}


def run(name: str) -> list[Line]:
    """One benchmark's rows; a row that says so where it failed."""
    arguments, read = BENCHMARKS[name]
    done = started(name, *arguments)
    try:
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return list(read(lines if name == "plugin" else lines[-1]))
    except (ValueError, KeyError, IndexError, TypeError):
        last = (done.stderr.strip() or f"exit status {done.returncode}").splitlines()[-1]
        return [Line(name, f"failed: {last}", passed=False)]


def main() -> int:
    """Exit status 1 when a bar was missed, or a benchmark failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=BENCHMARKS, default=list(BENCHMARKS))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    lines: list[Line] = []
    columns = SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True)) as progress:
        for name in options.only:
            task = progress.add_task(f"{name}: {len(lines)} rows so far", total=None)
            lines += run(name)
            progress.remove_task(task)
    if options.json:
        document = {"machine": machine(*_PACKAGES), "lines": [asdict(line) for line in lines]}
        sys.stdout.write(json.dumps(document) + "\n")
    else:
        table = Table("what", "measured", "beside", "bar", "")
        words = {True: "met", False: "MISSED", None: ""}
        for line in lines:
            table.add_row(line.what, line.measured, line.beside, line.bar, words[line.passed])
        console = Console(width=200)
        console.print(table)
        console.print(machine(*_PACKAGES))
    return 1 if any(line.passed is False for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main())
