from pathlib import Path

from page.scenes import NOW, column, moment, roster

from sentinel.history.archive import Archive
from sentinel.history.past import Past
from sentinel.history.record import Added, Record
from sentinel.history.strip import Span
from sentinel.page.signals import signals_document

NOWHERE = Path("/dev/null/nowhere")


def past(*columns: object, comm: str = "aa") -> Past:
    found = Record(Span(), 1 << 30)
    found.restore([roster(comm=comm)], {}, [(comm, each) for each in columns])
    return Past(found, NOWHERE)


def test_equal_neighbours_are_one_run() -> None:
    ticks = [column(30.0 * at, state="learning" if at < 4 else "watching", findings=int(at >= 6)) for at in range(1, 9)]
    (found,) = signals_document(past(*ticks), ticks=True)["communicators"]
    assert found["runs"] == [
        [0.0, 90.0, "learning", 0],
        [90.0, 150.0, "watching", 0],
        [150.0, 240.0, "watching", 1],
    ]


def test_a_time_without_looks_is_a_gap() -> None:
    ticks = [column(30.0 * at) for at in (1, 2, 3, 20, 21)]
    (found,) = signals_document(past(*ticks), ticks=True)["communicators"]
    assert [run[:2] for run in found["runs"]] == [[0.0, 90.0], [570.0, 630.0]]


def test_those_with_most_to_say_come_first_and_the_rest_is_counted() -> None:
    found = Record(Span(), 1 << 30)
    names = [f"{number:016x}" for number in range(120)]
    loud = names[77]
    ticks = [(comm, column(30.0 * at, findings=int(comm == loud))) for at in (1, 2) for comm in names]
    found.restore([roster(comm=comm) for comm in names], {}, ticks)
    document = signals_document(Past(found, NOWHERE), ticks=True)
    assert document["communicators"][0]["comm"] == loud
    assert (len(document["communicators"]), document["communicators_left_out"]) == (100, 20)


def test_bins_of_the_file_and_the_one_that_goes_on_are_one_row(tmp_path: Path) -> None:
    end = NOW // 300.0 * 300.0
    archive = Archive(tmp_path)
    loud = [column(end - 300.0 * back, findings=int(back < 2)) for back in (3, 2, 1, 0)]
    quiet = [column(end - 300.0 * back) for back in (3, 2, 1, 0)]
    added = [Added("aa", None, loud, None), Added("bb", None, quiet, None)]
    archive.write(added, [roster(comm="aa"), roster(comm="bb")], NOW, Span(), 1 << 30)
    archive.close()
    record = Record(Span(), 1 << 30)
    record.restore([roster(comm="bb")], {"bb": end}, [("bb", column(end + 15.0, state="stalled"))])
    record.moment = moment()
    document = signals_document(Past(record, tmp_path), ticks=False)
    assert document["fault"] == ""
    assert [(each["comm"], each["runs"]) for each in document["communicators"]] == [
        ("aa", [[end - 1200.0, end - 600.0, "watching", 0], [end - 600.0, end, "watching", 1]]),
        ("bb", [[end - 1200.0, end, "watching", 0], [end, end + 15.0, "stalled", 0]]),
    ]


def test_without_a_file_bins_are_those_of_the_ticks_and_that_is_said() -> None:
    record = Record(Span(), 1 << 30)
    record.restore([roster(comm="aa")], {}, [("aa", column(NOW - 30.0 * back)) for back in (20, 10, 0)])
    record.moment = moment()
    document = signals_document(Past(record, NOWHERE), ticks=False)
    assert "unable to open" in document["fault"]
    assert [each["comm"] for each in document["communicators"]] == ["aa"]
