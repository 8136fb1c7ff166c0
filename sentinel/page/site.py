"""The status page as the daemon serves it: its paths, and what stands behind them."""

import threading
from collections.abc import Callable, Mapping
from sys import getsizeof
from typing import Any, Final, Protocol, cast

from nccl_endpoint.page import Answer, Page, Request

from sentinel.history.past import Columns, Past
from sentinel.history.record import Record
from sentinel.model.incident import Incident
from sentinel.model.instant import format_instant
from sentinel.page.answer import UnknownError, api_page, json_answer
from sentinel.page.assets import static_answers
from sentinel.page.course import course_document
from sentinel.page.facts import Facts
from sentinel.page.heatmap import QUANTITIES, Quantity, heatmap_document
from sentinel.page.incidents import IncidentBook, brief_document, full_document
from sentinel.page.kept import Kept
from sentinel.page.overview import status_document
from sentinel.page.panels import PANELS
from sentinel.page.question import Question
from sentinel.page.ranking import ranking_document
from sentinel.page.signals import signals_document
from sentinel.page.store import Store
from sentinel.sink.alert import AlertWriter

__all__ = ["API", "Behind", "StatusPage", "Turns"]

API: Final = "/api/v1"
_KEPT_HEATMAPS_BYTES: Final = 16 << 20
_LARGE_CHARACTERS: Final = 128 << 10


class Turns(Protocol):
    """Who lets work for clients come one at a time, and for a part of the time only."""

    def take(self, work: Callable[[], Answer]) -> Answer:
        """What the work gives."""
        ...


class Behind(Protocol):
    """What the page tells about, as it is now."""

    @property
    def record(self) -> Record:
        """What there is in memory."""
        ...

    @property
    def past(self) -> Past:
        """What there is to show, of memory and of the file."""
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
    """For many threads. `turns` are for work on what is in memory; the metrics store has a queue of its own.

    `after_large` is called when a large answer has been made, of which much was in memory on the way.
    """

    def __init__(
        self, behind: Behind, clock: Callable[[], float], turns: Turns, after_large: Callable[[], None] = lambda: None
    ) -> None:
        self._behind = behind
        self._clock = clock
        self._turns = turns
        self._after_large = after_large
        self._heatmaps = Kept[tuple[str, bool, str], tuple[tuple[Any, ...], Answer]](_KEPT_HEATMAPS_BYTES)
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

    def forget(self) -> None:
        """Let go of what was made for whoever asks again before the next tick: there was one."""
        with self._lock:
            self._heatmaps.clear()

    def _in_turn(self, page: Page) -> Page:
        def work(request: Request) -> Answer:
            answer = page(request)
            if len(answer.text) > _LARGE_CHARACTERS:
                self._after_large()
            return answer

        return lambda request: self._turns.take(lambda: work(request))

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
        course, fault = course_document(behind.past, incident, now)
        return json_answer({**document, "course": course, "course_fault": fault})

    def _heatmap(self, question: Question) -> Answer:
        ticks, quantity = question.ticks, question.choice("quantity", QUANTITIES, "lateness")
        kept, fault = self._columns(question, ticks)
        columns = kept.columns
        incidents, _ = self._kept_incidents()
        told = tuple((each.id, each.tier, each.ended_at) for each in incidents)
        key = (kept.roster.comm, ticks, quantity)
        made_of = (columns[-1].time if columns else 0.0, len(columns), told, fault)
        with self._lock:
            found = self._heatmaps.get(key)
        if found is not None and found[0] == made_of:
            return found[1]
        document = heatmap_document(kept.roster, columns, cast("Quantity", quantity), incidents)
        answer = json_answer({**document, "fault": fault})
        with self._lock:
            self._heatmaps.put(key, (made_of, answer), getsizeof(answer.text) + len(answer.gzipped))
        return answer

    def _ranking(self, question: Question) -> Answer:
        kept, fault = self._columns(question, question.ticks)
        document = ranking_document(kept.roster, kept.columns, self._kept_incidents()[0])
        return json_answer({**document, "fault": fault})

    def _signals(self, question: Question) -> Answer:
        return json_answer(signals_document(self._behind.past, question.ticks))

    def _curves(self, panel: str) -> Callable[[Question], Answer]:
        def work(question: Question) -> Answer:
            comm, span = question.text("comm"), self._behind.record.span
            # Only what is known: nobody else's text gets into a query.
            known, fault = self._behind.past.knows(comm)
            if not known:
                raise UnknownError(fault or f"there is no communicator {comm}")
            seconds = span.ticks_seconds if question.ticks else span.bins_seconds
            return json_answer(self._behind.store.read(panel, comm, seconds, self._clock()))

        return work

    def _columns(self, question: Question, ticks: bool) -> tuple[Columns, str]:
        comm = question.text("comm")
        kept, fault = self._behind.past.columns(comm, ticks)
        if kept is None:
            raise UnknownError(fault or f"there is no communicator {comm}")
        return kept, fault

    def _kept_incidents(self) -> tuple[list[Incident], str]:
        return self._behind.book.since(self._clock() - self._behind.record.span.bins_seconds)


def _always(answer: Answer) -> Page:
    return lambda _: answer
