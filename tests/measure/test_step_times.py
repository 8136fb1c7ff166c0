"""Seconds per network step, and what they are compared with."""

import numpy as np
import pytest

from sentinel.measure.step_times import StepTimes, measure_step_times
from sentinel.model.snapshot import NetworkTable
from sentinel.model.vocabulary import Vocabulary


def measure(*rows: tuple[str, int, int, str, str, float, float]) -> tuple[StepTimes, Vocabulary]:
    """Rows: comm, rank, peer, direction, state, steps, seconds."""
    vocabulary = Vocabulary()
    comm, rank, peer, direction, state, steps, seconds = zip(*rows, strict=True)
    table = NetworkTable(
        vocabulary.codes(comm),
        np.array(rank, dtype=np.int32),
        np.array(peer, dtype=np.int32),
        vocabulary.codes(direction),
        vocabulary.codes(state),
        np.array(steps),
        np.array(seconds),
    )
    return measure_step_times(table, vocabulary, min_steps=8), vocabulary


def test_links_are_compared_within_communicator_and_direction() -> None:
    times, vocabulary = measure(
        ("a", 0, 1, "send", "wire", 10.0, 0.1),
        ("a", 1, 2, "send", "wire", 10.0, 0.2),
        ("a", 2, 0, "send", "wire", 10.0, 0.6),
        ("a", 1, 0, "recv", "flush", 10.0, 0.5),
        ("b", 0, 1, "send", "wire", 10.0, 0.9),
    )
    assert times.step_seconds.tolist() == pytest.approx([0.01, 0.02, 0.06, 0.05, 0.09])
    assert times.peers_seconds[:3].tolist() == pytest.approx([0.04, 0.035, 0.015])
    assert np.isnan(times.peers_seconds[3:]).all()
    assert vocabulary.texts(times.direction) == ["send", "send", "send", "recv", "send"]
    assert len(set(times.group.tolist())) == 3


def test_only_what_a_rank_answers_for_counts_but_all_of_it_is_its_time() -> None:
    times, _ = measure(
        ("a", 0, 1, "send", "gpu_wait", 10.0, 0.3),
        ("a", 0, 1, "send", "peer_wait", 10.0, 0.1),
        ("a", 0, 1, "send", "wire", 10.0, 0.2),
        ("a", 0, 2, "send", "wire", 7.0, 0.4),
        ("a", 0, 1, "recv", "wire", 10.0, 5.0),
        ("a", 0, 1, "recv", "gpu_wait", 10.0, 5.0),
    )
    assert times.peer.tolist() == [1]
    assert times.direction_seconds.tolist() == pytest.approx([1.0])


def test_nothing_is_known_of_nothing() -> None:
    times = measure_step_times(NetworkTable.empty(), Vocabulary(), min_steps=8)
    assert len(times.steps) == 0


def test_the_links_of_some_communicators_are_what_they_are_alone() -> None:
    of_a = (("a", 0, 1, "send", "wire", 10.0, 0.1), ("a", 1, 0, "send", "wire", 10.0, 0.2))
    of_b = (("b", 0, 1, "send", "wire", 10.0, 0.9), ("b", 1, 0, "send", "wire", 10.0, 0.3))
    times, vocabulary = measure(*of_a, *of_b)
    alone, _ = measure(*of_b)
    some = times.of({vocabulary.find("b") or 0})
    assert vocabulary.texts(some.comm) == ["b", "b"]
    for name in ("rank", "peer", "group", "steps", "step_seconds", "peers_seconds", "direction_seconds"):
        assert getattr(some, name).tolist() == getattr(alone, name).tolist()
    everything = {vocabulary.find(comm) or 0 for comm in ("a", "b")}
    assert times.of(everything) is times
