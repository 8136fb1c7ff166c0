"""Alerts of others, matched as the configuration says, and put where they are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sentinel.config.context import ContextMatch, ContextSettings
from sentinel.config.matcher import MAX_MATCHED_CHARACTERS
from sentinel.incident.surroundings import PlacedAlert, Surroundings
from sentinel.model.context import ContextAlert, ContextNote, Effect, Silence
from sentinel.model.place import Freeze, Place
from sentinel.model.snapshot import Snapshot

__all__ = ["ContextReader", "place_of"]

_MAX_ENDED = 4096  # the newest

_Key = frozenset[tuple[str, str]]


@dataclass
class _Standing:
    """An alert that fires and is matched. `communicators` are codes of those that had a member there."""

    note: ContextNote
    place: Place
    communicators: set[int] = field(default_factory=set)


def place_of(labels: Mapping[str, str], match: ContextMatch) -> Place:
    """Where an alert is; nowhere, where none of the match's labels says so."""
    node = _first(labels, match.node)
    if node:
        found = match.parsed_node.fullmatch(node) if len(node) <= MAX_MATCHED_CHARACTERS else None
        # A node whose name cannot be read is not everywhere: what else the alert says of its place is not enough.
        if found is None or not found[1]:
            return Place()
        node = found[1]
    return Place(node, _first(labels, match.gpu), _first(labels, match.gpu_uuid), _first(labels, match.job_id))


class ContextReader:
    """A fold over instants: what fires now, and what has ended not long ago."""

    def __init__(self, settings: ContextSettings) -> None:
        self._settings = settings
        self._within_seconds = settings.within.total_seconds()
        self._standing: dict[_Key, _Standing | None] = {}  # that fire; None: not matched, or nowhere
        self._ended: dict[_Key, PlacedAlert] = {}  # the newest last

    def read(
        self,
        alerts: Sequence[ContextAlert],
        snapshot: Snapshot,
        silences: Mapping[str, tuple[Silence, ...]] | None = None,
    ) -> Surroundings:
        """What is known at the snapshot's instant. `alerts` fire now, `silences` are as in `Surroundings`."""
        if not self._settings.match:
            return Surroundings(silences=silences)
        time = snapshot.time
        # An alert that began after an instant that is caught up with does not hold for it.
        firing = {
            frozenset(alert.labels.items()): alert
            for alert in alerts
            if min(alert.starts_at, alert.received_at) <= time
        }
        before, self._standing = self._standing, {}
        for key, alert in firing.items():
            self._standing[key] = before.pop(key) if key in before else self._match(alert)
        self._end(before, snapshot)
        standing = [each for each in self._standing.values() if each is not None]
        _locate(standing, snapshot)
        freezing = [each for each in standing if each.note.effect.freezes]
        return Surroundings(
            alerts=(*(_placed(each, snapshot) for each in standing), *self._ended.values()),
            within_seconds=self._within_seconds,
            frozen=frozenset().union(*(each.communicators for each in freezing)),
            freezes=tuple(Freeze(each.place, each.note.started_at, time) for each in freezing),
            silences=silences,
        )

    def _end(self, before: Mapping[_Key, _Standing | None], snapshot: Snapshot) -> None:
        """Keep those that fired at the instant before and do not now; forget what is too long ago, or fires again."""
        time = snapshot.time
        gone = {key: _placed(each, snapshot, ended_at=time) for key, each in before.items() if each is not None}
        ended = [
            (key, each)
            for key, each in (self._ended | gone).items()
            if key not in self._standing and time - (each.note.ended_at or time) <= self._within_seconds
        ]
        self._ended = dict(ended[-_MAX_ENDED:])

    def counts(self) -> dict[str, int]:
        """How many alerts stand, by what they do; `none` are those that nothing matches, or that are nowhere."""
        counts = dict.fromkeys(("none", *(effect.value for effect in Effect)), 0)
        for each in self._standing.values():
            counts["none" if each is None else each.note.effect.value] += 1
        return counts

    def _match(self, alert: ContextAlert) -> _Standing | None:
        for match in self._settings.match:
            if all(matcher.matches(alert.labels) for matcher in match.parsed):
                place = place_of(alert.labels, match)
                if not place.is_somewhere:
                    return None
                started_at = min(alert.starts_at, alert.received_at)
                return _Standing(ContextNote(match.effect, dict(alert.labels), started_at), place)
        return None


def _locate(standing: Sequence[_Standing], snapshot: Snapshot) -> None:
    """Find the communicators of each; one that has lost its members there still counts, as long as it is there."""
    table = snapshot.communicators
    if not standing:
        return
    present = frozenset(np.unique(table.comm).tolist())
    for each in standing:
        here = table.comm[each.place.rows(table, snapshot.vocabulary)]
        each.communicators = (each.communicators & present) | set(here.tolist())


def _placed(each: _Standing, snapshot: Snapshot, ended_at: float | None = None) -> PlacedAlert:
    ids = frozenset(snapshot.vocabulary.text(code) for code in each.communicators)
    return PlacedAlert(replace(each.note, ended_at=ended_at), each.place, ids)


def _first(labels: Mapping[str, str], names: Sequence[str]) -> str:
    return next((labels[name] for name in names if labels.get(name)), "")
