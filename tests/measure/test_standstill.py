"""For how long ranks have launched nothing."""

import numpy as np
from cluster.job import Cell, Job

from sentinel.measure.standstill import Standstill, StandstillWatch
from sentinel.measure.window import Differencer


class Watched:
    def __init__(self) -> None:
        self.job = Job(nranks=2, cells=(Cell(),))
        self.differencer, self.watch = Differencer(), StandstillWatch()
        self.differencer.step(next(self.job.ticks(1)))

    def tick(self) -> Standstill:
        snapshot = next(self.job.ticks(1))
        window = self.differencer.step(snapshot)
        assert window is not None
        return self.watch.step(window.progress, snapshot)


def test_time_runs_while_nothing_is_launched() -> None:
    watched = Watched()
    assert watched.tick().seconds.tolist() == [0.0, 0.0]
    stopped = watched.job.time
    watched.job.paused = True
    assert [watched.tick().seconds.tolist() for _ in range(3)] == [[2.0, 2.0], [4.0, 4.0], [6.0, 6.0]]
    assert watched.tick().since.tolist() == [stopped, stopped]
    watched.job.paused = False
    assert watched.tick().seconds.tolist() == [0.0, 0.0]


def test_time_does_not_run_while_nobody_is_scraped() -> None:
    watched = Watched()
    watched.tick()
    watched.job.paused = True
    watched.tick()
    watched.job.scraped_at = watched.job.time
    assert [watched.tick().seconds.tolist() for _ in range(3)] == [[2.0, 2.0]] * 3


def test_a_rank_that_was_away_starts_anew() -> None:
    watched = Watched()
    watched.tick()
    watched.job.paused = True
    watched.tick()
    watched.job.silent = {1}
    assert watched.tick().rank.tolist() == [0]
    watched.job.silent = set()
    assert watched.tick().seconds.tolist() == [6.0, 0.0]
    assert watched.tick().seconds.tolist() == [8.0, 2.0]


def test_a_counter_that_was_reset_starts_anew() -> None:
    watched = Watched()
    watched.tick()
    watched.job.paused = True
    watched.tick()
    watched.job.reset_counters(1)
    assert np.all(watched.tick().seconds == [4.0, 0.0])
