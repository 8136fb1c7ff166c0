"""What a fault follows is told also by a daemon that was not there when it was elsewhere."""

from pathlib import Path

import pytest
from servers.memory import MemorySource
from servers.recorder import RecordingSink
from simulator.cluster import Cluster
from simulator.faults import LateRank
from simulator.presets import fsdp
from simulator.regimes import Restart

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.config.detection import DetectionSettings
from sentinel.config.prometheus import PrometheusSettings
from sentinel.config.schedule import ScheduleSettings
from sentinel.daemon.clock import SteadyClock
from sentinel.daemon.cycle import Cycle
from sentinel.daemon.dispatch import Dispatch
from sentinel.daemon.tally import Tally
from sentinel.detect.detector import Detector
from sentinel.errors import StateError
from sentinel.incident.tracker import IncidentTracker
from sentinel.model.snapshot import Snapshot
from sentinel.sink.alert import AlertWriter
from sentinel.state.store import State

TICK = 30.0
START = 1_700_000_010.0  # a multiple of the tick
DETECTION = DetectionSettings()
SCHEDULE = ScheduleSettings.model_validate({"tick": "30s", "evaluation_delay": "5s", "prime_ticks": 20})
# The first fault, the job's restart on other machines, the daemon's, and the second fault.
FAULT, JOB_RESTARTS, DAEMON_RESTARTS, BACK, LAST = 40, 64, 110, 120, 130


def history(*, follows_hardware: bool) -> list[Snapshot]:
    def fault(begin: int, end: int) -> LateRank:
        return LateRank(rank=13, cost_ratio=0.1, follows_hardware=follows_hardware, begin=begin * TICK, end=end * TICK)

    cluster = Cluster(fsdp(32), start=START).add(
        fault(FAULT, FAULT + 20),
        Restart(begin=JOB_RESTARTS * TICK, down_seconds=90, machines=(1, 0, 2, 3)),
        fault(BACK, LAST + 1),
    )
    return list(cluster.snapshots(LAST))


class Daemon:
    """From its start to its end, on what is stored."""

    def __init__(self, snapshots: list[Snapshot], state: State) -> None:
        self.now = START
        self.tally = Tally()
        self.cycle = Cycle(
            schedule=SCHEDULE,
            source=MemorySource(snapshots),
            new_detector=lambda: Detector(DETECTION),
            tracker=IncidentTracker(DETECTION),
            dispatch=Dispatch(
                AlertWriter(AlertmanagerSettings(), PrometheusSettings(), TICK), RecordingSink(), [], 60.0, TICK
            ),
            state=state,
            keep_ticks=1000,
            tally=self.tally,
            clock=SteadyClock(lambda: self.now, lambda: self.now),
            monotonic=lambda: 0.0,
        )

    def run(self, first: int, last: int) -> None:
        for tick in range(first, last + 1):
            self.now = START + tick * TICK + 5.3
            assert self.cycle.run().error is None


@pytest.mark.parametrize(("follows_hardware", "rank", "follows"), [(True, 5, "gpu"), (False, 13, "rank")])
def test_after_restarts_of_daemon_and_job_the_evidence_says_what_a_fault_follows(
    tmp_path: Path, follows_hardware: bool, rank: int, follows: str
) -> None:
    snapshots = history(follows_hardware=follows_hardware)
    with State.open(tmp_path) as state:
        Daemon(snapshots, state).run(FAULT - 5, DAEMON_RESTARTS - 1)
        (before,) = state.incidents_since(0.0)
    assert (before.culprit.ranks, before.ended_at is not None) == ((13,), True)
    with State.open(tmp_path) as state:
        Daemon(snapshots, state).run(DAEMON_RESTARTS, LAST)
        _, after = state.incidents_since(0.0)
    assert after.culprit.ranks == (rank,)
    assert after.evidence["follows"] == follows
    assert (after.evidence["earlier"]["rank"], after.evidence["earlier"]["node"]) == (13, before.culprit.node)


def test_a_state_that_cannot_be_read_costs_memory_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshots = history(follows_hardware=True)

    def broken(*_: object) -> None:
        raise StateError("cannot use the state", where="sentinel.db", why="disk I/O error")

    with State.open(tmp_path) as state:
        monkeypatch.setattr(state, "incidents_since", broken)
        daemon = Daemon(snapshots, state)
        daemon.run(FAULT - 5, FAULT + 10)
        assert daemon.tally.state_errors == 1
        monkeypatch.undo()
        assert [incident.culprit.ranks for incident in state.incidents_since(0.0)] == [(13,)]
