"""An incident's picture, from the metrics store to a file."""

import sys
import time
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import typer

from sentinel.cli.cell_text import cell_text
from sentinel.cli.output import progress_bar
from sentinel.config.settings import Settings
from sentinel.daemon.course import IncidentCourse, narrowed, read_course
from sentinel.errors import ConfigError
from sentinel.model.incident import Incident, Verdict, cost_basis
from sentinel.model.instant import format_instant
from sentinel.model.place_rank import known_ranks
from sentinel.model.quantity import format_seconds
from sentinel.plot.course import CellCourse, CommunicatorCourse
from sentinel.plot.picture_file import check_picture_path, write_picture
from sentinel.sink.alert import summarize
from sentinel.source.opening import open_source

__all__ = ["check_drawing", "draw_incident", "named_cells"]

_CELLS_SHOWN = 4
_LABELS = ("op", "size_bytes", "algo", "proto")


def check_drawing(path: Path) -> None:
    """ConfigError when nothing can be drawn there, or at all: said before anything is read for it."""
    check_picture_path(path)
    try:
        import_module("matplotlib")
    except ModuleNotFoundError as error:
        raise ConfigError(
            "cannot draw",
            why=f"{error.name} is not installed",
            hint=f"Install it: {sys.executable} -m pip install matplotlib",
        ) from error


def draw_incident(incident: Incident, settings: Settings, path: Path) -> None:
    """Read the ranks' course and draw it. SentinelError."""
    with (
        open_source(narrowed(settings.prometheus, incident.culprit.comm)) as source,
        progress_bar("Reading") as progress,
    ):
        found = read_course(source, settings, incident, time.time(), progress)
    write_picture(_figure(incident, found), path)
    if found.partial:
        typer.echo(f"warning: at {found.partial} instants Prometheus's answer was partial", err=True)


def named_cells(
    evidence: Mapping[str, Any], course: CommunicatorCourse
) -> list[tuple[CellCourse, tuple[float, float] | None]]:
    """The cells that the evidence names, in its order, with learnt lateness and spread (seconds) where it has them.

    Where it names none that were measured: those in which most time was spent.
    """
    listed = evidence.get("cells")
    named = [each for each in listed if isinstance(each, Mapping)] if isinstance(listed, list) else []
    chosen = [(cell, _normal(each)) for each in named for cell in course.cells if _match(each, cell.labels)]
    return (chosen or [(cell, None) for cell in course.cells])[:_CELLS_SHOWN]


def _match(named: Mapping[str, Any], labels: Sequence[str]) -> bool:
    """Whether it is that cell; a label that the evidence does not give may be any."""
    return "op" in named and all(named.get(name, label) == label for name, label in zip(_LABELS, labels, strict=True))


def _normal(named: Mapping[str, Any]) -> tuple[float, float] | None:
    normal, spread = (named.get(f"baseline_{name}_seconds") for name in ("lateness", "spread"))
    return (float(normal), float(spread)) if normal is not None and spread is not None else None


def _figure(incident: Incident, found: IncidentCourse) -> Any:
    from sentinel.plot.figure import Caption, Panel, incident_figure  # it needs the optional matplotlib

    course = found.course
    panels = [
        Panel(_printable(cell_text(*cell.labels)), cell.duration_seconds, cell.lateness_seconds, normal)
        for cell, normal in named_cells(incident.evidence, course)
    ]
    # Who stands still measures nothing: what is launched shows it.
    progress = incident.culprit.verdict in (Verdict.STALLED, Verdict.RANK_MISSING) or not panels
    end = (
        "goes on" if incident.ended_at is None else f"lasted {format_seconds(incident.ended_at - incident.started_at)}"
    )
    cost = f"costs {incident.cost_ratio * 100:.3g}% of {cost_basis(incident.evidence)}"
    more = len(incident.culprit.ranks) - len(course.ranks)
    caption = Caption(
        title=_printable(summarize(incident)),
        subtitle=f"{cost}, since {format_instant(incident.started_at)}, "
        f"{end}; windows of {format_seconds(found.step_seconds)}"
        + (f"; {more} more ranks are named, and not drawn" if course.ranks and more > 0 else ""),
        culprits=tuple(_named(rank, incident) for rank in course.ranks),
        started_at=incident.started_at,
        detected_at=incident.detected_at,
        ended_at=incident.ended_at,
    )
    return incident_figure(course.times, panels, course.launched_rate if progress else None, caption)


def _named(rank: int, incident: Incident) -> str:
    """The rank, or its place where nobody tells ranks."""
    culprit = incident.culprit
    return f"rank {rank}" if known_ranks((rank,)) else _printable(f"{culprit.node} GPU {culprit.gpu}")


def _printable(text: str) -> str:
    """Names come from jobs."""
    return "".join(character if character.isprintable() else "?" for character in text)
