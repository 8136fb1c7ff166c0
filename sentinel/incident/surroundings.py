"""What else is known at an instant, and what that means for an incident: see docs/context.md."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from sentinel.model.context import ContextNote, Silence
from sentinel.model.incident import Culprit, Finding, Incident
from sentinel.model.place import Freeze, Place

__all__ = ["MAX_NOTES", "PlacedAlert", "Surroundings"]

MAX_NOTES = 8
"""Alerts of others that one incident keeps; of more the first ones."""


@dataclass(frozen=True)
class PlacedAlert:
    """An alert of others and where it is. `communicators` are the ids of those that have a member there."""

    note: ContextNote
    place: Place
    communicators: frozenset[str] = frozenset()

    def touches(self, culprit: Culprit, gpu_uuid: str) -> bool:
        """Whether it may have to do with the culprit: it is there, or where the culprit stops being told apart.

        An incident that names no node is about a communicator, and one that names no GPU about all of a node.
        """
        if self.place.names(culprit, gpu_uuid):
            return True
        if not culprit.node:
            return culprit.comm in self.communicators
        return bool(self.place.node) and not culprit.gpu and replace(self.place, gpu="", gpu_uuid="").names(culprit)


@dataclass(frozen=True)
class Surroundings:
    """Everything besides the series.

    `alerts` are those that fire, or that ended no longer than `within_seconds` ago. `frozen` are the codes of
    communicators that nothing is learnt from, `freezes` say where they are, until now. `silences` are those of our own
    alerts, by incident id; None: not known.
    """

    alerts: tuple[PlacedAlert, ...] = ()
    within_seconds: float = 0.0
    frozen: frozenset[int] = frozenset()
    freezes: tuple[Freeze, ...] = ()
    silences: Mapping[str, tuple[Silence, ...]] | None = field(default=None)

    def silence(self, one: Finding | Incident) -> bool:
        """Whether no incident is to be opened there, and none to end. Only what is named by itself is silenced."""
        return any(
            alert.note.ended_at is None and alert.note.effect.silences and alert.place.names(one.culprit, _uuid(one))
            for alert in self._near(one.culprit)
        )

    def noted(self, incident: Incident) -> Incident:
        """The incident with what is known of it."""
        notes = {frozenset(note.labels.items()): note for note in incident.context}
        for alert in self._near(incident.culprit):
            if not self._is_timely(alert.note, incident) or not alert.touches(incident.culprit, _uuid(incident)):
                continue
            key = frozenset(alert.note.labels.items())
            before = notes.get(key)
            if before is not None:
                # One that has fired before is one note, from when it first did.
                notes[key] = replace(alert.note, started_at=min(before.started_at, alert.note.started_at))
            elif len(notes) < MAX_NOTES:
                notes[key] = alert.note
        silenced_by = incident.silenced_by
        if self.silences is not None and incident.ended_at is None:
            silenced_by = self.silences.get(incident.id, ())
        context = tuple(notes.values())
        if context == incident.context and silenced_by == incident.silenced_by:
            return incident
        return replace(incident, context=context, silenced_by=silenced_by)

    def _near(self, culprit: Culprit) -> Iterator[PlacedAlert]:
        """Alerts that may be where the culprit is."""
        if culprit.node:
            yield from self._by_node.get(culprit.node, ())
            yield from self._by_node.get("", ())
        else:
            yield from self.alerts

    @cached_property
    def _by_node(self) -> Mapping[str, list[PlacedAlert]]:
        found: dict[str, list[PlacedAlert]] = {}
        for alert in self.alerts:
            found.setdefault(alert.place.node, []).append(alert)
        return found

    def _is_timely(self, note: ContextNote, incident: Incident) -> bool:
        """Whether no more than `within_seconds` lie between both; none do where one began before the other ended."""
        after = note.ended_at is not None and incident.started_at > note.ended_at + self.within_seconds
        before = incident.ended_at is not None and note.started_at > incident.ended_at + self.within_seconds
        return not after and not before


def _uuid(one: Finding | Incident) -> str:
    uuid = one.evidence.get("gpu_uuid", "")
    return uuid if isinstance(uuid, str) else ""
