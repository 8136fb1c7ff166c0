"""A simulated job's past behind Prometheus' query API: any instant and any range of what was recorded.

    history = RecordedHistory(cluster.snapshots(100))
    with HistoryServer(history) as server: ...

Run as a program it simulates a job, says its address on stdout once it is ready, and serves until stdin is closed.
"""

import argparse
import math
import os
import sys
import threading
from collections.abc import Collection, Iterable, Sequence
from http import HTTPStatus
from types import TracebackType

import numpy as np
import numpy.typing as npt
import orjson
from simulator import presets
from simulator.api import Table, head, tables
from simulator.cluster import Cluster
from simulator.noise import Ar1, Imbalance, Normal
from simulator.query_server import Form, QueryServer, Reply, refusal

from sentinel.model.snapshot import Snapshot
from sentinel.model.vocabulary import Codes, Vocabulary
from sentinel.source import prometheus_query

_MOST_POINTS = 11_000  # of a series, as Prometheus allows
_MOST_SAMPLES = 50_000_000  # of a query


class _Series:
    """The series of one query and metric: what each begins with, and a row of values by instant."""

    def __init__(self, instants: int) -> None:
        self._instants = instants
        self.rows: dict[tuple[int, ...], int] = {}
        self.heads: list[bytes] = []
        self._values = np.full((0, instants), np.nan)

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """NaN where nothing is. Shape (series, instants)."""
        return self._values[: len(self.heads)]

    def add(self, instant: int, rows: npt.NDArray[np.intp], values: npt.NDArray[np.float64]) -> None:
        if len(self.heads) > len(self._values):
            wider = np.full((max(len(self.heads), 2 * len(self._values)), self._instants), np.nan)
            wider[: len(self._values)] = self._values
            self._values = wider
        self._values[rows, instant] = values


class RecordedHistory:
    """Snapshots one step apart, by query; `instants` of them at most. Nothing is kept of what `without` asks."""

    def __init__(self, snapshots: Iterable[Snapshot], instants: int, without: Collection[str] = ()) -> None:
        self._instants, self._without = instants, frozenset(without)
        self._series: dict[str, dict[str, _Series]] = {}
        self._last: dict[tuple[str, str], tuple[Sequence[Codes], npt.NDArray[np.intp]]] = {}  # labels, and their rows
        self.times: list[int] = []  # Unix milliseconds
        for snapshot in snapshots:
            self._add(snapshot)

    def _add(self, snapshot: Snapshot) -> None:
        instant = len(self.times)
        self.times.append(round(snapshot.time * 1000))
        for query, table in tables(snapshot).items():
            if query in self._without:
                continue
            for metric, values in table.metrics.items():
                series = self._series.setdefault(query, {}).setdefault(metric, _Series(self._instants))
                series.add(instant, self._rows(query, metric, table, series, snapshot.vocabulary), values)

    def _rows(
        self, query: str, metric: str, table: Table, series: _Series, vocabulary: Vocabulary
    ) -> npt.NDArray[np.intp]:
        """From snapshot to snapshot most labels stay."""
        columns = list(table.labels.values())
        before, rows = self._last.get((query, metric), ([], np.empty(0, dtype=np.intp)))
        if len(before) == len(columns) and all(map(np.array_equal, before, columns)):
            return rows
        keys = list(zip(*(column.tolist() for column in columns), strict=True))
        for key in keys:
            if key not in series.rows:
                series.rows[key] = len(series.heads)
                series.heads.append(head(metric, table.labels, key, vocabulary))
        rows = np.array([series.rows[key] for key in keys], dtype=np.intp)
        self._last[query, metric] = columns, rows
        return rows

    def knows(self, query: str) -> bool:
        """Whether it is one of the daemon's."""
        return query in self._series

    def range(self, query: str, times: Sequence[int]) -> bytes:
        """The body of a range query's answer at these Unix milliseconds. ValueError where there is too much."""
        place = {time: number for number, time in enumerate(self.times)}
        known = [time for time in times if time in place]
        chosen = [place[time] for time in known]
        columns = slice(chosen[0], chosen[-1] + 1) if _is_run(chosen) else chosen
        starts = [b'[%s,"' % _seconds(time) for time in known]
        count = sum(len(series.heads) for series in self._series[query].values())
        if count * len(times) > _MOST_SAMPLES:
            raise ValueError("query processing would load too many samples into memory in query execution")
        found = [
            text
            for series in self._series[query].values()
            for text in _matrix(series.heads, series.values[:, columns], starts)
        ]
        return b'{"status":"success","data":{"resultType":"matrix","result":[' + b",".join(found) + b"]}}"

    def instant(self, query: str, time: int) -> bytes:
        """The body of an answer at one Unix millisecond."""
        body = self.range(query, [time])
        return body.replace(b'"matrix"', b'"vector"').replace(b'"values":[[', b'"value":[').replace(b'"]]}', b'"]}')


def _is_run(numbers: Sequence[int]) -> bool:
    return bool(numbers) and numbers[-1] - numbers[0] == len(numbers) - 1


def _seconds(time: int) -> bytes:
    return (f"{time // 1000}" if time % 1000 == 0 else f"{time / 1000:.3f}").encode()


def _matrix(heads: Sequence[bytes], values: npt.NDArray[np.float64], starts: Sequence[bytes]) -> Iterable[bytes]:
    absent = np.isnan(values)
    is_whole = not absent.any()
    for number, text in enumerate(heads):
        row, times = values[number], starts
        if not is_whole and absent[number].any():
            times = [start for start, gone in zip(starts, absent[number].tolist(), strict=True) if not gone]
            row = row[~absent[number]]
        if not len(row):
            continue
        # Whole numbers have no point, as in Prometheus.
        counts = row.astype(np.int64)
        numbers = counts if (counts == row).all() else row
        pieces: list[bytes] = [b'"],'] * (3 * len(times) - 1)
        pieces[0::3] = times
        pieces[1::3] = orjson.dumps(np.ascontiguousarray(numbers), option=orjson.OPT_SERIALIZE_NUMPY)[1:-1].split(b",")
        yield b'%s"values":[%s"]]}' % (text, b"".join(pieces))


class HistoryServer(QueryServer):
    """Serves a recorded history over HTTP on a loopback port. `asked` counts range queries.

    When `hold_after` of them are answered the next wait until `released` is set.
    """

    def __init__(self, history: RecordedHistory) -> None:
        self.asked = 0
        self.hold_after = math.inf
        self.released = threading.Event()
        self._history = history
        super().__init__(self.reply)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.released.set()
        super().__exit__(kind, error, trace)

    def reply(self, form: Form) -> Reply:
        """Status and body."""
        query = form["query"][0]
        if not self._history.knows(query):
            return HTTPStatus.BAD_REQUEST, refusal("bad_data", "not simulated")
        if "time" in form:
            return HTTPStatus.OK, self._history.instant(query, _milliseconds(form["time"][0]))
        self.asked += 1
        if self.asked > self.hold_after:
            self.released.wait()
        start, end, step = (_milliseconds(form[name][0]) for name in ("start", "end", "step"))
        if (end - start) // step > _MOST_POINTS:
            why = "exceeded maximum resolution of 11,000 points per timeseries."
            return HTTPStatus.BAD_REQUEST, refusal("bad_data", why)
        try:
            return HTTPStatus.OK, self._history.range(query, range(start, end + 1, step))
        except ValueError as error:
            return HTTPStatus.UNPROCESSABLE_ENTITY, refusal("execution", str(error))


def _milliseconds(text: str) -> int:
    return round(float(text) * 1000)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layout", choices=("fsdp", "hybrid", "two_level"), default="hybrid")
    parser.add_argument("--ranks", type=int, default=1024)
    parser.add_argument("--ticks", type=int, default=10_080)
    parser.add_argument("--tick-seconds", type=float, default=60.0)
    parser.add_argument("--start", type=float, default=1_700_000_040.0, help="Unix seconds, a tick before the first")
    parser.add_argument("--collectives", action="store_true", help="keep nothing of networks, to save memory")
    parser.add_argument("--processes", type=int, default=1, help="that answer: a real store uses several cores")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    cluster = Cluster(
        getattr(presets, options.layout)(options.ranks),
        noise=(Normal(0.02), Ar1(0.01, 0.9), Imbalance(0.005)),
        seed=options.seed,
        tick_seconds=options.tick_seconds,
        scrape_moments=4,
        start=options.start,
    )
    without = (prometheus_query.network(""), prometheus_query.peers("")) if options.collectives else ()
    history = RecordedHistory(cluster.snapshots(options.ticks), options.ticks, without)
    server = HistoryServer(history)
    is_first = all(os.fork() for _ in range(options.processes - 1))
    with server:
        if is_first:
            sys.stdout.write(f"{server.url}\n")
            sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
