from page.scenes import column, roster

from sentinel.history.record import Record
from sentinel.history.strip import Span
from sentinel.page.signals import signals_document


def record(*columns: object, comm: str = "aa") -> Record:
    found = Record(Span(), 1 << 30)
    found.restore([roster(comm=comm)], [], [(comm, each) for each in columns])
    return found


def test_equal_neighbours_are_one_run() -> None:
    ticks = [column(30.0 * at, state="learning" if at < 4 else "watching", findings=int(at >= 6)) for at in range(1, 9)]
    (found,) = signals_document(record(*ticks), ticks=True)["communicators"]
    assert found["runs"] == [
        [0.0, 90.0, "learning", 0],
        [90.0, 150.0, "watching", 0],
        [150.0, 240.0, "watching", 1],
    ]


def test_a_time_without_looks_is_a_gap() -> None:
    ticks = [column(30.0 * at) for at in (1, 2, 3, 20, 21)]
    (found,) = signals_document(record(*ticks), ticks=True)["communicators"]
    assert [run[:2] for run in found["runs"]] == [[0.0, 90.0], [570.0, 630.0]]


def test_those_with_most_to_say_come_first_and_the_rest_is_counted() -> None:
    found = Record(Span(), 1 << 30)
    names = [f"{number:016x}" for number in range(120)]
    loud = names[77]
    ticks = [(comm, column(30.0 * at, findings=int(comm == loud))) for at in (1, 2) for comm in names]
    found.restore([roster(comm=comm) for comm in names], [], ticks)
    document = signals_document(found, ticks=True)
    assert document["communicators"][0]["comm"] == loud
    assert (len(document["communicators"]), document["communicators_left_out"]) == (100, 20)
