from sentinel.cli.evidence_text import evidence_lines, table_lines


def text(evidence: dict) -> list[str]:
    return list(evidence_lines(evidence))


def test_numbers_have_units_and_nothing_is_left_out() -> None:
    assert text(
        {
            "step_seconds": 0.00104,
            "cost_ratio": 0.25,
            "moved_bytes": 1048576,
            "steps": 12,
            "follows": "the GPU",
            "restarted": True,
            "alone": False,
            "zero": 0,
        }
    ) == [
        "step: 1.04 ms",
        "cost: 25%",
        "moved: 1 MiB",
        "steps: 12",
        "follows: the GPU",
        "restarted: yes",
        "alone: no",
        "zero: 0",
    ]


def test_what_is_not_there_is_left_out() -> None:
    assert text({"a": None, "b": [], "c": {}, "d": ""}) == []


def test_ranks_are_ranges_and_long_lists_end() -> None:
    assert text({"waiting_ranks": [0, 1, *range(3, 8192)]}) == ["waiting ranks: 0-1, 3-8191"]
    assert text({"ranks": [5, 3]}) == ["ranks: 5, 3"]
    assert text({"communicators": [f"c{n}" for n in range(30)]}) == [
        f"communicators: {', '.join(f'c{n}' for n in range(12))} … and 18 more (--json)"
    ]


def test_tables_within_tables_of_keys() -> None:
    lines = text({"links": [{"peer": 4, "wire_seconds": 0.002}, {"peer": 12, "direction": "send"}], "by": {"1": 2.0}})
    assert lines == [
        "links",
        "  PEER  WIRE  DIRECTION",
        "  4     2 ms  -",
        "  12    -     send",
        "by",
        "  1: 2",
    ]


def test_a_cell_is_one_column() -> None:
    cell = {"op": "AllReduce", "size_bytes": "1048576", "algo": "RING", "proto": "", "lateness_seconds": 0.001}
    assert list(table_lines([cell, {"op": "AllGather", "size_bytes": "other", "p_value": 0.25}])) == [
        "CELL                  LATE BY  P VALUE",
        "AllReduce 1 MiB RING  1 ms     -",
        "AllGather other       -        0.25",
    ]


def test_many_keys_and_rows_end() -> None:
    behind = text({"operations_behind": {str(rank): 1.0 for rank in range(4000)}})
    assert behind[-1] == "  … and 3988 more (--json)"
    assert len(behind) == 14
    assert list(table_lines([{"n": n} for n in range(20)]))[-1] == "… and 8 more (--json)"
