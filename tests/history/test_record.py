import numpy as np
import pytest
from cluster.job import Job
from history.looks import START, TICK, Watcher, job

from sentinel.history.record import Record
from sentinel.history.strip import BIN_SECONDS, Span

LARGE = 1 << 30


def test_ticks_and_bins_of_a_job() -> None:
    record, watcher, watched = Record(Span(), LARGE), Watcher(), job()
    for look in watcher.looks(watched, 25):
        record.take(look)
    roster, ticks = record.columns(watched.comm, ticks=True)
    assert (roster.job_id, roster.nranks, sorted(roster.places)) == ("job", 8, list(range(8)))
    assert [each.time for each in ticks] == [START + TICK * at for at in range(1, 26)]
    _, bins = record.columns(watched.comm, ticks=False)
    # Two that are over, and the one that goes on: of the ticks, as all of them are there.
    assert [each.time for each in bins] == [START + BIN_SECONDS, START + 2 * BIN_SECONDS, START + 25 * TICK]
    inside = [each for each in ticks if START + BIN_SECONDS < each.time <= START + 2 * BIN_SECONDS]
    assert len(inside) == 10
    expected = np.median([each.means.lateness_seconds for each in inside], axis=0)
    assert bins[1].means.lateness_seconds == pytest.approx(expected)
    assert record.moment.time == START + 25 * TICK
    assert [(each.comm, each.ranks) for each in record.moment.communicators] == [(watched.comm, 8)]
    assert record.columns("nobody", ticks=True) is None


def test_what_is_too_old_is_forgotten() -> None:
    record = Record(Span(ticks_seconds=150.0), LARGE)
    watched = job()
    for look in Watcher().looks(watched, 60):
        record.take(look)
    newest = START + 60 * TICK
    assert [each.time for each in record.columns(watched.comm, ticks=True)[1]] == [
        newest - TICK * at for at in (4, 3, 2, 1, 0)
    ]
    assert record.dropped.total() == 0


def test_short_ticks_are_bounded_in_number() -> None:
    record, watched = Record(Span(most_ticks=7), LARGE), job()
    for look in Watcher().looks(watched, 20):
        record.take(look)
    assert len(record.columns(watched.comm, ticks=True)[1]) == 7


def test_past_its_memory_the_oldest_goes_and_is_counted() -> None:
    record, watched = Record(Span(), 64_000), job(64)
    for look in Watcher().looks(watched, 120):
        record.take(look)
        assert record.nbytes <= 64_000
    assert record.dropped["full"] > 0
    ticks = record.columns(watched.comm, ticks=True)[1]
    assert ticks[-1].time == START + 120 * TICK


def test_each_bin_is_given_out_once_when_it_is_over_also_of_one_that_is_gone() -> None:
    record, watcher = Record(Span(ticks_seconds=1200.0), LARGE), Watcher()
    first = job()
    closed: list[tuple[str, float]] = []

    def take(watched: Job, count: int) -> None:
        for look in watcher.looks(watched, count):
            closed.extend((each.comm, bin_.time) for each in record.take(look) for bin_ in each.closed)

    take(first, 12)
    second = job(comm="00000000000000bb", vocabulary=first.vocabulary)
    second.time = first.time
    take(second, 12)
    assert sorted(closed) == [
        (first.comm, START + BIN_SECONDS),
        (first.comm, START + 2 * BIN_SECONDS),
        (second.comm, START + 2 * BIN_SECONDS),
    ]
    assert {each.comm for each in record.communicators()} == {first.comm, second.comm}
    take(second, 40)
    assert {each.comm for each in record.communicators()} == {second.comm}
    assert [time for comm, time in closed if comm == second.comm] == [
        START + number * BIN_SECONDS for number in range(2, 7)
    ]


def test_nothing_is_measured_in_a_partial_answer_and_its_column_says_so() -> None:
    record, watcher, watched = Record(Span(), LARGE), Watcher(), job()
    for look in watcher.looks(watched, 5):
        record.take(look)
    watched.warnings = ("a store is away",)
    for look in watcher.looks(watched, 1):
        record.take(look)
    last = record.columns(watched.comm, ticks=True)[1][-1]
    assert (last.state, len(last.means.ranks)) == ("abstain", 0)
    assert not record.moment.judged
