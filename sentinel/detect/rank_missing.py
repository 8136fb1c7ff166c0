"""The rank whose series are gone while its exporter answers, and whose peers are there."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sentinel.config.detection_rank_missing import RankMissingSettings
from sentinel.detect.culprit import culprit_of
from sentinel.detect.departures import Departure, Departures, Process
from sentinel.measure.groups import group_rows
from sentinel.measure.membership import Membership
from sentinel.measure.window import Window
from sentinel.model.incident import Culprit, CulpritKey, Finding, Verdict
from sentinel.model.snapshot import Snapshot

__all__ = ["MissingReading", "RankMissingTest"]

_INTERVALS_MISSED = 2.5  # an exporter that was not scraped for so many of its intervals does not answer
# What the peers wait in was launched about when the rank died, some time after its last sample.
_WAIT_SHARE = 0.5


@dataclass(frozen=True)
class MissingReading:
    """One tick. `held` are the culprits of which nothing is known now, as their exporter does not answer.

    `pending` are the jobs in which somebody is gone, and it is not decided yet whether for good.
    """

    findings: tuple[Finding, ...] = ()
    held: frozenset[CulpritKey] = frozenset()
    pending: frozenset[str] = frozenset()


@dataclass
class _Watch:
    """A process that is gone: scrapes of its exporter without it, in a row, `since` when (Unix seconds)."""

    since: float
    heard: float  # the exporter's newest sample; the rank's own last one before the first without it
    gap_seconds: float = np.inf  # between its last two
    scrapes: int = 0
    missing: bool = False

    def hear(self, sampled_at: float, now: float) -> bool:
        """Take the exporter's newest sample; whether it answers."""
        if sampled_at > self.heard:
            self.gap_seconds, self.heard = sampled_at - self.heard, sampled_at
            self.scrapes += 1
        return self.gap_seconds < np.inf and now - self.heard <= _INTERVALS_MISSED * self.gap_seconds


@dataclass
class _Exporters:
    """When each exporter, or anything on a node, was heard last; built when it is asked for."""

    snapshot: Snapshot
    by_instance: Mapping[int, float] = field(default_factory=dict)
    by_node: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        exporters, table = self.snapshot.exporters, self.snapshot.communicators
        self.by_instance = dict(zip(exporters.instance.tolist(), exporters.sampled_at.tolist(), strict=True))
        group, first = group_rows(table.node)
        codes = table.node[first]
        newest = np.full(len(codes), -np.inf)
        np.maximum.at(newest, group, self.snapshot.sampled_at)
        self.by_node = dict(zip(self.snapshot.vocabulary.texts(codes), newest.tolist(), strict=True))

    def heard(self, departure: Departure) -> float | None:
        """The newest sample of the exporter that a rank was seen through; else of another rank on its node."""
        if departure.instance and self.by_instance:
            return self.by_instance.get(departure.instance)
        return self.by_node.get(departure.member.node)


class RankMissingTest:
    """Names processes that died: gone from all of their communicators, while the following holds.

    - The exporter answers: who falls silent together with it is not known to be dead.
    - At least as many peers are there as are gone: else the job ends, or has ended.
    - No communicator of the job is new since: else it has restarted.
    - Nothing finishes in these communicators, which would need it.
    - All that for `missing_scrapes` while something is in flight there since it left, else for `missing_after`. Both
      count from when the last rank of the job left: a job that ends goes rank by rank.

    One finding a job. Who leaves after it was made is evidence, as it may have given up waiting.
    """

    def __init__(self, settings: RankMissingSettings) -> None:
        self._settings = settings
        self._departures = Departures()
        self._watches: dict[Process, _Watch] = {}
        self._open: dict[str, Culprit] = {}  # by job

    @property
    def keys(self) -> frozenset[CulpritKey]:
        """Of the findings that stand: held while nothing can be judged."""
        return frozenset(culprit.key for culprit in self._open.values())

    def forget(self, comms: Collection[int]) -> None:
        """These communicators are over."""
        self._departures.forget(comms)

    def step(self, window: Window, snapshot: Snapshot, membership: Membership) -> MissingReading:
        """Take the window that ends at this snapshot. Not to be called with a partial snapshot."""
        left = {each.communicator.job for each in self._departures.step(snapshot, membership)}
        gone = self._gone(membership)
        self._watches = {process: watch for process, watch in self._watches.items() if process in gone}
        if not gone:
            self._open.clear()
            return MissingReading()
        finished, exporters = set(window.comm.tolist()), _Exporters(snapshot)
        missing: dict[str, list[list[Departure]]] = defaultdict(list)
        silent, pending = set[str](), set[str]()
        for process, departures in gone.items():
            first = departures[0]
            job = first.communicator.job
            watch = self._watches.setdefault(process, _Watch(snapshot.time, first.sampled_at))
            heard = exporters.heard(first)
            if heard is None or not watch.hear(heard, snapshot.time):
                silent.add(job)
                continue
            if any(each.communicator.code in finished for each in departures):
                watch.since, watch.scrapes, watch.missing = snapshot.time, 0, False
                continue
            if job in left and not watch.missing:
                watch.since, watch.scrapes = snapshot.time, 0
            watch.missing = watch.missing or self._is_missing(watch, departures, snapshot)
            if watch.missing:
                missing[job].append(departures)
            else:
                pending.add(job)
        return self._reading(missing, silent, pending, snapshot, membership)

    def _gone(self, membership: Membership) -> dict[Process, list[Departure]]:
        """What processes have left, those that may be missing; of each the largest communicator first."""
        gone: dict[Process, list[Departure]] = defaultdict(list)
        for each in self._departures.standing():
            communicator = each.communicator
            peers = len(membership.communicators[communicator.code].members)
            restarted = self._departures.created(communicator.job) >= each.gone_at
            if peers >= self._departures.count(communicator.code) and not restarted:
                gone[each.process].append(each)
        for departures in gone.values():
            departures.sort(key=lambda each: (-each.communicator.role.nranks, each.communicator.id))
        return gone

    def _is_missing(self, watch: _Watch, departures: Sequence[Departure], snapshot: Snapshot) -> bool:
        if watch.scrapes < self._settings.missing_scrapes:
            return False
        if snapshot.time - watch.since >= self._settings.missing_after.total_seconds():
            return True
        waits = _oldest_seconds(departures, snapshot)
        return waits > 0 and waits >= _WAIT_SHARE * (snapshot.time - departures[0].sampled_at)

    def _reading(
        self,
        missing: Mapping[str, list[list[Departure]]],
        silent: set[str],
        pending: set[str],
        snapshot: Snapshot,
        membership: Membership,
    ) -> MissingReading:
        findings, held = [], set()
        for job in self._open.keys() | missing.keys():
            named = [each for each in missing.get(job, []) if self._is_named(job, each[0])]
            if named:
                also = [each for each in missing[job] if not self._is_named(job, each[0])]
                culprit = self._open.setdefault(job, _culprit(named))
                findings.append(self._finding(culprit, named, also, snapshot, membership))
            elif job in self._open and job in silent:
                held.add(self._open[job].key)
            else:
                self._open.pop(job, None)
        findings.sort(key=lambda each: each.culprit.job)
        return MissingReading(tuple(findings), frozenset(held), frozenset(pending - missing.keys()))

    def _is_named(self, job: str, departure: Departure) -> bool:
        """Whether a finding about the job names that rank; one that is not made yet names all."""
        return job not in self._open or departure.member.global_rank in self._open[job].ranks

    def _finding(
        self,
        culprit: Culprit,
        named: Sequence[Sequence[Departure]],
        also: Sequence[Sequence[Departure]],
        snapshot: Snapshot,
        membership: Membership,
    ) -> Finding:
        first = min((each[0] for each in named), key=lambda each: each.sampled_at)
        waits = max(_oldest_seconds(each, snapshot) for each in named)
        peers = _peers(named, membership)
        return Finding(
            culprit=culprit,
            cost_ratio=1.0,
            started_at=first.sampled_at,
            victims=len(peers),
            evidence={
                "reason": "its series are gone, its exporter answers and its peers "
                + ("wait" if waits > 0 else "finish nothing"),
                "missing_seconds": round(snapshot.time - first.sampled_at, 1),
                "scrapes_without_it": min(self._watches[each[0].process].scrapes for each in named),
                "exporter": snapshot.vocabulary.text(first.instance),
                "gpu_uuid": ",".join(dict.fromkeys(each[0].member.gpu_uuid for each in named)),
                "peers_in_flight_seconds": round(waits, 1),
                "communicators": sorted({each.communicator.id for group in named for each in group}),
                "also_missing_ranks": sorted(each[0].member.global_rank for each in also),
            },
        )


def _culprit(missing: Iterable[Sequence[Departure]]) -> Culprit:
    firsts = sorted((each[0] for each in missing), key=lambda each: each.member.global_rank)
    largest = max(firsts, key=lambda each: each.communicator.role.nranks).communicator
    return culprit_of(Verdict.RANK_MISSING, largest, [each.member for each in firsts])


def _oldest_seconds(departures: Sequence[Departure], snapshot: Snapshot) -> float:
    """Age of the oldest operation in flight in these communicators; 0 where none is known."""
    flight = snapshot.in_flight
    mine = np.isin(flight.comm, [each.communicator.code for each in departures])
    ages = flight.oldest_seconds[mine & np.isfinite(flight.oldest_seconds)]
    return float(np.max(ages, initial=0.0))


def _peers(missing: Iterable[Sequence[Departure]], membership: Membership) -> set[int]:
    """Global ranks that share a communicator with any of them and are there."""
    codes = {each.communicator.code for group in missing for each in group}
    return {member.global_rank for code in codes for member in membership.communicators[code].members.values()}
