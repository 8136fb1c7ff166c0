"""Samples decoded many at once: the same arrays as one by one, part after part of a range."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel.errors import SourceError
from sentinel.model.vocabulary import Vocabulary
from sentinel.source.prometheus_answer import decode
from sentinel.source.prometheus_grid import Axis, Grid, read_grid
from sentinel.source.prometheus_labels import LabelReader
from sentinel.source.prometheus_matrix import MatrixReader

LABELS = ("comm", "rank", "op")
METRICS = ("a_total", "b_total")
AXIS = Axis(start=1_700_000_000_000, step=30_500, count=5)
Series = tuple[Mapping[str, str], Mapping[int, str]]


def answer(series: Sequence[Series], **more: object) -> bytes:
    result = [
        {"metric": metric, "values": [[(AXIS.start + AXIS.step * at) / 1000, text] for at, text in samples.items()]}
        for metric, samples in series
    ]
    return orjson.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}, **more})


def label_set(rank: int, op: str, metric: str) -> dict[str, str]:
    return {"__name__": metric, "comm": f"{7:016x}", "rank": str(rank), "op": op}


def decoded(body: bytes) -> Grid:
    return read_grid(decode(body, "matrix", "there"), LABELS, LabelReader(Vocabulary()), AXIS, METRICS)


def named(grid: Grid, column: int) -> dict[int, tuple[float, ...]]:
    """By rank, as codes depend on what was read before."""
    keys, values = grid.at(column)
    table = np.nan_to_num(np.stack(values, axis=1), nan=-1.0).tolist()
    return {key[1]: tuple(row) for key, row in zip(keys.tolist(), table, strict=True)}


def new_reader() -> MatrixReader:
    return MatrixReader(LABELS, LabelReader(Vocabulary()), METRICS)


values = st.one_of(st.floats(-1, 1e300).map(repr), st.sampled_from(("-1", "0", "12", "1e+21", "1e-7")))
operations = st.one_of(st.just("AllReduce"), st.text(max_size=5), st.just('},{"metric":'), st.just('},"values":['))
series = st.tuples(
    st.builds(label_set, st.integers(0, 40), operations, st.sampled_from((*METRICS, "c"))),
    st.dictionaries(st.integers(0, AXIS.count - 1), values, min_size=1),
)
answers = st.lists(series, min_size=1, max_size=20, unique_by=lambda each: (each[0]["rank"], each[0]["__name__"]))


@given(st.lists(answers, min_size=1, max_size=4))
def test_the_same_as_decoding(parts: list[list[Series]]) -> None:
    reader = new_reader()
    for part in parts:
        body = answer(part)
        expected, found = decoded(body), reader.known(body, "there", AXIS)
        assert found is not None
        assert found.malformed.tolist() == expected.malformed.tolist()
        if len({metric["rank"] for metric, _ in part}) == len({(metric["rank"], metric["op"]) for metric, _ in part}):
            for column in range(AXIS.count):
                assert named(found, column) == named(expected, column)


def test_blocks_are_put_together() -> None:
    body = answer(
        [(label_set(rank, "AllReduce", "a_total"), dict.fromkeys(range(5), "0.25")) for rank in range(12_000)]
    )
    assert len(body) > 2 << 20
    found = new_reader().known(body, "there", AXIS)
    assert found is not None
    assert found.values[0].shape == (12_000, 5)
    assert (found.values[0] == 0.25).all()
    assert np.isnan(found.values[1]).all()


def test_what_is_gone_is_not_there_any_more() -> None:
    reader = new_reader()
    first = [(label_set(rank, "AllReduce", "a_total"), {0: str(rank), 2: "7"}) for rank in range(8)]
    assert reader.known(answer(first), "there", AXIS) is not None
    found = reader.known(answer(first[5:]), "there", AXIS)
    assert found is not None
    assert named(found, 0) == {rank: (float(rank), -1.0) for rank in (5, 6, 7)}
    assert named(found, 1) == {}


def test_too_many_series_are_not_made_room_for() -> None:
    def bound(count: int, axis: Axis, where: str) -> None:
        raise SourceError(f"{count} at {axis.count} from {where}")

    reader = MatrixReader(LABELS, LabelReader(Vocabulary()), METRICS, bound)
    for text in ("1", "NaN"):
        with pytest.raises(SourceError, match="1 at 5 from there"):
            reader.read(answer([(label_set(1, "AllReduce", "a_total"), {0: text})]), "there", AXIS)


ONE = answer(
    [(label_set(1, "AllReduce", "a_total"), {0: "1", 1: "2"}), (label_set(2, "AllReduce", "a_total"), {0: "3"})]
)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        answer([]),
        b'{"status":"error","errorType":"bad_data","error":"no"}',
        ONE[:-1],
        ONE[:-40],
        ONE.replace(b"matrix", b"vector"),
        ONE.replace(b'"values"', b'"value"'),
        ONE.replace(b'"1"]', b'"1",2]'),
        ONE.replace(b'"1"]', b'"1,2"]'),
        ONE.replace(b'"1"]', b'"one"]'),
        ONE.replace(b'"1"]', b'"NaN"]'),
        ONE.replace(b'"1"]', b'"true"]'),
        ONE.replace(b'"1"]', b'""]'),
        ONE.replace(b'"1"]', b"1]"),
        ONE.replace(b"1700000000.0", b"1700000000.5", 1),
        ONE.replace(b"1700000000.0", b"1e300", 1),
        ONE.replace(b'"rank":"1"', b'"rank":"1'),
        orjson.dumps(orjson.loads(ONE), option=orjson.OPT_INDENT_2),
    ],
)
def test_anything_else_is_left_to_decoding(body: bytes) -> None:
    assert new_reader().known(body, "there", AXIS) is None


def test_what_is_no_number_costs_its_series_alone() -> None:
    found = new_reader().read(ONE.replace(b'"1"]', b'"one"]'), "there", AXIS)
    assert named(found, 0) == {2: (3.0, -1.0)}
    assert math.isnan(found.values[0][0, 0])
