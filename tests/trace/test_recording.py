import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest

from sentinel.errors import TraceError
from sentinel.trace import read_trace
from sentinel.trace.event import NONE, EventKind, EventType

Row = dict[str, Any]
Write = Callable[[list[list[Row]]], Path]


def place(rows: list[Row], k: str, kind: str) -> int:
    """Where the first such row is."""
    return next(at for at, row in enumerate(rows) if (row["k"], row.get("type")) == (k, kind))


def test_reads_every_field(write_trace: Write, small_job: Callable[..., list[Row]]) -> None:
    recording = read_trace(write_trace([small_job(0), small_job(1)])).ranks[1].recording
    events = recording.events
    coll = events[np.flatnonzero((events["type"] == EventType.Coll) & (events["kind"] == EventKind.start))[1]]
    texts = recording.strings.texts()
    assert [texts[coll[name]] for name in ("func", "dtype", "algo", "proto")] == [
        "AllReduce",
        "ncclFloat32",
        "RING",
        "LL",
    ]
    assert (coll["value"], coll["order"], coll["channels"], coll["warps"], coll["rank"]) == (64, 0, 1, 8, 1)
    assert events["type"][recording.starts[coll["parent"]]] == EventType.CollApi
    assert recording.threads == (10, 20)
    assert (recording.communicators[0].id, recording.communicators[0].rank) == (0x0123456789ABCDEF, 1)
    assert events["parent"][0] == NONE


def test_ignores_fields_that_it_does_not_know(write_trace: Write, small_job: Callable[..., list[Row]]) -> None:
    ranks = [[{**row, "new": [1, {}]} for row in small_job(rank)] for rank in range(2)]
    assert read_trace(write_trace(ranks)).steps == 4


def _set(k: str, kind: str, field: str, value: Any) -> Callable[[list[Row]], int]:
    def change(rows: list[Row]) -> int:
        at = place(rows, k, kind)
        rows[at][field] = value
        return at

    return change


def _drop(k: str, kind: str, field: str) -> Callable[[list[Row]], int]:
    def change(rows: list[Row]) -> int:
        at = place(rows, k, kind)
        del rows[at][field]
        return at

    return change


def _go_back(rows: list[Row]) -> int:
    rows[9]["t"] = rows[8]["t"] - 1
    return 9


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_drop("start", "Coll", "seq"), "`seq`.*missing.*Allowed is a whole number"),
        (_set("start", "Coll", "seq", "3"), '`seq`.*it is "3"'),
        (_set("start", "Coll", "seq", True), "`seq`.*it is true"),
        (_set("start", "Coll", "algo", 3), "`algo`.*it is 3.*Allowed is a string"),
        (_set("start", "Coll", "algo", ["RING"]), "`algo`"),
        (_set("start", "Coll", "nchannels", 256), "`nchannels`.*it is 256.*from 0 to 255"),
        (_set("start", "Coll", "comm", 5), "`comm`.*no init of communicator 5"),
        (_set("start", "Coll", "parent", 12345), "`parent`.*12345 was never started"),
        (_set("start", "KernelCh", "ptimer", -1), "`ptimer`.*it is -1"),
        (_set("start", "ProxyOp", "is_send", 2), "`is_send`.*true or false"),
        (_set("start", "CollApi", "id", 1), "`id`.*handle 1 was started before"),
        (_set("stop", "Coll", "id", 999), "`id`.*999 was never started"),
        (_set("stop", "Coll", "type", "P2p"), "`type`.*started as Coll"),
        (_set("start", "Coll", "type", "CeColl"), "`type`.*'CeColl'.*Allowed is Group, Coll"),
        (_set("start", "Coll", "k", "begin"), "`k`.*'begin'.*Allowed is init, start, stop, state, finalize"),
        (_set("start", "Coll", "k", {}), "`k`"),
        (_drop("start", "Coll", "t"), "`t`.*missing"),
        (_go_back, "`t`.*before that of the line above"),
    ],
)
def test_names_line_and_field_of_a_bad_row(
    write_trace: Write, small_job: Callable[..., list[Row]], change: Callable[[list[Row]], int], message: str
) -> None:
    rows = small_job(1)
    line = change(rows) + 1
    with pytest.raises(TraceError, match=message) as raised:
        read_trace(write_trace([small_job(0), rows]))
    assert f"rank01.jsonl.xz, line {line})" in str(raised.value)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [("comm_id", "xyz", "hex digits"), ("nranks", 0, "from 1"), ("name", 3, "a string"), ("rank", None, "it is null")],
)
def test_names_a_bad_communicator(
    write_trace: Write, small_job: Callable[..., list[Row]], field: str, value: Any, message: str
) -> None:
    rows = small_job(0)
    rows[0][field] = value
    with pytest.raises(TraceError, match=rf"`{field}` \(.*rank00\.jsonl\.xz, line 1\).*{message}"):
        read_trace(write_trace([rows, small_job(1)]))


def test_refuses_a_communicator_opened_twice_and_none(write_trace: Write, small_job: Callable[..., list[Row]]) -> None:
    rows = small_job(0)
    with pytest.raises(TraceError, match=r"line 2.*opened before"):
        read_trace(write_trace([[rows[0], *rows]]))
    with pytest.raises(TraceError, match="no communicator is opened"):
        read_trace(write_trace([rows[1:]]))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not xz", "cannot unpack"),
        (b'{"k": 1}\n{"k": ', "line 2"),
        (b'{"k": 1},{"k": 2}\n', "line 1"),
        (b"[]\n", r"line 1.*it is \[\]"),
        (b"", "no lines"),
    ],
)
def test_names_a_broken_file(tmp_path: Path, content: bytes, message: str) -> None:
    packed = content if content == b"not xz" else lzma.compress(content)
    (tmp_path / "rank00.jsonl.xz").write_bytes(packed)
    with pytest.raises(TraceError, match=message) as raised:
        read_trace(tmp_path)
    assert "rank00.jsonl.xz" in str(raised.value)


def test_refuses_a_file_that_was_cut_short(tmp_path: Path, traces: Path) -> None:
    whole = (traces / "stall2" / "rank00.jsonl.xz").read_bytes()
    (tmp_path / "rank00.jsonl.xz").write_bytes(whole[:-1000])
    with pytest.raises(TraceError, match=r"cannot unpack a trace \(.*rank00\.jsonl\.xz\).*whole"):
        read_trace(tmp_path)


def test_refuses_what_is_no_trace(tmp_path: Path, write_trace: Write, small_job: Callable[..., list[Row]]) -> None:
    with pytest.raises(TraceError, match="No such file or directory"):
        read_trace(tmp_path / "nowhere")
    (tmp_path / "file").touch()
    with pytest.raises(TraceError, match="Not a directory"):
        read_trace(tmp_path / "file")
    with pytest.raises(TraceError, match="no rankNN"):
        read_trace(tmp_path)
    folder = write_trace([small_job(0), small_job(1), small_job(1)])
    (folder / "rank01.jsonl.xz").unlink()
    with pytest.raises(TraceError, match=r"rank01\.jsonl\.xz missing"):
        read_trace(folder)


def test_a_proxy_operation_of_another_process_has_no_parent_here(
    write_trace: Write, small_job: Callable[..., list[Row]]
) -> None:
    rows = small_job(0)
    rows[place(rows, "start", "ProxyOp")] |= {"pid_is_self": False, "parent": 987654}
    recording = read_trace(write_trace([rows, small_job(1)])).ranks[0].recording
    proxies = recording.events[(recording.events["type"] == EventType.ProxyOp) & (recording.events["kind"] == 0)]
    assert proxies["parent"][0] == NONE
    assert orjson.dumps(proxies["flags"].tolist()[:2]) == b"[2,6]"
