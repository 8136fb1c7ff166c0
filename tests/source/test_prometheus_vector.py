"""Labels known by their bytes: the same arrays as by decoding, tick after tick."""

from collections.abc import Mapping, Sequence

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel.model.vocabulary import Vocabulary
from sentinel.source.prometheus_answer import decode
from sentinel.source.prometheus_grid import Axis, Grid, read_grid
from sentinel.source.prometheus_labels import LabelReader
from sentinel.source.prometheus_vector import VectorReader

LABELS = ("comm", "rank", "op")
METRICS = ("a_total", "b_total")
AXIS = Axis(start=1_700_000_000_000, step=1, count=1, instant=True)
Series = tuple[Mapping[str, str], str]


def answer(series: Sequence[Series], **more: object) -> bytes:
    result = [{"metric": metric, "value": [1_700_000_000, value]} for metric, value in series]
    return orjson.dumps({"status": "success", "data": {"resultType": "vector", "result": result}, **more})


def label_set(comm: int, rank: int, op: str, metric: str) -> dict[str, str]:
    return {"__name__": metric, "comm": f"{comm:016x}", "rank": str(rank), "op": op}


def decoded(body: bytes) -> Grid:
    return read_grid(decode(body, "vector", "there"), LABELS, LabelReader(Vocabulary()), AXIS, METRICS)


def named(grid: Grid) -> dict[tuple[int, ...], tuple[float, ...]]:
    """By rank, as codes depend on what was read before."""
    keys, values = grid.at(0)
    return {
        tuple(key[1:2]): tuple(row)
        for key, row in zip(keys.tolist(), np.nan_to_num(np.stack(values, axis=1), nan=-1.0).tolist(), strict=True)
    }


def new_reader() -> VectorReader:
    return VectorReader(LABELS, LabelReader(Vocabulary()), METRICS)


values = st.one_of(
    st.floats(0, 1e300).map(repr), st.sampled_from(("NaN", "+Inf", "-Inf", "-1", "0", "12", "1e+21", "1e-7"))
)
operations = st.one_of(st.just("AllReduce"), st.text(max_size=5), st.just('},{"metric":'), st.just('"},"value":['))
series = st.tuples(
    st.builds(label_set, st.just(7), st.integers(0, 40), operations, st.sampled_from((*METRICS, "c"))), values
)
# One series for each rank and metric: of several the last counts, and which that is depends on the order of labels.
answers = st.lists(series, min_size=1, max_size=30, unique_by=lambda each: (each[0]["rank"], each[0]["__name__"]))


@given(st.lists(answers, min_size=1, max_size=4))
def test_the_same_as_decoding(ticks: list[list[Series]]) -> None:
    reader = new_reader()
    for tick in ticks:
        body = answer(tick)
        expected, found = decoded(body), reader.known(body, "there")
        assert found is not None
        assert int(found.malformed[0]) == int(expected.malformed[0])
        texts = {(series["rank"], series["op"]) for series, _ in tick}
        if len({rank for rank, _ in texts}) == len(texts):
            assert named(found) == named(expected)


def test_what_is_gone_is_not_there_any_more() -> None:
    reader = new_reader()
    first = [(label_set(7, rank, "AllReduce", "a_total"), str(rank)) for rank in range(8)]
    assert reader.known(answer(first), "there") is not None
    found = reader.known(answer(first[5:]), "there")
    assert found is not None
    assert named(found) == {(rank,): (float(rank), -1.0) for rank in (5, 6, 7)}


def test_what_is_gone_is_forgotten() -> None:
    reader = new_reader()
    for tick in range(50):
        body = answer([(label_set(tick, rank, "AllReduce", "a_total"), "1") for rank in range(8)])
        found = reader.known(body, "there")
        assert found is not None
        assert len(found.keys) <= 3 * 8


@pytest.mark.parametrize("warning", ["a store is away", 'a store is away: "x"]}'])
def test_warnings_are_kept(warning: str) -> None:
    one = [(label_set(7, 1, "AllReduce", "a_total"), "1")]
    # After the series a text may look like their end: then they have to be decoded.
    assert new_reader().known(answer(one, warnings=[warning]), "there") is None
    before = orjson.dumps({"warnings": [warning], **orjson.loads(answer(one))})
    found = new_reader().known(before, "there")
    assert found is not None
    assert found.warnings == decode(before, "vector", "there").warnings == (warning,)


ONE = answer([(label_set(7, 1, "AllReduce", "a_total"), "1"), (label_set(7, 2, "AllReduce", "a_total"), "2")])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        answer([]),
        b'{"status":"error","errorType":"bad_data","error":"no"}',
        ONE[:-1],
        ONE[:-40],
        ONE.replace(b"vector", b"matrix"),
        ONE.replace(b'"value"', b'"values"'),
        ONE.replace(b'"1"]', b'"1",2]'),
        ONE.replace(b'"1"]', b'"one"]'),
        ONE.replace(b'"1"]', b"1]"),
        ONE.replace(b"1700000000", b"1700000001", 1),
        ONE.replace(b"1700000000", b"never"),
        ONE.replace(b'"rank":"1"', b'"rank":"1'),
        orjson.dumps(orjson.loads(ONE), option=orjson.OPT_INDENT_2),
    ],
)
def test_anything_else_is_left_to_decoding(body: bytes) -> None:
    assert new_reader().known(body, "there") is None
