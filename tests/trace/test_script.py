import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pytest

from sentinel.errors import TraceError
from sentinel.trace import StepRange, compile_scripts, read_trace, script
from sentinel.trace.event import EVENT, NONE, PERMANENT, EventFlag, EventType

Row = dict[str, Any]
Write = Callable[[list[list[Row]]], Path]


def test_python_and_cpp_agree_on_the_layout(native_tests: Path) -> None:
    told = json.loads(
        subprocess.run([native_tests / "nccl-player-script-layout"], check=True, capture_output=True).stdout
    )
    kinds = {
        "header": script.HEADER,
        "communicator": script.COMMUNICATOR,
        "segment": script.SEGMENT,
        "span": script.SPAN,
        "total": script.TOTAL,
        "event": EVENT,
    }
    for name, dtype in kinds.items():
        assert told.pop(name) == {"size": dtype.itemsize, "offsets": [dtype.fields[each][1] for each in dtype.names]}
    assert told == {
        "magic": script.MAGIC.decode(),
        "version": script.VERSION,
        "none": NONE,
        "permanent": PERMANENT,
        "types": {kind.name: kind.value for kind in EventType},
        "flags": {flag.name: flag.value for flag in EventFlag},
    }


def test_writes_one_script_a_rank(tmp_path: Path, write_trace: Write, small_job: Callable[..., list[Row]]) -> None:
    trace = read_trace(write_trace([small_job(0), small_job(1)]))
    paths = compile_scripts(trace, {"a": StepRange(0, 2), "b": StepRange(2, 4)}, tmp_path)
    assert [path.name for path in paths] == ["rank00.script", "rank01.script"]
    for rank, path in enumerate(paths):
        data = path.read_bytes()
        header = np.frombuffer(data, script.HEADER, 1)[0]
        assert (header["magic"], header["rank"], header["file_bytes"]) == (script.MAGIC, rank, len(data))
        offset, count = header["sections"][script.SECTIONS.index("segments")]
        segments = np.frombuffer(data, script.SEGMENT, int(count), int(offset))
        assert segments["start_ns"].tolist() == [0, *trace.boundaries_ns[[0, 2]].tolist()]
        assert segments["length_ns"].tolist() == [0, *np.diff(trace.boundaries_ns[[0, 2, 4]]).tolist()]


@pytest.mark.parametrize(
    ("segments", "message"),
    [
        ({}, "no segment"),
        ({"two words": StepRange(0, 1)}, "without spaces"),
        ({"": StepRange(0, 1)}, "without spaces"),
        ({"a": StepRange(0, 5)}, "segment a.*4 steps"),
    ],
)
def test_refuses_segments_that_cannot_be_played(
    tmp_path: Path,
    write_trace: Write,
    small_job: Callable[..., list[Row]],
    segments: dict[str, StepRange],
    message: str,
) -> None:
    trace = read_trace(write_trace([small_job(0), small_job(1)]))
    with pytest.raises(TraceError, match=message):
        compile_scripts(trace, segments, tmp_path)


def test_names_a_folder_that_cannot_be_written(
    tmp_path: Path, write_trace: Write, small_job: Callable[..., list[Row]]
) -> None:
    trace = read_trace(write_trace([small_job(0), small_job(1)]))
    with pytest.raises(TraceError, match=r"rank00\.script.*No such file"):
        compile_scripts(trace, {"a": StepRange(0, 2)}, tmp_path / "nowhere")


def test_is_quick(tmp_path: Path, traces: Path) -> None:
    """Eight ranks of 91,000 rows, both halves: a demo keeps nobody waiting. CPU time, as machines are shared."""
    trace = read_trace(traces / "late1ms")
    begun = process_time()
    compile_scripts(trace, {"healthy": StepRange(10, 100), "fault": StepRange(100, 200)}, tmp_path)
    assert process_time() - begun < 3
