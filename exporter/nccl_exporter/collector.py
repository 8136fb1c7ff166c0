"""One scrape: who is there, what they counted, and what was left out."""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from nccl_exporter import __version__, budget, catalogue, layout, page
from nccl_exporter.census import Census
from nccl_exporter.model import Communicator, Process
from nccl_exporter.page import Page
from nccl_exporter.ras.status import RasStatus
from nccl_exporter.service import ServiceCounts

Ras = Callable[[Sequence[tuple[Process, Communicator]]], Iterable[RasStatus]]

# Series on one page from training processes; older processes go first.
SERIES: Final = 250_000


@dataclass(frozen=True, slots=True)
class _Claim:
    """One process's claim to be a rank of a communicator."""

    process: Process
    communicator: Communicator
    global_rank: int

    @property
    def age(self) -> tuple[int, int]:
        return self.process.start_monotonic_ns, self.communicator.opened_unix_ns


class Collector:
    """Answers scrapes, one at a time; may be called from any thread.

    `ras` is asked about the communicators that are published; it answers from what it knows already and never raises.
    """

    def __init__(
        self,
        directories: Sequence[Path],
        monotonic_ns: Callable[[], int] = time.monotonic_ns,
        most_series: int = SERIES,
        series_per_rank: int = budget.SERIES_PER_RANK,
        ras: Ras | None = None,
        service: Callable[[], ServiceCounts] = ServiceCounts,
    ) -> None:
        self._census = Census(directories, monotonic_ns, series_per_rank)
        self._ras = ras
        self._service = service
        self._monotonic_ns = monotonic_ns
        self._most_series = most_series
        self._duplicates = 0
        self._left_out = 0
        self._lock = threading.Lock()

    def collect(self) -> str:
        """The page in Prometheus' text format."""
        with self._lock, ExitStack() as stack:
            start_ns = self._monotonic_ns()
            findings = self._census.take(stack)
            claims = self._claims([(source.process, self._census.read(source)) for source in findings.sources])
            answer = Page()
            for claim in claims:
                answer.add_communicator(claim.process, claim.communicator, claim.global_rank)
            self._add_ras(answer, claims)
            for reason, count in zip(layout.DROPPED, self._census.dropped, strict=True):
                answer.add(catalogue.DROPPED, (reason,), count)
            answer.add(catalogue.BUILD_INFO, (__version__, layout.VERSION), 1)
            for state in catalogue.SOURCE_STATES:
                answer.add(catalogue.SOURCES, (state,), findings.states[state])
            answer.add(catalogue.DIRECTORIES_UNREADABLE, (), findings.unreadable)
            self._add_counters(answer)
            answer.add(catalogue.SCRAPE_DURATION, (), (self._monotonic_ns() - start_ns) / 1e9)
            return answer.text()

    def _claims(self, processes: Sequence[tuple[Process, Iterable[Communicator]]]) -> list[_Claim]:
        """What goes on the page: each (communicator, rank) once, from the process that started last."""
        places: dict[tuple[int, int], _Claim] = {}
        room = self._most_series
        for process, read in processes:
            communicators = []
            for communicator in read:
                room -= (size := page.series(communicator))
                if room < 0:
                    room += size
                    self._left_out += size
                else:
                    communicators.append(communicator)
            global_rank = _global_rank(process, communicators)
            for communicator in communicators:
                place = (communicator.id, communicator.rank)
                claim = _Claim(process, communicator, global_rank)
                other = places.get(place)
                if other is not None:
                    self._duplicates += 1
                if other is None or claim.age >= other.age:
                    places[place] = claim
        return list(places.values())

    def _add_ras(self, answer: Page, claims: Sequence[_Claim]) -> None:
        if self._ras is None:
            return
        said: dict[tuple[int, int, str], RasStatus] = {}
        for status in self._ras([(claim.process, claim.communicator) for claim in claims]):
            said.setdefault((status.comm_id, status.rank, status.status), status)
        for status in said.values():
            answer.add_ras(status)

    def _add_counters(self, answer: Page) -> None:
        rejected = self._census.rows_rejected
        rejected["duplicate"] += self._duplicates
        capped = {"folded": self._census.folded, "exporter": self._left_out}
        for reason in catalogue.SOURCE_REASONS:
            answer.add(catalogue.SOURCES_REJECTED, (reason,), self._census.sources_rejected[reason])
        for reason in catalogue.ROW_REASONS:
            answer.add(catalogue.ROWS_REJECTED, (reason,), rejected[reason])
        for reason in catalogue.CAP_REASONS:
            answer.add(catalogue.SERIES_CAPPED, (reason,), capped[reason])
        answer.add(catalogue.ROWS_TORN, (), self._census.torn)
        for sample in self._service().samples():
            answer.add(*sample)


def _global_rank(process: Process, communicators: Sequence[Communicator]) -> int:
    """What the job's environment says, else the rank in the process's largest communicator."""
    if process.global_rank >= 0 or not communicators:
        return process.global_rank
    return max(communicators, key=lambda communicator: communicator.nranks).rank
