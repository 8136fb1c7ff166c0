"""Incidents, baselines and ticks, read and written."""

import json
import sqlite3
from collections.abc import Iterable
from dataclasses import astuple, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from sentinel.model.context import ContextNote, Effect, Silence
from sentinel.model.incident import Culprit, FormerTier, Incident, Tier, Verdict
from sentinel.model.place import Freeze, Place
from sentinel.state.database import (
    FILE_NAME,
    BrokenStateError,
    copy_database,
    explained,
    move_away,
    open_database,
    open_database_readonly,
    transaction,
)
from sentinel.state.database_file import DatabaseFile
from sentinel.state.tick import Outcome, TickRecord

__all__ = ["BaselineVersion", "State", "StoredBaseline"]

_COLUMNS = (
    "id, verdict, tier, comm, comm_name, job, job_id, ranks, node, gpu, "
    "started_at, detected_at, ended_at, cost_ratio, evidence, victims, former_tiers, recurrences, context, silenced_by"
)
# What identifies an incident and when it began is written once, and never again.
_UPSERT = f"""INSERT INTO incidents ({_COLUMNS}) VALUES ({", ".join("?" * (_COLUMNS.count(",") + 1))})
    ON CONFLICT (id) DO UPDATE SET tier = excluded.tier, ended_at = excluded.ended_at,
    cost_ratio = excluded.cost_ratio, evidence = excluded.evidence, victims = excluded.victims,
    former_tiers = excluded.former_tiers, recurrences = excluded.recurrences,
    context = excluded.context, silenced_by = excluded.silenced_by"""  # noqa: S608 (constants)
_FREEZE = """INSERT INTO freezes (node, gpu, gpu_uuid, job_id, started_at, ended_at) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET ended_at = max(ended_at, excluded.ended_at)"""
_KEPT_INCIDENTS = 10_000  # of those that ended, the newest
_KEPT_FREEZES_SECONDS = 90 * 86_400.0
_KEPT_FREEZES = 100_000  # the newest; a bound for what alerts of others can make


@dataclass(frozen=True)
class StoredBaseline:
    """A baseline under its number; numbers grow and are never reused. Times are Unix seconds.

    `data` is what it was given as: the state does not know what is in a baseline.
    """

    version: int
    built_at: float
    start: float
    end: float
    data: bytes


@dataclass(frozen=True)
class BaselineVersion:
    """What is known of a stored baseline without reading it. Times are Unix seconds."""

    version: int
    built_at: float
    start: float
    end: float
    size_bytes: int


class State:
    """The database of one state directory.

    Every method raises StateError when it cannot be read or written: BrokenStateError where `renew` is what helps.
    """

    def __init__(self, connection: sqlite3.Connection | None, directory: Path) -> None:
        self._connection = connection
        self._is_copy = False
        self._path = directory / FILE_NAME
        self._file: DatabaseFile | None = None  # of one that is written

    @classmethod
    def open(cls, directory: Path) -> Self:
        """For reading and writing."""
        state = cls(open_database(directory), directory)
        state._file = DatabaseFile(state._path)
        return state

    @classmethod
    def open_readonly(cls, directory: Path) -> Self:
        """For reading, beside a running daemon. Where there is no database yet, all is empty."""
        return cls(open_database_readonly(directory), directory)

    @classmethod
    def open_copy(cls, directory: Path) -> Self:
        """For reading what there is, and writing once that is possible: until then every attempt is a StateError."""
        state = cls(copy_database(directory), directory)
        state._is_copy = True
        return state

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        if self._connection is not None:
            self._connection.close()
        if self._file is not None:
            self._file.close()
            self._file = None

    def renew(self) -> Path:
        """Make a new, empty database; what is in the place of it is moved to the path that is given back."""
        self.close()
        self._connection, self._is_copy = None, False
        moved_to = move_away(self._path.parent)
        self._connection = open_database(self._path.parent)
        self._file = DatabaseFile(self._path)
        return moved_to

    def record(
        self, tick: TickRecord, incidents: Iterable[Incident], keep_ticks: int, freezes: Iterable[Freeze] = ()
    ) -> None:
        """Write one tick, what it did to incidents, and where nothing was learnt, in one transaction.

        All but the newest ticks are forgotten, all but the newest 10,000 incidents that ended, and freezes after 90
        days.
        """
        with explained(self._path), transaction(self._writable()) as cursor:
            found = [_incident_row(incident) for incident in incidents]
            if found:
                cursor.executemany(_UPSERT, found)
                cursor.execute(
                    "DELETE FROM incidents WHERE ended_at < (SELECT ended_at FROM incidents WHERE ended_at IS NOT NULL"
                    " ORDER BY ended_at DESC LIMIT 1 OFFSET ?)",
                    (_KEPT_INCIDENTS - 1,),
                )
            cursor.execute(
                "INSERT OR REPLACE INTO ticks (time, outcome, duration_seconds, findings, error)"
                " VALUES (?, ?, ?, ?, ?)",
                (tick.time, tick.outcome.value, tick.duration_seconds, tick.findings, tick.error),
            )
            cursor.execute(
                "DELETE FROM ticks WHERE time <= (SELECT time FROM ticks ORDER BY time DESC LIMIT 1 OFFSET ?)",
                (keep_ticks,),
            )
            rows = [(*astuple(each.place), each.started_at, each.ended_at) for each in freezes]
            if rows:
                cursor.executemany(_FREEZE, rows)
                cursor.execute(
                    "DELETE FROM freezes WHERE ended_at < max(?, coalesce("
                    "(SELECT ended_at FROM freezes ORDER BY ended_at DESC LIMIT 1 OFFSET ?), 0))",
                    (tick.time - _KEPT_FREEZES_SECONDS, _KEPT_FREEZES - 1),
                )

    def freezes_since(self, time: float) -> list[Freeze]:
        """Where nothing was to be learnt, and when, as far as that was after `time`, in the order of the starts."""
        rows = self._rows(
            "SELECT node, gpu, gpu_uuid, job_id, started_at, ended_at FROM freezes WHERE ended_at > ?"
            " ORDER BY started_at, node, gpu, gpu_uuid, job_id",
            (time,),
        )
        return [Freeze(Place(*place), started_at, ended_at) for *place, started_at, ended_at in rows]

    def add_baseline(self, built_at: float, start: float, end: float, data: bytes) -> int:
        """Keep a baseline that was learnt from `start` to `end`; its number."""
        with explained(self._path), transaction(self._writable()) as cursor:
            cursor.execute(
                "INSERT INTO baselines (built_at, range_start, range_end, data) VALUES (?, ?, ?, ?)",
                (built_at, start, end, data),
            )
            version = cursor.lastrowid
        assert version is not None  # noqa: S101 (an INSERT has one)
        return version

    def baseline(self, version: int | None = None, ended_by: float | None = None) -> StoredBaseline | None:
        """The baseline of that number, or the newest; `ended_by` leaves out those that know of later times."""
        rows = self._rows(
            "SELECT version, built_at, range_start, range_end, data FROM baselines WHERE version = coalesce(?, version)"
            " AND range_end <= coalesce(?, range_end) ORDER BY version DESC LIMIT 1",
            (version, ended_by),
        )
        return StoredBaseline(*rows[0]) if rows else None

    def baseline_versions(self) -> list[BaselineVersion]:
        """Every baseline that is kept, the newest first."""
        rows = self._rows(
            "SELECT version, built_at, range_start, range_end, length(data) FROM baselines ORDER BY version DESC", ()
        )
        return [BaselineVersion(*row) for row in rows]

    def incident(self, prefix: str) -> list[Incident]:
        """The incidents whose id begins so."""
        return self._incidents("substr(id, 1, length(?)) = ?", (prefix, prefix))

    def open_incidents(self) -> list[Incident]:
        """Those that go on, in the order of their start."""
        return self._incidents("ended_at IS NULL", ())

    def incidents_since(self, time: float) -> list[Incident]:
        """Those that go on, or ended after `time`, in the order of their start."""
        return self._incidents("ended_at IS NULL OR ended_at > ?", (time,))

    def last_tick(self) -> TickRecord | None:
        """The newest tick."""
        rows = self._rows(
            "SELECT time, outcome, duration_seconds, findings, error FROM ticks ORDER BY time DESC LIMIT 1", ()
        )
        if not rows:
            return None
        time, outcome, duration_seconds, findings, error = rows[0]
        return TickRecord(time, Outcome(outcome), duration_seconds, findings, error)

    def _writable(self) -> sqlite3.Connection:
        if self._is_copy:
            connection = open_database(self._path.parent)
            self.close()
            self._connection, self._is_copy = connection, False
            self._file = DatabaseFile(self._path)
        fault = self._file.fault if self._file is not None else ""
        if self._connection is None or fault:
            why = fault or "no new one could be made"
            raise BrokenStateError("the state database is gone or broken", where=str(self._path), why=why)
        return self._connection

    def _incidents(self, condition: str, values: tuple[Any, ...]) -> list[Incident]:
        query = f"SELECT {_COLUMNS} FROM incidents WHERE {condition} ORDER BY started_at, id"  # noqa: S608 (constants)
        rows = self._rows(query, values)
        try:
            return [_incident(row) for row in rows]
        except (ValueError, TypeError) as error:
            raise BrokenStateError("the state cannot be understood", where=str(self._path), why=str(error)) from error

    def _rows(self, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        if self._connection is None:
            return []
        with explained(self._path):
            return self._connection.execute(query, values).fetchall()


def _incident_row(incident: Incident) -> tuple[Any, ...]:
    culprit = incident.culprit
    return (
        incident.id,
        culprit.verdict.value,
        incident.tier.value,
        culprit.comm,
        culprit.comm_name,
        culprit.job,
        culprit.job_id,
        json.dumps(culprit.ranks),
        culprit.node,
        culprit.gpu,
        incident.started_at,
        incident.detected_at,
        incident.ended_at,
        incident.cost_ratio,
        json.dumps(dict(incident.evidence)),
        incident.victims,
        json.dumps([[former.tier.value, former.until] for former in incident.former_tiers]),
        incident.recurrences,
        json.dumps(
            [[each.effect.value, dict(each.labels), each.started_at, each.ended_at] for each in incident.context]
        ),
        json.dumps([astuple(each) for each in incident.silenced_by]),
    )


def _incident(row: tuple[Any, ...]) -> Incident:
    (id_, verdict, tier, comm, comm_name, job, job_id, ranks, node, gpu, *rest) = row
    started_at, detected_at, ended_at, cost_ratio, evidence, victims, *rest = rest
    former_tiers, recurrences, context, silenced_by = rest
    return Incident(
        id=id_,
        culprit=Culprit(Verdict(verdict), job, job_id, comm, comm_name, tuple(json.loads(ranks)), node, gpu),
        tier=Tier(tier),
        started_at=started_at,
        detected_at=detected_at,
        ended_at=ended_at,
        cost_ratio=cost_ratio,
        victims=victims,
        evidence=json.loads(evidence),
        former_tiers=tuple(FormerTier(Tier(tier), until) for tier, until in json.loads(former_tiers)),
        recurrences=recurrences,
        context=tuple(ContextNote(Effect(effect), *more) for effect, *more in json.loads(context)),
        silenced_by=tuple(Silence(*each) for each in json.loads(silenced_by)),
    )
