"""The lines that a measurement wrote."""

import json
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median
from typing import Any, Final, Literal

from gpu.overhead.ratios import Run

COUNTS: Final = ("started", "measured", "refused", "callback_seconds")
Time = Literal["median_us", "mean_us"]


@dataclass(frozen=True, slots=True)
class Measurement:
    """What ran on what."""

    machine: dict[str, Any]
    lines: tuple[dict[str, Any], ...]
    counted: tuple[dict[str, Any], ...]

    @classmethod
    def load(cls, path: Path) -> "Measurement":
        """Raises ValueError where the file is none of a measurement."""
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        machines = [line for line in lines if line["record"] == "machine"]
        if len(machines) != 1:
            raise ValueError(f"{path}: {len(machines)} lines tell the machine; one should")
        runs = tuple(line for line in lines if line["record"] == "run")
        return cls(machines[0], runs, tuple(line for line in lines if line["record"] == "counts"))

    def workloads(self) -> list[str]:
        """In the order they ran."""
        return list(dict.fromkeys(line["workload"] for line in self.lines))

    def variants(self) -> list[str]:
        """All of them, by name."""
        return sorted({line["variant"] for line in self.lines})

    def runs(self, workload: str, time: Time = "median_us") -> list[Run]:
        """Its runs; a run's time is the mean of its ranks'."""
        return [
            Run(
                line["round"], line["turn"], line["place"], line["variant"], fmean(rank[time] for rank in line["ranks"])
            )
            for line in self._of(workload)
        ]

    def median_us(self, workload: str, variant: str) -> float:
        """The variant's median time."""
        return median(run.time_us for run in self.runs(workload) if run.variant == variant)

    def counts(self, workload: str, variant: str) -> dict[str, float]:
        """Sums over its runs of what the plugin counted; empty where nothing was read."""
        found = [line for line in self.counted if line["variant"] == variant and line["workload"] == workload]
        return {name: sum(line[name] for line in found) for name in COUNTS} if found else {}

    def plugin(self, variant: str) -> str:
        """As NCCL named it when it loaded it; empty for none."""
        return next(str(line["plugin"]) for line in self.lines if line["variant"] == variant)

    def _of(self, workload: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line["workload"] == workload]
