"""The learnt baseline: what is normal for each rank of each role, cell by cell."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any

import orjson

from sentinel.measure.membership import Role
from sentinel.measure.role_index import RoleKey

__all__ = ["Baseline", "BaselineRow"]

_FORMAT = 2


@dataclass(frozen=True)
class BaselineRow:
    """One rank's normal in one cell, as `sentinel baseline show` prints it. Durations in seconds per operation."""

    job_id: str
    comm_name: str
    nranks: int
    nnodes: int
    members: str
    rank: int
    global_rank: int
    node: str
    gpu: str
    op: str
    size: str
    algo: str
    proto: str
    ticks: int  # windows with data
    operations: float
    duration_seconds: float  # median over windows of the geometric mean
    lateness_seconds: float  # median over windows; positive is later than its peers
    lateness_spread_seconds: float  # robust standard deviation over windows, of the upper side
    wait_seconds: float  # as lateness, of arithmetic means: what it normally costs its peers
    wait_spread_seconds: float
    autocorrelation: float  # of the lateness, lag one
    wait_autocorrelation: float

    @property
    def key(self) -> RoleKey:
        """Identity across restarts: the role, the rank in it, and the cell."""
        role = Role(self.job_id, self.comm_name, self.nranks, self.nnodes, self.members)
        return (role, self.rank, self.op, self.size, self.algo, self.proto)


@dataclass(frozen=True)
class Baseline:
    """Learnt from (start, end], Unix seconds, in windows of `step_seconds`. Immutable.

    `to_bytes` and `from_bytes` are exact inverses.
    """

    start: float
    end: float
    step_seconds: float
    rows: tuple[BaselineRow, ...]

    @cached_property
    def by_key(self) -> Mapping[RoleKey, BaselineRow]:
        """The rows by identity."""
        return {row.key: row for row in self.rows}

    def to_bytes(self) -> bytes:
        """JSON, UTF-8: columns, so that a large baseline stays small."""
        columns = {field.name: [getattr(row, field.name) for row in self.rows] for field in fields(BaselineRow)}
        head: dict[str, Any] = {key: value for key, value in asdict(self).items() if key != "rows"}
        return orjson.dumps({"format": _FORMAT, **head, "rows": columns})

    @classmethod
    def from_bytes(cls, data: bytes) -> "Baseline":
        """What `to_bytes` wrote. ValueError for anything else."""
        try:
            document = orjson.loads(data)
            if document["format"] != _FORMAT:
                raise ValueError(f"baseline format {document['format']} is not {_FORMAT}")
            columns = [document["rows"][field.name] for field in fields(BaselineRow)]
            rows = tuple(BaselineRow(*values) for values in zip(*columns, strict=True))
            return cls(float(document["start"]), float(document["end"]), float(document["step_seconds"]), rows)
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a baseline: {error!r}") from error
