"""Values as people read them, with the colour that they have: on dark terminals and on light ones, and never alone."""

from typing import Final

from rich.text import Text

from sentinel.model.quantity import format_seconds
from sentinel.top.answers import Communicator, Incident, Job
from sentinel.transport.redaction import one_line

__all__ = [
    "age_text",
    "clock_text",
    "comm_text",
    "health_text",
    "job_text",
    "ratio_text",
    "seconds_text",
    "state_text",
    "tier_text",
]

# Neither yellow nor blue: the one cannot be read on white, the other not on black.
_TIERS: Final = {"P0": "bold red", "P1": "bold magenta", "P2": "bold"}
_HEALTH: Final = {
    "critical": ("critical", "bold red"),
    "warning": ("slow", "bold magenta"),
    "notice": ("to review", "bold"),
    "healthy": ("healthy", "green"),
    "learning": ("learning", ""),
    "idle": ("idle", ""),
    "unknown": ("not known", ""),
}
_DAY_SECONDS: Final = 86_400


def job_text(job: Job) -> str:
    """Its id, as the status page says it."""
    return job.job_id or (f"without id ({job.job})" if job.job else "-")


def comm_text(each: Communicator | Incident) -> str:
    """Its name, else its id."""
    return each.comm_name or one_line(each.comm, 40) or "-"


def health_text(health: str) -> Text:
    """In the status page's words."""
    word, style = _HEALTH.get(health, (health, ""))
    return Text(word, style)


def state_text(state: str) -> Text:
    """Of a communicator."""
    return Text(state, "green" if state == "watching" else "")


def tier_text(tier: str) -> Text:
    """How loud it is."""
    return Text(tier, _TIERS.get(tier, ""))


def seconds_text(seconds: float | None) -> str:
    """`1.04 ms`; what is not known is a dash."""
    return "-" if seconds is None else format_seconds(seconds)


def age_text(seconds: float) -> str:
    """Short, in whole numbers: `12s`, `55m`, `12h`, `3d`."""
    whole = max(0, int(seconds))
    for unit, size in (("d", _DAY_SECONDS), ("h", 3600), ("m", 60)):
        if whole >= 2 * size:
            return f"{whole // size}{unit}"
    return f"{whole}s"


def ratio_text(ratio: float | None) -> str:
    """`22.7%`."""
    return "-" if ratio is None else f"{ratio * 100:.3g}%"


def clock_text(time: float) -> str:
    """A Unix time as the time of day, UTC: `14:05:30Z`."""
    second = int(time % _DAY_SECONDS)
    return f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"
