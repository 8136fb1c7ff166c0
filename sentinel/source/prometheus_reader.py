"""One query, asked and read into a grid."""

from dataclasses import replace
from types import TracebackType
from typing import Self

from sentinel.config.prometheus import PrometheusSettings
from sentinel.errors import SourceError
from sentinel.model.vocabulary import Vocabulary
from sentinel.source.prometheus_answer import UNUSABLE
from sentinel.source.prometheus_grid import Axis, Grid
from sentinel.source.prometheus_labels import LabelReader
from sentinel.source.prometheus_matrix import MatrixReader
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
        self._matrices: dict[str, MatrixReader] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close idle connections."""
        self._session.close()

    def forget_series(self) -> None:
        """Begin a range as a new reader would: the order of its rows is then its own."""
        self._matrices.clear()

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
                grid = self._matrix(query, labels, metrics).read(body, where, axis)
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

    def _matrix(self, query: str, labels: tuple[str, ...], metrics: tuple[str, ...]) -> MatrixReader:
        if query not in self._matrices:

            def bound(count: int, axis: Axis, where: str) -> None:
                """A series with one sample takes as much room in the arrays as one with all of them."""
                if count * axis.count * len(metrics) * 8 > self._settings.max_answer:
                    why = f"{count} series at {axis.count} instants are more than prometheus.max_answer at once"
                    hint = "Raise it, or narrow prometheus.selector."
                    raise AnswerTooLargeError(UNUSABLE, where=where, why=why, hint=hint)

            self._matrices[query] = MatrixReader(labels, self._labels, metrics, bound)
        return self._matrices[query]


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds // 1000}.{milliseconds % 1000:03d}"
