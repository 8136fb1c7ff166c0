from hypothesis import given
from hypothesis import strategies as st
from nccl_exporter.layout import DROPPED
from nccl_exporter.ledger import Ledger

COUNTS = st.tuples(*[st.integers(0, 2**64 - 1)] * len(DROPPED))


def test_ended_processes_stay_counted() -> None:
    ledger: Ledger[str] = Ledger()
    ledger.note("a", (1, 0, 0, 0, 0, 0))
    ledger.note("b", (2, 5, 0, 0, 0, 0))
    ledger.settle({"b"})
    ledger.note("b", (3, 5, 0, 0, 0, 0))
    assert ledger.total == (4, 5, 0, 0, 0, 0)


@given(st.lists(st.tuples(st.sampled_from("abc"), COUNTS, st.sets(st.sampled_from("abc")))))
def test_total_never_falls(steps: list[tuple[str, tuple[int, ...], set[str]]]) -> None:
    ledger: Ledger[str] = Ledger()
    before = ledger.total
    for key, counts, present in steps:
        ledger.note(key, counts)
        ledger.settle(present)
        assert all(new >= old for new, old in zip(ledger.total, before, strict=True))
        before = ledger.total
