"""Answers of every size. What is wrong with an answer is in test_prometheus_errors."""

import orjson
import pytest

from sentinel.errors import SourceError
from sentinel.source.prometheus_answer import decode

URL = "http://prometheus/api/v1/query"


def body(series: list[dict[str, object]], **more: object) -> bytes:
    return orjson.dumps({"status": "success", "data": {"resultType": "vector", "result": series}, **more})


def many(count: int) -> list[dict[str, object]]:
    """Enough to be decoded in blocks, with all that could be taken for a boundary."""
    odd = '},{"metric":{ \\ "} ]}} é \u2028'
    return [
        {"metric": {"comm": f"{number:016x}", "odd": odd, "last": "}"}, "value": [1, odd]} for number in range(count)
    ]


@pytest.mark.parametrize("count", [0, 1, 2, 100, 40_000])
@pytest.mark.parametrize("more", [{}, {"warnings": ["one store did not answer"]}, {"infos": ["x"], "warnings": None}])
def test_all_series_come_once_and_in_order(count: int, more: dict[str, object]) -> None:
    series = many(count)
    answer = decode(body(series, **more), "vector", URL)
    assert answer.count == count
    assert list(answer.series) == series
    assert answer.warnings == tuple(more.get("warnings") or ())


@pytest.mark.parametrize(("said", "count"), [({"isPartial": True}, 1), ({"isPartial": False}, 0)])
def test_what_victoriametrics_says_of_a_part_is_a_warning(said: dict[str, object], count: int) -> None:
    assert len(decode(body(many(3), **said), "vector", URL).warnings) == count


def test_an_answer_with_blanks_is_read_too() -> None:
    series = many(20_000)
    document = {"status": "success", "data": {"resultType": "vector", "result": series}}
    assert list(decode(orjson.dumps(document, option=orjson.OPT_INDENT_2), "vector", URL).series) == series


def test_a_large_answer_of_the_wrong_kind_is_refused() -> None:
    with pytest.raises(SourceError, match="expected a matrix, found 'vector'"):
        decode(body(many(40_000)), "matrix", URL)


@pytest.mark.parametrize("cut", [1, 3, 60, 1_000_000, 3_000_000])
def test_a_large_answer_that_is_cut_off_is_refused(cut: int) -> None:
    whole = body(many(40_000))
    assert len(whole) > 4_000_000
    with pytest.raises(SourceError, match="broken or cut off"):
        list(decode(whole[:-cut], "vector", URL).series)


def test_a_large_answer_that_is_broken_within_is_refused() -> None:
    whole = bytearray(body(many(40_000)))
    whole[2_000_000] = 0
    with pytest.raises(SourceError, match="broken or cut off"):
        list(decode(bytes(whole), "vector", URL).series)
