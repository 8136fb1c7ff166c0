"""Reads what is looked at: the status each time, everything else once a tick of the daemon."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final, TypeVar

from sentinel.errors import SourceError
from sentinel.top.client import DaemonClient, RefusedError
from sentinel.top.seen import Seen, Wants

__all__ = ["Reader"]

Found = TypeVar("Found")

_INCIDENT: Final = "incident"
_COMMUNICATOR: Final = "communicator"


class Reader:
    """For one thread; `seen` may be read by others."""

    def __init__(self, client: DaemonClient, monotonic: Callable[[], float]) -> None:
        self._client = client
        self._monotonic = monotonic
        self._fresh: set[tuple[str, str]] = set()  # kind and id of what has been asked for since the tick
        self._stale = True
        self.seen = Seen()

    def look(self) -> None:
        """Ask for the status. SourceError."""
        status = self._client.status()
        before = self.seen.status
        if before is None or before.daemon.last_tick != status.daemon.last_tick:
            self._stale = True
        self.seen = replace(self.seen, at=self._monotonic(), status=status, fault="")

    def complete(self, wants: Wants, publish: Callable[[], None] = lambda: None) -> None:
        """Ask for what is not known as of this tick; `publish` is called after each answer. SourceError."""
        if self._stale:
            self._forget(wants)
            self.seen = replace(self.seen, incidents=self._client.incidents())
            self._stale = False
            publish()
        for each in _wanted(wants):
            if each in self._fresh:
                continue
            kind, id_ = each
            if kind == _INCIDENT:
                stories = {**self.seen.stories, id_: _or_why(self._client.incident, id_)}
                self.seen = replace(self.seen, stories=stories)
            else:
                rankings = {**self.seen.rankings, id_: _or_why(self._client.ranking, id_)}
                self.seen = replace(self.seen, rankings=rankings)
            self._fresh.add(each)
            publish()

    def lacks(self, wants: Wants) -> bool:
        """Whether there is something to ask for before the next status."""
        asked = self.seen.status is not None and not self.seen.fault
        return asked and not self._fresh.issuperset(_wanted(wants))

    def fail(self, error: SourceError) -> None:
        """The newest question was not answered."""
        self.seen = replace(self.seen, fault=error.why or error.what)

    def _forget(self, wants: Wants) -> None:
        """What is of the tick before, and what nobody looks at any more. What is looked at is shown until it is new."""
        self._fresh.clear()
        seen = self.seen
        rankings = {comm: known for comm, known in seen.rankings.items() if comm in wants.comms}
        stories = {id_: known for id_, known in seen.stories.items() if id_ == wants.incident}
        self.seen = replace(seen, rankings=rankings, stories=stories)


def _wanted(wants: Wants) -> list[tuple[str, str]]:
    incident = [(_INCIDENT, wants.incident)] if wants.incident else []
    return [*incident, *((_COMMUNICATOR, comm) for comm in wants.comms)]


def _or_why(ask: Callable[[str], Found], name: str) -> Found | str:
    """What comes, or why nothing does."""
    try:
        return ask(name)
    except RefusedError as error:
        return error.said
