"""What network steps say about real recorded jobs: a slow sender, a starved host, and nobody else."""

import pytest
from cluster.network_recording import NetworkRecording
from cluster.recording import TRACES, Bursts, RecordedJob, Segment

from sentinel.config.detection_slow_fabric import SlowFabricSettings
from sentinel.config.detection_slow_link import SlowLinkSettings
from sentinel.detect.slow_fabric import SlowFabric
from sentinel.detect.slow_links import SlowLinks
from sentinel.measure.lateness import measure_lateness
from sentinel.measure.membership import MembershipReader
from sentinel.measure.step_times import measure_step_times
from sentinel.measure.traffic import TrafficReader
from sentinel.measure.window import Differencer
from sentinel.model.incident import Finding

WARM_SECONDS = 4.0
LEARN, WATCH, AFTER = 24.0, 20.0, 12.0

NOBODY = [
    # trace, operations a step, steps first, steps then
    pytest.param("healthy", 4, (10, 100), (100, 199), id="healthy"),
    pytest.param("late1ms", 4, (10, 100), (101, 199), id="late1ms"),
    pytest.param("mixchange", 4, (8, 50), (50, 99), id="mixchange"),
    pytest.param("p2p_late6", 6, (8, 50), (51, 99), id="p2p_late6"),
    pytest.param("pipe_healthy", 3, (8, 80), (80, 158), id="pipe_healthy"),
    pytest.param("pipe_late1", 3, (8, 80), (81, 158), id="pipe_late1"),
    pytest.param("stall2", 4, (8, 29), (29, 59), id="stall2"),
]
SAMPLED = pytest.mark.parametrize("sampled", [None, Bursts()], ids=["whole", "sampled"])


def judge(
    trace: str, ops_per_step: int, segments: list[Segment], sampled: Bursts | None
) -> list[tuple[float, list[Finding]]]:
    """By tick, what both verdicts about wires find."""
    job = RecordedJob(TRACES / trace, ops_per_step, 0, sampled)
    traffic, windows, members = TrafficReader(), Differencer(), MembershipReader()
    links, fabric = SlowLinks(SlowLinkSettings(), 5, 1.0), SlowFabric(SlowFabricSettings(), 5, 1.0)
    found = []
    for snapshot in NetworkRecording(TRACES / trace, job).snapshots(segments):
        gained, window, membership = traffic.step(snapshot), windows.step(snapshot), members.read(snapshot)
        if window is None or snapshot.time < WARM_SECONDS:
            continue
        vocabulary, states = snapshot.vocabulary, dict.fromkeys(membership.communicators, "watching")
        lateness = measure_lateness(window, vocabulary, 5)
        times = measure_step_times(gained.network, vocabulary, 8)
        look = fabric.look(lateness, times, membership, vocabulary)
        risen = look.reading.risen()
        slow, _ = links.step(window, gained, times, lateness, membership, vocabulary, states, risen=risen)
        slower, _ = fabric.step(window, look, membership, vocabulary, states, links.suspects())
        found.append((snapshot.time, slow + slower))
    return found


def named(found: list[tuple[float, list[Finding]]]) -> set[tuple[str, tuple[int, ...], str]]:
    return {
        (finding.culprit.verdict.value, finding.culprit.ranks, finding.evidence.get("kind", ""))
        for _, findings in found
        for finding in findings
    }


@SAMPLED
@pytest.mark.parametrize(("trace", "ops_per_step", "first", "then"), NOBODY)
def test_nobody(
    trace: str, ops_per_step: int, first: tuple[int, int], then: tuple[int, int], sampled: Bursts | None
) -> None:
    segments = [Segment(*first, LEARN), Segment(*then, WATCH), Segment(*first, AFTER)]
    assert named(judge(trace, ops_per_step, segments, sampled)) == set()
    # The other half from the start.
    assert named(judge(trace, ops_per_step, [Segment(*then, WATCH)], sampled)) == set()


@SAMPLED
def test_the_slow_sender(sampled: Bursts | None) -> None:
    segments = [Segment(10, 60, LEARN), Segment(61, 119, WATCH), Segment(10, 60, AFTER)]
    found = judge("slownic5", 4, segments, sampled)
    assert named(found) == {("slow_link", (5,), "slow_sender")}
    times = [time for time, findings in found if findings]
    # Named three ticks after it began, until it was over: the segments are a little longer than they say.
    assert LEARN + 4.0 <= times[0] <= LEARN + 10.0
    assert times[-1] <= LEARN + WATCH + 8.0
    evidence = found[-8][1][0].evidence
    assert evidence["peer_rank"] == 6
    assert evidence["step_seconds"] > 20 * evidence["peers_step_seconds"]
    # Without any history as well.
    assert named(judge("slownic5", 4, [Segment(61, 119, WATCH)], sampled)) == {("slow_link", (5,), "slow_sender")}


@SAMPLED
@pytest.mark.parametrize("steps", [(5, 149), (5, 75), (75, 149)])
def test_the_starved_host(steps: tuple[int, int], sampled: Bursts | None) -> None:
    found = judge("starved4", 4, [Segment(*steps, 40.0)], sampled)
    assert named(found) == {("slow_link", (4,), "slow_receiver_host")}
    assert min(time for time, findings in found if findings) <= WARM_SECONDS + 6.0
