"""Answers that no Prometheus gives: each is read, or refused by an error that says which server and which query."""

import copy
import json
import random
import tracemalloc
from collections.abc import Iterator, Mapping
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pytest_httpserver import HTTPServer
from werkzeug import Request, Response

from sentinel.config.detection import DetectionSettings
from sentinel.config.prometheus import PrometheusSettings
from sentinel.detect.detector import Detector
from sentinel.errors import SourceError
from sentinel.model.snapshot import Snapshot
from sentinel.source.prometheus import PrometheusSource

FUZZ = settings(
    max_examples=40, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
START = 1_700_000_000.0
LABELS = {
    "comm": "00000000000000aa",
    "rank": "0",
    "op": "AllReduce",
    "size": "1024",
    "algo": "RING",
    "proto": "SIMPLE",
    "global_rank": "0",
    "nranks": "2",
    "nnodes": "1",
    "comm_name": "dp",
    "node": "n1",
    "gpu": "0",
    "gpu_uuid": "GPU-1",
    "job_id": "4711",
    "instance": "n1:9847",
    "peer": "1",
    "direction": "send",
    "state": "wire",
}
NAMES = (
    "nccl_collective_operations_total",
    "nccl_collective_seconds_total",
    "nccl_collective_log_microseconds_total",
    "nccl_p2p_operations_total",
    "nccl_network_steps_total",
)
MANY = b'{"metric":{}},' * 200_000  # more than is decoded in one piece
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([10**25, -(10**25), 2**63, 2**64, 0, -1, 1e308, -1e308, 5e-324, 1e-300]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=8),
    st.sampled_from(["NaN", "Inf", "-Inf", "1e400", "0x10", "1_0", "", " 1 ", "٣", 'a"b', "a\nb", "\x00", "\x1b[2J"]),
    st.lists(st.integers(), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=3),
    st.just([[[[[]]]]]),
)


class Asked:
    """A Prometheus that answers every query with the same body."""

    def __init__(self, server: HTTPServer) -> None:
        self.body = b""
        self.forms: list[Mapping[str, str]] = []
        self.url = server.url_for("").rstrip("/")
        server.expect_request("/api/v1/query").respond_with_handler(self._answer)
        server.expect_request("/api/v1/query_range").respond_with_handler(self._answer)

    def _answer(self, request: Request) -> Response:
        self.forms.append(request.form)
        return Response(self.body)

    def source(self, **more: object) -> PrometheusSource:
        return PrometheusSource(
            PrometheusSettings.model_validate({"url": self.url, "retries": 0, "timeout": "20s", **more})
        )

    def look(self, body: bytes, *, instants: int = 1, **more: object) -> list[Snapshot]:
        """What is read; empty where it is refused, as it should be."""
        self.body = body
        path = "query" if instants == 1 else "query_range"
        with self.source(**more) as source:
            try:
                if instants == 1:
                    return [source.snapshot(START)]
                return list(source.snapshots(START, START + 30.0 * (instants - 1), 30.0))
            except SourceError as error:
                refusal = error
        assert refusal.where.startswith(f"{self.url}/api/v1/{path}, query ")
        assert len(str(refusal)) < 2000
        assert str(refusal).isprintable()
        return []


@pytest.fixture
def prometheus(httpserver: HTTPServer) -> Iterator[Asked]:
    yield Asked(httpserver)
    httpserver.clear()


def series(number: int, *, matrix: bool = False, **labels: str) -> dict[str, Any]:
    metric = {"__name__": NAMES[number % len(NAMES)], **LABELS, "rank": str(number // len(NAMES)), **labels}
    if matrix:
        return {"metric": metric, "values": [[START + 30.0 * at, str(START + at)] for at in range(3)]}
    return {"metric": metric, "value": [START, str(START)]}


def document(*found: dict[str, Any], matrix: bool = False) -> dict[str, Any]:
    kind = "matrix" if matrix else "vector"
    return {"status": "success", "data": {"resultType": kind, "result": list(found)}}


def mutated(value: Any, draw: random.Random, junk: list[Any]) -> Any:
    """The value with something else somewhere in it."""
    if isinstance(value, dict) and value and draw.random() < 0.85:
        key = draw.choice(list(value))
        if draw.random() < 0.1:
            return {name: inner for name, inner in value.items() if name != key}
        return value | {key: mutated(value[key], draw, junk)}
    if isinstance(value, list) and value and draw.random() < 0.85:
        at = draw.randrange(len(value))
        if draw.random() < 0.1:
            return [*value, value[at]]
        return [*value[:at], mutated(value[at], draw, junk), *value[at + 1 :]]
    return copy.copy(draw.choice(junk))


@pytest.mark.parametrize("instants", [1, 3])
@FUZZ
@given(st.randoms(use_true_random=False), st.lists(JUNK, min_size=1, max_size=4), st.integers(1, 12))
def test_any_value_in_any_place(
    prometheus: Asked, instants: int, draw: random.Random, junk: list[Any], changes: int
) -> None:
    matrix = instants > 1
    body = document(*(series(number, matrix=matrix) for number in range(15)), matrix=matrix)
    for _ in range(changes):
        body = mutated(body, draw, junk)
    snapshots = prometheus.look(json.dumps(body).encode(), instants=instants)
    detector = Detector(DetectionSettings())
    for snapshot in snapshots:
        detector.step(snapshot)


@FUZZ
@given(st.data())
def test_any_bytes_in_any_place(prometheus: Asked, data: st.DataObject) -> None:
    body = bytearray(json.dumps(document(*map(series, range(5))), separators=(",", ":")).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(body)))
        cut = data.draw(st.integers(0, 40))
        body[at : at + cut] = data.draw(st.binary(max_size=6) | st.sampled_from([b"\x00", b"\xff", b'"', b"[" * 2000]))
    prometheus.look(bytes(body))


@FUZZ
@given(
    st.dictionaries(
        st.sampled_from(sorted(LABELS)), st.text(max_size=20) | st.text('"\\\n\r\t\x00\x1b{}=,', max_size=9)
    )
)
def test_any_label(prometheus: Asked, labels: dict[str, str]) -> None:
    (snapshot,) = prometheus.look(json.dumps(document(series(0, **labels), series(5))).encode())
    descriptive = not labels.keys() & {"comm", "rank", "op", "size"}
    if descriptive:
        assert snapshot.vocabulary.find(labels.get("node", "n1")) is not None


@pytest.mark.parametrize("instants", [1, 3])
@pytest.mark.parametrize(
    "body",
    [
        b"[" * 200_000,
        b'{"status":' * 100_000,
        b'{"status":"success","data":{"resultType":"vector","result":[' + b"[" * 1_000_000,
        b'{"status":"success","data":{"resultType":"vector","result":[' + MANY + b'{"metric":' + b"[" * 100_000,
        b'{"status":"success","data":{"resultType":"matrix","result":[' + MANY + b'{"metric":' + b"[" * 100_000,
        b'{"status":"success","warnings":' + b"[" * 900 + b"]" * 900 + b',"data":{"resultType":"vector","result":[]}}',
        b'{"status":' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"status":"error","errorType":{},"error":' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"status":"success","data":{"resultType":' + b"[" * 900 + b"]" * 900 + b',"result":[]}}',
        b'{"status":"success","data":{"resultType":"vector","result":[{"metric":{"comm":"\\ud800"}}]}}',
        b'{"status":"success","data":{"resultType":"vector","result":[1,2,"x",null,[],{}]}}',
        b'{"status":"success","status":"error","data":[]}',
    ],
)  # fmt: skip
def test_deep_and_odd_documents(prometheus: Asked, body: bytes, instants: int) -> None:
    for snapshot in prometheus.look(body, instants=instants):
        assert len(snapshot.communicators.comm) == 0


@pytest.mark.parametrize("value", ["NaN", "Inf", "-Inf", "-1", "1e400", "", "x", 10**400, None, [], {}])
def test_a_value_that_cannot_be_true_is_left_out_and_counted(prometheus: Asked, value: object) -> None:
    bad = series(0) | {"value": [START, value]}
    (snapshot,) = prometheus.look(json.dumps(document(bad, series(5))).encode()) or [None]
    if isinstance(value, int):
        assert snapshot is None or snapshot.quality.malformed_series > 0  # no number of JSON for some
        return
    assert snapshot is not None
    assert snapshot.quality.malformed_series > 0
    assert snapshot.communicators.rank.tolist() == [1]


def test_a_series_that_is_there_many_times_is_there_once(prometheus: Asked) -> None:
    body = json.dumps(document(*(series(0) for _ in range(10_000)))).encode()
    (snapshot,) = prometheus.look(body)
    assert len(snapshot.cells.comm) == 1
    assert len(snapshot.communicators.comm) == 1


@pytest.mark.parametrize("place", ["comm", "op", "node", "peer", "job_id", "other", "__name__"])
def test_a_text_of_ten_megabytes_is_left_out_and_not_kept(prometheus: Asked, place: str) -> None:
    body = orjson.dumps(document(series(0, **{place: "x" * 10_000_000}), series(5)))
    with prometheus.source() as source:
        prometheus.body = body
        source.snapshot(START)
        tracemalloc.start()
        try:
            snapshot = source.snapshot(START)
            kept_bytes = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
    assert kept_bytes < 3_000_000
    described = place in {"comm", "node", "job_id"}  # of a rank
    assert snapshot.communicators.rank.tolist() == ([1] if described else [0, 1])
    assert snapshot.quality.malformed_series > 0


@pytest.mark.parametrize(
    "body",
    [
        {"status": "success", "warnings": ["w" * 10_000_000] * 2, "data": {"resultType": "vector", "result": []}},
        {"status": "success", "warnings": ["w"] * 500_000, "data": {"resultType": "vector", "result": []}},
        {"status": "success", "warnings": {"w" * 1_000_000: 1}, "data": {"resultType": "vector", "result": []}},
    ],
)
def test_warnings_are_cut_short(prometheus: Asked, body: dict[str, Any]) -> None:
    (snapshot,) = prometheus.look(orjson.dumps(body))
    assert snapshot.quality.partial
    assert len(str(snapshot.quality.warnings)) < 8000


@pytest.mark.parametrize("status", ["e" * 10_000_000, "\x1b[2J\n\r\x00"])
def test_what_the_server_says_is_cut_short_and_plain(prometheus: Asked, status: str) -> None:
    for body in (
        {"status": "error", "errorType": status, "error": status},
        {"status": "success", "data": {"resultType": status, "result": []}},
        {"status": status},
    ):
        assert prometheus.look(orjson.dumps(body)) == []


def test_a_few_bytes_a_series_do_not_become_an_array_of_gigabytes(prometheus: Asked) -> None:
    """A series with one sample takes as much room as one with all of them: fewer instants are asked for at a time."""
    body = b'{"status":"success","data":{"resultType":"matrix","result":['
    body += b",".join([b'{"metric":{},"values":[]}'] * 2000) + b"]}}"
    snapshots = prometheus.look(body, instants=3, max_answer="64KiB")
    assert len(snapshots) == 3
    # 2,000 series at one instant are 48 kB in the three arrays of the cells.
    assert any(form["start"] == form["end"] for form in prometheus.forms)
