"""What a daemon would say right now: for people who ask, beside the daemon that runs."""

from collections.abc import Mapping
from dataclasses import dataclass

from sentinel.config.settings import Settings
from sentinel.daemon.instants import Instants
from sentinel.daemon.learnt import LearntBaseline
from sentinel.detect.detector import Detector
from sentinel.model.incident import Assessment
from sentinel.model.snapshot import DataQuality, Snapshot
from sentinel.source.interface import Source

__all__ = ["CommunicatorView", "View", "look"]


@dataclass(frozen=True)
class CommunicatorView:
    """One communicator as it is now. `ranks` were seen, of `nranks`."""

    comm: str
    comm_name: str
    job_id: str
    nranks: int
    ranks: int
    state: str


@dataclass(frozen=True)
class View:
    """One instant (Unix seconds)."""

    time: float
    communicators: tuple[CommunicatorView, ...]
    findings: int
    quality: DataQuality


def look(source: Source, settings: Settings, learnt: LearntBaseline | None, now: float) -> View:
    """Warm detectors up over the last ticks, as the daemon does at its start, and ask them about the newest.

    SourceError when the history cannot be read.
    """
    instants = Instants(settings.schedule)
    latest = instants.latest(now)
    first = instants.after(latest, -settings.schedule.prime_ticks)
    detector = Detector(settings.detection, learnt.baseline if learnt else None)
    snapshot, assessment = None, None
    for snapshot in source.snapshots(first, latest, instants.tick_seconds):
        assessment = detector.step(snapshot)
    assert snapshot is not None  # noqa: S101 (the range holds `latest` at least)
    assert assessment is not None  # noqa: S101
    communicators = _communicators(snapshot, assessment.states)
    return View(snapshot.time, communicators, _count(assessment), snapshot.quality)


def _count(assessment: Assessment) -> int:
    return len(assessment.findings)


def _communicators(snapshot: Snapshot, states: Mapping[str, str]) -> tuple[CommunicatorView, ...]:
    table, text = snapshot.communicators, snapshot.vocabulary.text
    views: dict[int, CommunicatorView] = {}
    seen: dict[int, int] = {}
    for row, comm in enumerate(table.comm.tolist()):
        seen[comm] = seen.get(comm, 0) + 1
        name = text(comm)
        views[comm] = CommunicatorView(
            comm=name,
            comm_name=text(table.comm_name[row]),
            job_id=text(table.job_id[row]),
            nranks=int(table.nranks[row]),
            ranks=seen[comm],
            state=states.get(name, "unknown"),
        )
    return tuple(sorted(views.values(), key=lambda view: (view.job_id, view.comm_name, view.comm)))
