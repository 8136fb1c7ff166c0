"""Which regime each communicator is in: whether anything can be said about it."""

from collections.abc import Collection, Mapping

from sentinel.detect.own_history import Reference
from sentinel.measure.groups import distinct
from sentinel.measure.lateness import Lateness
from sentinel.measure.membership import Membership
from sentinel.measure.window import Window
from sentinel.model.snapshot import Snapshot

__all__ = ["JUDGED", "communicator_states", "mark_learning"]

JUDGED = ("learning", "watching")  # states in which ranks are compared


def communicator_states(
    window: Window, snapshot: Snapshot, membership: Membership, warm: Mapping[int, bool], stalled: Collection[int]
) -> dict[int, str]:
    """The state of each communicator, by code. `warm` says whether its warm-up is over."""
    active = window.labels.distinct("comm")
    active |= window.progress.labels.where(window.progress.launched > 0).distinct("comm")
    active |= distinct(snapshot.in_flight.comm[snapshot.in_flight.oldest_seconds > 0])
    states = {}
    for comm, communicator in membership.communicators.items():
        known, nranks = len(communicator.members), communicator.role.nranks
        if comm in stalled:
            states[comm] = "stalled"
        elif comm not in active:
            states[comm] = "paused"
        elif not warm.get(comm, False):
            states[comm] = "warming"
        elif known < max(2, nranks / 2) and nranks > 1:
            states[comm] = "abstain"
        else:
            states[comm] = "watching"
    return states


def mark_learning(states: dict[int, str], lateness: Lateness, reference: Reference) -> None:
    """Say so where nothing is known yet of a communicator's own history."""
    for comm in lateness.labels.distinct("comm") - lateness.labels.where(reference.known).distinct("comm"):
        if states.get(comm) == "watching":
            states[comm] = "learning"
