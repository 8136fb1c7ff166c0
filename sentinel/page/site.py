"""The status page as the daemon serves it: its paths, and what stands behind them."""

import threading
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, cast

from nccl_endpoint.page import Answer, Page

from sentinel.history.column import Column
from sentinel.history.record import Record
from sentinel.history.roster import Roster
from sentinel.model.incident import Incident
from sentinel.model.instant import format_instant
from sentinel.page.answer import UnknownError, api_page, json_answer
from sentinel.page.assets import static_answers
from sentinel.page.course import course_document
from sentinel.page.facts import Facts
from sentinel.page.heatmap import QUANTITIES, Quantity, heatmap_document
from sentinel.page.incidents import IncidentBook, brief_document, full_document
from sentinel.page.overview import status_document
from sentinel.page.panels import PANELS
from sentinel.page.question import Question
from sentinel.page.ranking import ranking_document
from sentinel.page.signals import signals_document
from sentinel.page.store import Store
from sentinel.sink.alert import AlertWriter

__all__ = ["API", "Behind", "StatusPage", "Turns"]

API: Final = "/api/v1"
_KEPT_HEATMAPS: Final = 8


class Turns(Protocol):
    """Who lets work for clients come one at a time, and for a part of the time only."""

    def take(self, work: Callable[[], Answer]) -> Answer:
        """What the work gives."""
        ...


class Behind(Protocol):
    """What the page tells about, as it is now."""

    @property
    def record(self) -> Record:
        """What there is to show."""
        ...

    @property
    def book(self) -> IncidentBook:
        """Incidents."""
        ...

    @property
    def store(self) -> Store:
        """Where curves are asked for."""
        ...

    @property
    def writer(self) -> AlertWriter:
        """What alerts say."""
        ...

    @property
    def selector(self) -> str:
        """Matchers of every query."""
        ...

    def facts(self) -> Facts:
        """What the daemon knows of itself."""
        ...


class StatusPage:
    """For many threads. `turns` are for work on what is in memory; the metrics store has a queue of its own."""

    def __init__(self, behind: Behind, clock: Callable[[], float], turns: Turns) -> None:
        self._behind = behind
        self._clock = clock
        self._turns = turns
        self._heatmaps: dict[tuple[Any, ...], Answer] = {}
        self._lock = threading.Lock()

    def pages(self) -> Mapping[str, Page]:
        """By path."""
        answers = {path: _always(answer) for path, answer in static_answers().items()}
        work = {
            "status": self._status,
            "incidents": self._incidents,
            "incident": self._incident,
            "heatmap": self._heatmap,
            "ranking": self._ranking,
            "signals": self._signals,
        }
        answers |= {f"{API}/{name}": self._in_turn(api_page(each)) for name, each in work.items()}
        return answers | {f"{API}/{name}": api_page(self._curves(name)) for name in PANELS}

    def _in_turn(self, page: Page) -> Page:
        return lambda request: self._turns.take(lambda: page(request))

    def _status(self, _: Question) -> Answer:
        return json_answer(status_document(self._behind.facts(), self._behind.record.moment, self._clock()))

    def _incidents(self, _: Question) -> Answer:
        found, fault = self._kept_incidents()
        since = self._clock() - self._behind.record.span.bins_seconds
        return json_answer(
            {"since": format_instant(since), "incidents": [brief_document(each) for each in found], "fault": fault}
        )

    def _incident(self, question: Question) -> Answer:
        now, behind = self._clock(), self._behind
        incident = behind.book.find(question.text("id"))
        document = full_document(incident, behind.writer, behind.selector, now)
        return json_answer({**document, "course": course_document(behind.record, incident, now)})

    def _heatmap(self, question: Question) -> Answer:
        ticks, quantity = question.ticks, question.choice("quantity", QUANTITIES, "lateness")
        roster, columns = self._columns(question, ticks)
        incidents, _ = self._kept_incidents()
        told = tuple((each.id, each.tier, each.ended_at) for each in incidents)
        key = (roster.comm, ticks, quantity, columns[-1].time if columns else 0.0, len(columns), told)
        with self._lock:
            if key in self._heatmaps:
                return self._heatmaps[key]
        answer = json_answer(heatmap_document(roster, columns, cast("Quantity", quantity), incidents))
        with self._lock:
            self._heatmaps[key] = answer
            while len(self._heatmaps) > _KEPT_HEATMAPS:
                del self._heatmaps[next(iter(self._heatmaps))]
        return answer

    def _ranking(self, question: Question) -> Answer:
        roster, columns = self._columns(question, question.ticks)
        return json_answer(ranking_document(roster, columns, self._kept_incidents()[0]))

    def _signals(self, question: Question) -> Answer:
        return json_answer(signals_document(self._behind.record, question.ticks))

    def _curves(self, panel: str) -> Callable[[Question], Answer]:
        def work(question: Question) -> Answer:
            comm, span = question.text("comm"), self._behind.record.span
            # Only what is known: nobody else's text gets into a query.
            if self._behind.record.columns(comm, ticks=True) is None:
                raise UnknownError(f"there is no communicator {comm}")
            seconds = span.ticks_seconds if question.ticks else span.bins_seconds
            return json_answer(self._behind.store.read(panel, comm, seconds, self._clock()))

        return work

    def _columns(self, question: Question, ticks: bool) -> tuple[Roster, list[Column]]:
        comm = question.text("comm")
        found = self._behind.record.columns(comm, ticks)
        if found is None:
            raise UnknownError(f"there is no communicator {comm}")
        return found

    def _kept_incidents(self) -> tuple[list[Incident], str]:
        return self._behind.book.since(self._clock() - self._behind.record.span.bins_seconds)


def _always(answer: Answer) -> Page:
    return lambda _: answer
