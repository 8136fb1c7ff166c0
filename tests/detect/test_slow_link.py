"""Slow links: whom they name, and what they leave alone."""

from collections.abc import Iterable

import numpy as np
import pytest
from cluster.fabric import Noise, Ring, Tick, ar1, iid, log_normal

from sentinel.config.detection_slow_link import SlowLinkSettings
from sentinel.detect.slow_links import SlowLinks
from sentinel.measure.step_times import measure_step_times
from sentinel.model.incident import Finding, Verdict


class Watch:
    """The verdict on one ring."""

    def __init__(self, ring: Ring, **settings: object) -> None:
        self.ring = ring
        self.links = SlowLinks(SlowLinkSettings.model_validate(settings), 5, 1.0)

    def step(self, tick: Tick, states: dict[int, str] | None = None) -> list[Finding]:
        ring = self.ring
        times = measure_step_times(tick.traffic.network, ring.vocabulary, 8)
        found, self.held = self.links.step(
            tick.window, tick.traffic, times, tick.lateness, ring.membership, ring.vocabulary, states or ring.states
        )
        return found

    def run(self, count: int) -> list[list[Finding]]:
        return [self.step(tick) for tick in self.ring.ticks(count)]


def named(found: Iterable[list[Finding]]) -> set[tuple[int, ...]]:
    return {finding.culprit.ranks for findings in found for finding in findings}


def test_a_sender_that_becomes_slow_is_named_within_three_ticks_and_no_longer_than_it_lasts() -> None:
    watch = Watch(Ring())
    assert named(watch.run(20)) == set()
    began = watch.ring.time
    watch.ring.wire[5] = 1.5
    found = watch.run(10)
    assert named(found) == {(5,)}
    assert any(found[:3])
    finding = found[-1][0]
    assert finding.culprit.verdict is Verdict.SLOW_LINK
    assert (finding.culprit.node, finding.culprit.gpu) == ("node2", "1")
    assert finding.started_at == began
    evidence = finding.evidence
    assert (evidence["kind"], evidence["state"], evidence["peer_rank"]) == ("slow_sender", "wire", 6)
    assert evidence["step_seconds"] == pytest.approx(150e-6, rel=0.15)
    assert evidence["peers_step_seconds"] == pytest.approx(100e-6, rel=0.15)
    assert {(each["direction"], each["state"]) for each in evidence["states"]} == {
        ("send", "wire"),
        ("send", "gpu_wait"),
        ("recv", "flush"),
        ("recv", "wire"),
    }
    watch.ring.wire[5] = 1.0
    assert not any(watch.run(5))
    watch.ring.wire[5] = 1.5  # the second time as the first
    assert named(watch.run(5)) == {(5,)}


def test_a_host_that_is_starved_from_the_start_is_named_without_any_history() -> None:
    ring = Ring(nranks=8)
    ring.links = range(0, 8, 2)  # four hosts
    ring.flush[4] = 200.0
    found = Watch(ring).run(30)
    assert named(found) == {(4,)}
    assert any(found[:3])
    assert found[-1]  # it never becomes its own normal
    evidence = found[2][0].evidence
    assert (evidence["kind"], evidence["direction"], evidence["peer_rank"]) == ("slow_receiver_host", "recv", 3)
    assert evidence["test"] == "far from its peers"


def test_two_links_have_no_peers_to_speak_of_but_a_history() -> None:
    ring = Ring()
    ring.links = (1, 5)
    ring.wire[5] = 10.0
    assert named(Watch(ring).run(20)) == set()
    ring = Ring()
    ring.links = (1, 5)
    watch = Watch(ring)
    watch.run(20)
    ring.wire[5] = 1.5
    assert named(watch.run(5)) == {(5,)}


def test_what_costs_little_is_not_said() -> None:
    watch = Watch(Ring(cells=(("AllReduce", "1048576", 0.0001, 20),)))
    watch.run(20)
    watch.ring.wire[5] = 1.5
    assert named(watch.run(20)) == set()


def test_steps_that_are_longer_by_less_than_the_floor_are_not_said() -> None:
    watch = Watch(Ring(step_seconds=5e-6))
    watch.run(20)
    watch.ring.wire[5] = 3.0
    assert named(watch.run(20)) == set()
    watch.ring.wire[5] = 6.0
    assert named(watch.run(5)) == {(5,)}


def test_the_cost_does_not_depend_on_sampling() -> None:
    costs = []
    for ratio in (1.0, 0.2):
        watch = Watch(Ring(timed_ratio=ratio))
        watch.run(20)
        watch.ring.wire[5] = 2.0
        costs.append(watch.run(8)[-1][0].cost_ratio)
    assert costs[1] == pytest.approx(costs[0], rel=0.1)


def test_a_slower_fabric_and_larger_messages_are_no_slow_link() -> None:
    for change in ("fabric", "message_ratio"):
        watch = Watch(Ring())
        watch.run(20)
        setattr(watch.ring, change, 3.0)
        assert named(watch.run(30)) == set()


def test_who_is_late_and_sends_a_burst_is_no_slow_link() -> None:
    watch = Watch(Ring())
    watch.run(20)
    watch.ring.delay_seconds[3] = 0.01
    watch.ring.wire[3] = 1.4
    assert named(watch.run(30)) == set()


def test_others_that_become_faster_make_nobody_slow() -> None:
    watch = Watch(Ring())
    watch.run(20)
    watch.ring.wire[np.arange(8) != 3] = 0.7
    assert named(watch.run(30)) == set()


def test_what_is_missing_opens_nothing_and_ends_nothing() -> None:
    watch = Watch(Ring())
    watch.run(20)
    watch.ring.wire[5] = 1.5
    key = watch.run(5)[-1][0].culprit.key
    watch.ring.links = [rank for rank in range(8) if rank != 5]
    assert named(watch.run(3)) == set()
    assert watch.held == {key}
    watch.ring.links = range(8)
    for tick in watch.ring.ticks(2):
        assert not watch.step(tick, {watch.ring.code: "abstain"})
        assert watch.held == {key}
    assert named(watch.run(1)) == {(5,)}
    watch.links.forget({watch.ring.code})
    watch.ring.has_network = False
    watch.run(1)
    assert watch.held == set()


def test_a_process_with_several_slow_links_is_one_finding() -> None:
    watch = Watch(Ring())
    watch.run(20)
    watch.ring.wire[5], watch.ring.flush[5] = 2.0, 20.0
    found = watch.run(8)[-1]
    assert len(found) == 1
    assert {each["direction"] for each in found[0].evidence["slow_links"]} == {"send", "recv"}


@pytest.mark.parametrize(
    "noise", [iid(0.1), ar1(0.1, 0.9), log_normal(0.3), log_normal(1.2)], ids=["iid", "ar1", "skewed", "very-skewed"]
)
def test_noise_alone_names_nobody(noise: Noise) -> None:
    cells = (("AllReduce", "1048576", 0.02, 20),)
    watch = Watch(Ring(nranks=64, cells=cells, noise=noise, gpus_per_node=8))
    assert named(watch.run(3000)) == set()
    # It would have been seen: far out it is, whatever the noise.
    watch.ring.wire[17] = 2000.0
    assert named(watch.run(5)) == {(17,)}
