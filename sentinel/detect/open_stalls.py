"""Stalls that go on, under the name that they were first given."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sentinel.detect.frozen_counts import differing_communicators
from sentinel.detect.presence import Presence
from sentinel.measure.groups import distinct
from sentinel.measure.membership import Membership
from sentinel.measure.window import Window
from sentinel.model.incident import Culprit, CulpritKey, Finding
from sentinel.model.snapshot import Snapshot

__all__ = ["OpenStalls"]

# Until every node has been scraped after the end of a stall, with a scrape that fails.
_SETTLE_SECONDS = 120.0


@dataclass(frozen=True)
class _Stall:
    culprit: Culprit
    communicators: frozenset[int]


class OpenStalls:
    """Remembers who was named, until one of the communicators makes progress.

    A stall changes nothing but what is known of it: when the culprit's node falls silent as well, nobody stands out any
    more, and when those who wait do, nothing is in flight. Neither is another stall, nor the end of this one.
    """

    def __init__(self, presence: Presence) -> None:
        self._presence = presence
        self._stalls: dict[CulpritKey, _Stall] = {}
        self._over: dict[str, float] = {}  # when a stall of a job ended last, while that matters

    @property
    def keys(self) -> frozenset[CulpritKey]:
        """Of the stalls that go on."""
        return frozenset(self._stalls)

    def step(
        self, found: Sequence[Finding], window: Window, snapshot: Snapshot, membership: Membership
    ) -> tuple[list[Finding], set[CulpritKey]]:
        """What was found, under the names of old, and the stalls about which nothing can be said this time."""
        finished = distinct(window.comm)
        for key, each in list(self._stalls.items()):
            if each.communicators & finished:
                del self._stalls[key]
                self._over[each.culprit.job] = snapshot.time
        self._over = {job: over for job, over in self._over.items() if snapshot.time - over < _SETTLE_SECONDS}
        found = [finding for finding in found if not self._is_remainder(finding)]
        codes = {communicator.id: comm for comm, communicator in membership.communicators.items()}
        findings: dict[CulpritKey, Finding] = {}
        for finding in found:
            communicators = frozenset(codes[comm] for comm in finding.evidence["communicators"])
            old = next((each for each in self._stalls.values() if each.communicators & communicators), None)
            stall = _Stall(
                old.culprit if old else finding.culprit, communicators | (old.communicators if old else frozenset())
            )
            self._stalls[stall.culprit.key] = stall
            findings[stall.culprit.key] = replace(finding, culprit=stall.culprit)
        if not self._stalls:
            return [], set()
        known = set(zip(snapshot.in_flight.comm.tolist(), snapshot.in_flight.rank.tolist(), strict=True))
        # Counts that were away are watched anew. While they differ as before, and do not move, nothing has ended.
        launching = set(window.progress.comm[np.nan_to_num(window.progress.launched) > 0].tolist())
        stuck = differing_communicators(snapshot.collectives) - launching
        self._stalls = {
            key: each
            for key, each in self._stalls.items()
            if key in findings
            or each.communicators & stuck
            or any(self._unclear(comm, known, membership) for comm in each.communicators)
        }
        return list(findings.values()), set(self._stalls.keys() - findings.keys())

    def _is_remainder(self, finding: Finding) -> bool:
        """Whether it only shows what a stall that is over has left: of nodes that were scraped before it ended."""
        over = self._over.get(finding.culprit.job, -np.inf)
        return finding.started_at < over

    def _unclear(self, comm: int, known: set[tuple[int, int]], membership: Membership) -> bool:
        """Whether a communicator is gone for now, or it is not known of all its ranks what they have in flight."""
        communicator = membership.communicators.get(comm)
        if communicator is None:
            return self._presence.known(comm)
        return communicator.missing > 0 or any((comm, rank) not in known for rank in communicator.members)
