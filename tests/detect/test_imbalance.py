"""Stages that differ from the start."""

import pytest
from cluster.waiting import Job

from sentinel.config.detection_imbalance import ImbalanceSettings
from sentinel.detect.imbalance import Imbalance
from sentinel.measure.processes import WaitLayoutReader
from sentinel.model.incident import CulpritKey, Finding

START_TICKS = 3
GROUPS = {
    "world": range(8),
    "s0": range(4),
    "s1": range(4, 8),
    **{f"p{rank}": (rank, rank + 4) for rank in range(4)},
    **{f"t{rank}": (rank, rank + 1) for rank in range(0, 8, 2)},
}


class Watch:
    """One job, tick by tick."""

    def __init__(self, **settings: object) -> None:
        self.job = Job(GROUPS)
        self._test = Imbalance(
            ImbalanceSettings.model_validate({"enabled": True, "start_ticks": START_TICKS, **settings})
        )
        self._layout = WaitLayoutReader()
        self._time = 0.0

    def step(self, second_waits: float, unfit: tuple[str, ...] = ()) -> tuple[list[Finding], set[CulpritKey]]:
        """The first stage's ranks wait 0.3 in Recv; all wait 0.1 in each of four communicators."""
        received = {(f"p{rank}", rank, rank + 4): 0.3 for rank in range(4)}
        received |= {(f"p{rank}", rank + 4, rank): second_waits for rank in range(4)}
        waits = self.job.waits(received)
        fit = [self.job.code(name) for name in self.job.groups if name not in unfit]
        layout = self._layout.read(waits, self.job.membership)
        self._time += 2.0
        return self._test.step(waits, layout, self.job.membership, fit, self._time - 2.0)


def test_a_stage_that_waits_less_from_the_start_is_one_finding_about_no_rank() -> None:
    watch = Watch()
    said = [watch.step(0.05)[0] for _ in range(START_TICKS + 1)]
    assert said[: START_TICKS - 1] == [[]] * (START_TICKS - 1)
    first, second = said[-2:]
    assert first == second
    (found,) = first
    assert (found.culprit.ranks, found.culprit.comm, found.started_at, found.victims) == ((), "s1", 0.0, 4)
    assert found.cost_ratio == pytest.approx(0.25)
    assert found.evidence == {
        "skew_ratio": 0.25,
        "stages": [{"ranks": "4-7", "waits_ratio": 0.45}, {"ranks": "0-3", "waits_ratio": 0.7}],
    }


def test_it_keeps_its_name_and_goes_when_it_is_over() -> None:
    watch = Watch()
    found = [watch.step(0.05)[0] for _ in range(START_TICKS)][-1]
    assert watch.step(0.28) == ([], set())
    # The other stage is the heavier one now.
    assert watch.step(0.9)[0][0].culprit == found[0].culprit


def test_what_begins_later_is_no_imbalance() -> None:
    watch = Watch()
    watch.step(0.28)
    assert [watch.step(0.05)[0] for _ in range(10)] == [[]] * 10


def test_while_a_rank_is_suspected_nothing_can_be_said() -> None:
    watch = Watch()
    watch.step(0.05, unfit=tuple(GROUPS))
    (found,) = [watch.step(0.05)[0] for _ in range(START_TICKS)][-1]
    assert watch.step(0.05, unfit=tuple(GROUPS)) == ([], {found.culprit.key})


def test_off_by_default() -> None:
    assert not ImbalanceSettings().enabled
    watch = Watch(enabled=False)
    assert [watch.step(0.0) for _ in range(5)] == [([], set())] * 5


def test_ranks_that_receive_from_one_another_are_no_stage() -> None:
    """Pipelines may have more ranks than stages."""
    job = Job({"s0": (0, 1), "s1": (4, 5), "p0": (0, 4, 8, 12), "p1": (1, 5, 9, 13)})
    waits = job.waits({(f"p{rank}", rank + 4, rank): 0.5 for rank in (0, 1)})
    layout = WaitLayoutReader().read(waits, job.membership)
    fit = [job.code(name) for name in job.groups]
    test = Imbalance(ImbalanceSettings(enabled=True, start_ticks=1))
    assert [found.culprit.comm for found in test.step(waits, layout, job.membership, fit, 0.0)[0]] == ["s0"]
