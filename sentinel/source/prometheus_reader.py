"""One query, asked and read into a grid."""

from dataclasses import replace
from types import TracebackType
from typing import Self

from sentinel.config.prometheus import PrometheusSettings
from sentinel.errors import SourceError
from sentinel.model.vocabulary import Vocabulary
from sentinel.source.prometheus_answer import UNUSABLE, Answer, decode
from sentinel.source.prometheus_grid import Axis, Grid, read_grid
from sentinel.source.prometheus_labels import LabelReader
from sentinel.source.prometheus_session import AnswerTooLargeError, Observe, PrometheusSession
from sentinel.source.prometheus_vector import VectorReader

__all__ = ["PrometheusReader"]


class PrometheusReader:
    """Asks a server, in codes of one vocabulary. As a context manager it closes its connections."""

    def __init__(self, settings: PrometheusSettings, vocabulary: Vocabulary, observe: Observe | None = None) -> None:
        self._settings = settings
        self._session = PrometheusSession(settings, observe=observe)
        self._labels = LabelReader(vocabulary)
        self._vectors: dict[str, VectorReader] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close idle connections."""
        self._session.close()

    def read(self, query: str, labels: tuple[str, ...], axis: Axis, metrics: tuple[str, ...] = ("",)) -> Grid:
        """The series by their `labels`, and by name where there are several `metrics`. SourceError."""
        # The server stops by itself when we no longer listen.
        form = {"query": query, "timeout": f"{round(self._settings.timeout.total_seconds() * 1000)}ms"}
        if axis.instant:
            path = "/api/v1/query"
            form["time"] = _seconds(axis.start)
        else:
            path = "/api/v1/query_range"
            form |= {"start": _seconds(axis.start), "end": _seconds(axis.end), "step": _seconds(axis.step)}
        body = self._session.post(path, form)
        where = self._session.where(path, form)
        try:
            if axis.instant:
                grid = self._vector(query, labels, metrics).read(body, where, axis)
            else:
                answer = decode(body, "matrix", where)
                self._bound(answer, axis, len(metrics), where)
                grid = read_grid(answer, labels, self._labels, axis, metrics)
        except SourceError as error:
            raise type(error)(
                error.what, where=error.where, why=self._session.redact(error.why), hint=error.hint
            ) from None
        return replace(grid, warnings=tuple(map(self._session.redact, grid.warnings)))

    def _vector(self, query: str, labels: tuple[str, ...], metrics: tuple[str, ...]) -> VectorReader:
        """Of a query that is asked tick after tick; all of them are few."""
        if query not in self._vectors:
            self._vectors[query] = VectorReader(labels, self._labels, metrics)
        return self._vectors[query]

    def _bound(self, answer: Answer, axis: Axis, metrics: int, where: str) -> None:
        """A series with one sample takes as much room in the arrays as one with all of them."""
        taken_bytes = answer.count * axis.count * metrics * 8
        if taken_bytes > self._settings.max_answer:
            why = f"{answer.count} series at {axis.count} instants are more than prometheus.max_answer at once"
            raise AnswerTooLargeError(UNUSABLE, where=where, why=why, hint="Raise it, or narrow prometheus.selector.")


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds // 1000}.{milliseconds % 1000:03d}"
