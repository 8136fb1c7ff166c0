"""What the plugin says it counted, read as the exporter publishes it, from outside the processes."""

import time
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

_FIELDS: Final = {
    "nccl_collective_started_total": "started",
    "nccl_collective_operations_total": "measured",
    "nccl_profiler_operations_skipped_total": "skipped",
    "nccl_profiler_samples_refused_total": "refused",
    "nccl_profiler_callbacks_total": "callbacks",
    "nccl_profiler_callback_seconds_total": "callback_seconds",
}
_SETTLE_SECONDS: Final = 3.0
_REST_SECONDS: Final = 0.25  # more than NCCL's proxy thread takes to notice an end


@dataclass(frozen=True, slots=True)
class Counts:
    """Of one rank in one communicator, or sums of such. Operations, calls, seconds."""

    started: int = 0
    measured: int = 0
    skipped: int = 0
    refused: int = 0
    callbacks: int = 0
    callback_seconds: float = 0.0

    @property
    def open(self) -> int:
        """Operations that have not ended, or were dropped."""
        return self.started - self.measured - self.skipped - self.refused

    def __add__(self, other: Self) -> "Counts":
        return Counts(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))

    def __sub__(self, other: Self) -> "Counts":
        return Counts(*(getattr(self, name) - getattr(other, name) for name in self.__slots__))


Place = tuple[str, int]  # communicator's id, rank


def parse(page: str) -> dict[Place, Counts]:
    """The counts on a page of the exporter."""
    from prometheus_client.parser import text_string_to_metric_families

    found: Mapping[Place, Counter[str]] = defaultdict(Counter)
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            if sample.name in _FIELDS:
                place = (sample.labels["comm"], int(sample.labels["rank"]))
                found[place][_FIELDS[sample.name]] += sample.value  # type: ignore[assignment]
    return {
        place: Counts(**{name: value if name == "callback_seconds" else int(value) for name, value in counts.items()})
        for place, counts in found.items()
    }


class Files:
    """The mapped files in a directory. `trouble` says why they cannot be read; empty where they can."""

    def __init__(self, directory: Path) -> None:
        self._collector: Any = None
        self.trouble = ""
        try:
            from nccl_exporter.collector import Collector
        except ImportError as error:
            self.trouble = f"no counts are read: nccl_exporter cannot be imported ({error})"
            return
        self._collector = Collector([directory])

    def read(self) -> dict[Place, Counts]:
        """The counts as soon as no operation is open or nothing changes; as they are when both take too long."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        before = None
        while True:
            counts = parse(self._collector.collect())
            is_settled = counts == before or all(count.open == 0 for count in counts.values())
            if is_settled or time.monotonic() > deadline:
                return counts
            before = counts
            time.sleep(_REST_SECONDS)

    def total(self) -> Counts:
        """All ranks and communicators together."""
        return sum(self.read().values(), Counts())
