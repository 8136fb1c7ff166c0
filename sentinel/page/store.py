"""Curves read from the metrics store: one question at a time, answers kept for some seconds, bounded in bytes."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

import numpy as np

from sentinel.config.prometheus import PrometheusSettings
from sentinel.errors import SourceError
from sentinel.page.kept import Kept
from sentinel.page.panels import PANELS, Curves
from sentinel.source.prometheus_answer import Series, decode
from sentinel.source.prometheus_session import PrometheusSession

__all__ = ["Store"]

_KEPT_SECONDS: Final = 15.0
_KEPT_BYTES: Final = 4 << 20
_VALUE_BYTES: Final = 32  # of a number in a list
_MOST_SECONDS: Final = 15.0  # for one query: somebody is waiting
_PATIENCE_SECONDS: Final = 5.0  # for the question before
_POINTS: Final = 96
_MOST_CURVES: Final = 64


class Store:
    """For many threads. SourceError where the store cannot be asked, or is still at the question before."""

    def __init__(self, settings: PrometheusSettings, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._kept = Kept[tuple[str, str, float], tuple[float, dict[str, Any]]](_KEPT_BYTES)
        self.configure(settings)

    def configure(self, settings: PrometheusSettings) -> None:
        """Ask another one, or otherwise, from now on."""
        timeout = min(settings.timeout, timedelta(seconds=_MOST_SECONDS))
        with self._lock:
            self._settings = settings.model_copy(update={"timeout": timeout, "retries": 0})
            self._kept.clear()

    def read(self, panel: str, comm: str, span_seconds: float, now: float) -> dict[str, Any]:
        """A panel of `PANELS` about a communicator, as JSON values, over `span_seconds` up to the Unix time `now`."""
        if not self._lock.acquire(timeout=_PATIENCE_SECONDS):
            raise SourceError("cannot ask the metrics store", why="it has not answered the question before yet")
        try:
            key, moment = (panel, comm, span_seconds), self._monotonic()
            kept = self._kept.get(key)
            if kept is not None and moment - kept[0] < _KEPT_SECONDS:
                return kept[1]
            document = self._read(panel, comm, span_seconds, now)
            curves = sum(len(part["curves"]) for part in document["parts"].values())
            self._kept.put(key, (moment, document), (1 + curves) * _POINTS * _VALUE_BYTES)
            return document
        finally:
            self._lock.release()

    def _read(self, panel: str, comm: str, span_seconds: float, now: float) -> dict[str, Any]:
        step = max(1.0, span_seconds // _POINTS)
        end = now // step * step
        times = end - step * np.arange(_POINTS - 1, -1, -1)
        document: dict[str, Any] = {"comm": comm, "times": times.tolist(), "parts": {}}
        session = PrometheusSession(self._settings)
        try:
            for name, curves in PANELS[panel].items():
                document["parts"][name] = self._part(session, curves, comm, times, step)
        finally:
            session.close()
        return document

    def _part(
        self, session: PrometheusSession, curves: Curves, comm: str, times: np.ndarray[Any, Any], step: float
    ) -> dict[str, Any]:
        found: list[dict[str, Any]] = []
        for query in curves.queries(comm, self._settings.selector):
            form = {
                "query": query,
                "start": f"{times[0]:.3f}",
                "end": f"{times[-1]:.3f}",
                "step": f"{step:.3f}",
                "timeout": f"{round(self._settings.timeout.total_seconds() * 1000)}ms",
            }
            path = "/api/v1/query_range"
            answer = decode(session.post(path, form), "matrix", session.where(path, form))
            for series in answer.series:
                if len(found) < _MOST_CURVES:
                    found.append(_curve(series, curves, times, step))
            if found:
                break
        found.sort(key=lambda each: [each["labels"][name] for name in curves.labels])
        return {"unit": curves.unit, "curves": found}


def _curve(series: Series, curves: Curves, times: np.ndarray[Any, Any], step: float) -> dict[str, Any]:
    """SourceError for what is no series."""
    try:
        labels = {name: str(series["metric"].get(name, "")) for name in curves.labels}
        values = np.full(len(times), np.nan)
        for time_, text in series["values"]:
            place = round((float(time_) - times[0]) / step)
            if 0 <= place < len(times):
                values[place] = float(text)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SourceError("cannot use Prometheus's answer", why="a series is not what it should be") from error
    return {"labels": labels, "values": np.where(np.isfinite(values), values, np.nan).tolist()}
