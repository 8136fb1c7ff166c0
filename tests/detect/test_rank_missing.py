"""A rank that died, and all that looks like it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from cluster.job import Job

from sentinel.config.detection_rank_missing import RankMissingSettings
from sentinel.detect.rank_missing import MissingReading, RankMissingTest
from sentinel.measure.membership import MembershipReader
from sentinel.measure.window import Differencer
from sentinel.model.incident import Finding, Verdict
from sentinel.model.snapshot import CommunicatorTable, ExporterTable, Snapshot

SETTINGS = RankMissingSettings()


class Watcher:
    """The test with what a detector gives it; every exporter of the job is scraped at each tick, unless it is down."""

    def __init__(self, job: Job, settings: RankMissingSettings = SETTINGS, exporters: bool = True) -> None:
        self.job = job
        self.test = RankMissingTest(settings)
        self.members, self.differencer = MembershipReader(), Differencer()
        self.exporters = exporters
        self.down: set[str] = set()  # nodes whose exporter does not answer
        self.readings: list[MissingReading] = []

    def run(self, ticks: int) -> list[MissingReading]:
        return [self.take(next(self.job.ticks(1))) for _ in range(ticks)]

    def take(self, snapshot: Snapshot) -> MissingReading:
        if self.exporters:
            snapshot = self.with_exporters(snapshot)
        membership = self.members.read(snapshot)
        window = self.differencer.step(snapshot)
        if window is None:
            return MissingReading()
        self.readings.append(self.test.step(window, snapshot, membership))
        return self.readings[-1]

    def with_exporters(self, snapshot: Snapshot) -> Snapshot:
        code = snapshot.vocabulary.code
        nodes = [f"node{number}" for number in range(-(-self.job.nranks // 4))]
        answering = [code(f"{node}:9400") for node in nodes if node not in self.down]
        table = ExporterTable(np.array(answering, dtype=np.int32), np.full(len(answering), snapshot.time))
        of_rank = [code(f"{node}:9400") for node in snapshot.vocabulary.texts(snapshot.communicators.node)]
        return replace(snapshot, exporters=table, instance=np.array(of_rank, dtype=np.int32))

    @property
    def found(self) -> list[Finding]:
        return [finding for reading in self.readings for finding in reading.findings]


def die(job: Job, rank: int) -> None:
    job.stuck = rank
    job.silent |= {rank}


def close(job: Job) -> None:
    """Everything has finished and nothing more is launched."""
    job.paused = True


@pytest.mark.parametrize("exporters", [True, False])
@pytest.mark.parametrize("tick_seconds", [2.0, 15.0, 30.0])
def test_a_rank_that_died_is_named_within_three_ticks(tick_seconds: float, exporters: bool) -> None:
    job = Job(tick_seconds=tick_seconds)
    watcher = Watcher(job, exporters=exporters)
    watcher.run(5)
    last_seen = job.time
    die(job, 5)
    readings = watcher.run(10)
    assert [len(each.findings) for each in readings] == [0, 0] + [1] * 8
    finding = readings[2].findings[0]
    assert finding.culprit.verdict is Verdict.RANK_MISSING
    assert (finding.culprit.ranks, finding.culprit.node, finding.culprit.gpu) == ((5,), "node1", "1")
    assert (finding.started_at, finding.cost_ratio, finding.victims) == (last_seen, 1.0, 7)
    assert finding.evidence["gpu_uuid"] == "GPU-5"
    assert finding.evidence["exporter"] == ("node1:9400" if exporters else "")
    assert {each.findings[0].culprit.key for each in readings[2:]} == {finding.culprit.key}


def test_a_hang_that_was_not_timed_takes_as_long_as_missing_after() -> None:
    job = Job(tick_seconds=10.0)
    job.timed_ratio = 0.5
    watcher = Watcher(job)
    watcher.run(5)
    die(job, 5)
    readings = watcher.run(20)
    first = next(place for place, each in enumerate(readings) if each.findings)
    assert first == SETTINGS.missing_after.total_seconds() / job.tick_seconds  # counted from the first tick without it
    assert readings[first].findings[0].evidence["peers_in_flight_seconds"] == 0.0


def test_a_process_that_is_there_again_is_not_missing() -> None:
    job = Job()
    watcher = Watcher(job)
    watcher.run(5)
    die(job, 5)
    assert watcher.run(5)[-1].findings
    job.silent.clear()
    assert [each.findings for each in watcher.run(5)] == [()] * 5


def test_a_scrape_without_a_rank_of_a_job_that_goes_on_is_nothing() -> None:
    job = Job()
    watcher = Watcher(job)
    watcher.run(5)
    job.silent = {5}
    watcher.run(60)  # its exporter has lost it for good: the others could not go on without the process
    assert watcher.found == []


def test_an_exporter_that_is_gone_is_no_verdict() -> None:
    job = Job()
    watcher = Watcher(job)
    watcher.run(5)
    die(job, 5)
    job.silent = {4, 5, 6, 7}
    watcher.down = {"node1"}
    watcher.run(60)
    assert watcher.found == []
    assert {each.pending for each in watcher.readings} == {frozenset()}


def test_while_its_exporter_is_gone_a_finding_is_held_and_goes_on_after() -> None:
    job = Job()
    watcher = Watcher(job)
    watcher.run(5)
    die(job, 5)
    key = watcher.run(5)[-1].findings[0].culprit.key
    job.silent = {4, 5, 6, 7}
    watcher.down = {"node1"}
    for reading in watcher.run(5):
        assert (reading.findings, reading.held) == ((), {key})
    job.silent = {5}
    watcher.down = set()
    assert {finding.culprit.key for each in watcher.run(5) for finding in each.findings} == {key}


def test_an_exporter_whose_samples_stop_does_not_answer() -> None:
    """A store that keeps no staleness markers still shows what was scraped last."""
    job = Job()
    watcher = Watcher(job)
    watcher.run(5)
    old = job.time

    def stale(snapshot: Snapshot) -> Snapshot:
        snapshot = watcher.with_exporters(snapshot)
        code = snapshot.vocabulary.code("node1:9400")
        exporters = snapshot.exporters
        times = np.where(exporters.instance == code, old, exporters.sampled_at)
        return replace(snapshot, exporters=replace(exporters, sampled_at=times))

    watcher.exporters = False
    die(job, 5)
    job.silent = {4, 5, 6, 7}
    for snapshot in job.ticks(60):
        watcher.take(stale(snapshot))
    assert watcher.found == []
    assert watcher.readings[-1].pending == frozenset()


def test_a_job_that_is_gone_is_no_verdict() -> None:
    job = Job()
    watcher = Watcher(job)
    watcher.run(5)
    job.silent = set(range(8))
    watcher.run(60)
    assert watcher.found == []


@pytest.mark.parametrize("tick_seconds", [2.0, 15.0, 30.0])
@pytest.mark.parametrize("apart", [1, 2, 4])
def test_a_communicator_that_is_closed_loses_its_ranks_one_after_the_other(tick_seconds: float, apart: int) -> None:
    """All have stopped; each is shown for 60 s after its own close, and found to be gone at its own scrape."""
    job = Job(tick_seconds=tick_seconds)
    watcher = Watcher(job)
    watcher.run(5)
    close(job)
    watcher.run(round(60 / tick_seconds))
    for rank in np.random.default_rng(1).permutation(8).tolist():
        watcher.run(apart if apart * tick_seconds < 60 else 1)
        job.silent |= {rank}
    watcher.run(20)
    assert watcher.found == []


def test_a_restart_while_it_is_gone_is_no_verdict() -> None:
    job = Job()
    watcher = Watcher(job)
    watcher.run(5)
    die(job, 5)
    old = job.snapshot()
    watcher.run(2)
    # The job is there again, its dead rank not yet; the old communicator is still shown for a while.
    job.stuck = None
    job._stuck_since = None
    job.restart("00000000000000bb")
    for snapshot in job.ticks(30):
        watcher.take(together(snapshot, old))
    assert watcher.found == []


def test_a_restart_ends_what_was_found() -> None:
    job = Job()
    watcher = Watcher(job)
    watcher.run(5)
    die(job, 5)
    assert watcher.run(5)[-1].findings
    job.stuck = None
    job._stuck_since = None
    job.restart("00000000000000bb")
    job.silent.clear()
    readings = watcher.run(10)
    assert [(each.findings, each.held) for each in readings] == [((), frozenset())] * 10


def test_a_rank_that_only_left_one_of_its_communicators_is_alive() -> None:
    job, other = Job(), Job(comm="00000000000000bb")
    other.vocabulary = job.vocabulary
    watcher = Watcher(job)
    for tick in range(60):
        job.paused = tick > 5
        job.silent = {5} if tick > 5 else set()
        watcher.take(together(next(job.ticks(1)), next(other.ticks(1))))
    assert watcher.found == []


def test_several_that_die_together_are_one_finding_and_later_ones_its_evidence() -> None:
    job = Job(nranks=16)
    watcher = Watcher(job)
    watcher.run(5)
    die(job, 5)
    job.silent = {4, 5, 6}
    first = watcher.run(5)[-1].findings
    assert [finding.culprit.ranks for finding in first] == [(4, 5, 6)]
    job.silent |= {9, 10}  # gave up waiting
    readings = watcher.run(5)
    assert {finding.culprit.key for each in readings for finding in each.findings} == {first[0].culprit.key}
    assert readings[-1].findings[0].evidence["also_missing_ranks"] == [9, 10]
    job.silent = set(range(10))
    assert watcher.run(1)[0].findings == ()  # the job is ending


def test_what_is_over_is_forgotten() -> None:
    job = Job()
    watcher = Watcher(job)
    watcher.run(5)
    job.silent = set(range(8))
    watcher.run(2)
    watcher.test.forget({job.vocabulary.code(job.comm)})
    assert watcher.test._departures._gone == {}


def together(one: Snapshot, other: Snapshot) -> Snapshot:
    """Two communicators in one snapshot."""

    def joined(get: Callable[[Snapshot], object]) -> list[np.ndarray]:
        a, b = get(one), get(other)
        return [np.concatenate([getattr(a, name), getattr(b, name)]) for name in a.__dataclass_fields__]

    return replace(
        one,
        communicators=CommunicatorTable(*joined(lambda each: each.communicators)),
        cells=type(one.cells)(*joined(lambda each: each.cells)),
        started=type(one.started)(*joined(lambda each: each.started)),
        in_flight=type(one.in_flight)(*joined(lambda each: each.in_flight)),
        sampled_at=np.full(len(one.communicators.comm) + len(other.communicators.comm), one.time),
    )
