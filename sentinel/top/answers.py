"""What the daemon's API answers, as far as it is shown (docs/status-page.md has all of it).

Names come from jobs: here they lose what would move a cursor. What is sent back (`id`, `comm`) stays as it is.
"""

from functools import partial
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, PlainSerializer

from sentinel.model.instant import format_instant, parse_instant
from sentinel.transport.redaction import one_line

__all__ = [
    "Communicator",
    "Daemon",
    "EvidencePart",
    "Incident",
    "Incidents",
    "Job",
    "Note",
    "Quality",
    "RankRow",
    "Ranking",
    "Silence",
    "Status",
    "Story",
]

_LONG_CHARACTERS: Final = 4000


def _unix_or_none(value: Any) -> float | None:
    return None if value is None else _unix(value)


def _unix(value: Any) -> float:
    if not isinstance(value, str):
        raise ValueError("not a time")  # noqa: TRY004 (pydantic wants it so)
    return parse_instant(value)


Words = Annotated[str, AfterValidator(partial(one_line, most=200))]
Prose = Annotated[str, AfterValidator(partial(one_line, most=_LONG_CHARACTERS))]
Instant = Annotated[float, BeforeValidator(_unix), PlainSerializer(format_instant, when_used="json")]
"""RFC 3339 in the answer and in our own JSON, Unix seconds here."""
InstantOrNone = Annotated[
    float | None,
    BeforeValidator(_unix_or_none),
    PlainSerializer(lambda time: None if time is None else format_instant(time), when_used="json"),
]


class _Answer(BaseModel):
    """Further keys are of newer daemons, and left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class Daemon(_Answer):
    """`fault` says why it is not ready; empty: it is. `last_tick` is None before its first."""

    version: Words
    instance: Words
    fault: Prose
    tick_seconds: float
    last_tick: InstantOrNone


class Quality(_Answer):
    """Of the last snapshot."""

    judged: bool
    partial: bool
    warnings: tuple[Prose, ...]
    malformed_series: int


class Incident(_Answer):
    """A line of a list. `ended_at` is None while it goes on."""

    id: str
    verdict: Words
    tier: Words
    comm: str
    comm_name: Words
    job_id: Words
    ranks: tuple[int, ...]
    started_at: Instant
    ended_at: InstantOrNone
    cost_ratio: float
    victims: int
    silenced: bool = False
    summary: Words


class Communicator(_Answer):
    """`ranks` are those that are seen, of `nranks`."""

    comm: str
    comm_name: Words
    nranks: int
    ranks: int
    state: Words


class Job(_Answer):
    """`communicators` are the largest of `communicators_count`."""

    job_id: Words
    job: Words
    health: Words
    cost_ratio: float
    incidents: tuple[Incident, ...]
    ranks_seen_ratio: float
    communicators_count: int
    communicators: tuple[Communicator, ...]


class Status(_Answer):
    """`/api/v1/status`."""

    time: Instant
    daemon: Daemon
    quality: Quality
    jobs: tuple[Job, ...]
    jobs_left_out: int


class Incidents(_Answer):
    """`/api/v1/incidents`: of the time that is kept, those that go on first. `fault`: why some may be missing."""

    incidents: tuple[Incident, ...]
    fault: Prose


class RankRow(_Answer):
    """One rank: seconds an operation, None where that is not known; `incidents` are ids of those that name it.

    `global_rank` is None where nobody tells ranks.
    """

    rank: int
    global_rank: int | None
    node: Words
    gpu: Words
    lateness_median_seconds: float | None
    lateness_p95_seconds: float | None
    lateness_newest_seconds: float | None
    duration_median_seconds: float | None
    incidents: tuple[str, ...]


class Ranking(_Answer):
    """`/api/v1/ranking`."""

    comm: str
    ranks: tuple[RankRow, ...]
    ranks_left_out: int
    fault: Prose = ""


class EvidencePart(_Answer):
    """A value, or a table."""

    name: Words
    value: Prose | None = None
    columns: tuple[Words, ...] = ()
    rows: tuple[tuple[Words, ...], ...] = ()


class Note(_Answer):
    """An alert of others."""

    alertname: Words
    effect: Words
    started_at: Instant


class Silence(_Answer):
    """One that mutes its alert."""

    created_by: Words
    comment: Words
    ends_at: Instant


class Story(Incident):
    """`/api/v1/incident`: all of one."""

    description: Prose
    alertname: Words
    evidence_parts: tuple[EvidencePart, ...]
    links: dict[Words, Prose]
    context: tuple[Note, ...]
    silenced_by: tuple[Silence, ...]
