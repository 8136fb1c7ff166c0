"""Live and over history the same is said, tick for tick, of a job that goes through a lot."""

from pathlib import Path

from servers.memory import MemorySource
from servers.recorder import RecordingSink
from simulator.cluster import Cluster
from simulator.faults import LateRank, Stall
from simulator.presets import two_level
from simulator.regimes import Checkpoint, PartialAnswer, Restart, ScrapesLost

from sentinel.config.alertmanager import AlertmanagerSettings
from sentinel.config.prometheus import PrometheusSettings
from sentinel.config.schedule import ScheduleSettings
from sentinel.config.settings import Settings
from sentinel.daemon.backtest import run_backtest
from sentinel.daemon.clock import SteadyClock
from sentinel.daemon.cycle import Cycle
from sentinel.daemon.dispatch import Dispatch
from sentinel.daemon.tally import Tally
from sentinel.detect.detector import Detector
from sentinel.incident.tracker import IncidentTracker
from sentinel.model.snapshot import Snapshot
from sentinel.sink.alert import AlertWriter
from sentinel.state.store import State

TICK = 30.0
START = 1_700_000_010.0  # a multiple of the tick
FIRST, LAST = 21, 160
SETTINGS = Settings(
    schedule=ScheduleSettings.model_validate({"tick": "30s", "evaluation_delay": "5s", "prime_ticks": 20})
)


def history() -> list[Snapshot]:
    cluster = Cluster(two_level(16), start=START, scrape_moments=3).add(
        ScrapesLost(ratio=0.02),
        LateRank(rank=3, cost_ratio=0.1, begin=1207, end=1807),
        PartialAnswer(begin=1507, end=1597),
        Checkpoint(begin=2407, end=2700),
        Stall(rank=9, begin=3007, end=3307),
        Restart(begin=3607, down_seconds=100, machines=(1, 0)),
    )
    return list(cluster.snapshots(LAST))


def test_run_and_backtest_say_the_same_tick_for_tick(tmp_path: Path) -> None:
    snapshots = history()
    detection, now = SETTINGS.detection, [0.0]
    state, source = State.open(tmp_path), MemorySource(snapshots)
    cycle = Cycle(
        schedule=SETTINGS.schedule,
        source=source,
        new_detector=lambda: Detector(detection),
        tracker=IncidentTracker(detection),
        dispatch=Dispatch(
            AlertWriter(AlertmanagerSettings(), PrometheusSettings(), TICK), RecordingSink(), [], 60.0, TICK
        ),
        state=state,
        keep_ticks=1000,
        tally=Tally(),
        clock=SteadyClock(lambda: now[0], lambda: now[0]),
        monotonic=lambda: 0.0,
    )
    named = set()
    for tick in range(FIRST, LAST + 1):
        now[0] = START + tick * TICK + 5.3
        assert cycle.run().error is None
        if tick % 10 == 0 or tick == LAST:  # up to here, and knowing of nothing later
            told = MemorySource(snapshots[:tick])
            replayed = run_backtest(told, SETTINGS, None, START + FIRST * TICK, START + tick * TICK, lambda *_: None)
            assert list(replayed.incidents) == state.incidents_since(0.0)
            named = {(one.culprit.verdict.value, one.culprit.ranks) for one in replayed.incidents}
    assert named == {("late_rank", (3,)), ("stalled", (9,))}
    state.close()
