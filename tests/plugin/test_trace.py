"""A recorded job's callbacks: what the plugin counts is what the recording says, summed up independently."""

import json
import lzma
import math
import struct
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LAYOUT = json.loads((ROOT / "tests/golden/mapped-file-v1.layout.json").read_text())
ELEMENT_BYTES = {"ncclInt8": 1, "ncclFloat32": 4, "ncclBfloat16": 2, "ncclFloat16": 2}


def recorded(path):
    """(comm id, op, algo, proto, floor(log2(bytes))) -> durations in ns, straight from the rows."""
    communicators, operations, parents, times = {}, {}, {}, defaultdict(list)
    for line in lzma.decompress(path.read_bytes()).splitlines():
        row = json.loads(line)
        if row["k"] == "init":
            communicators[row["comm"]] = int(row["comm_id"], 16)
        elif row.get("type") == "Coll" and row["k"] == "start":
            operations[row["id"]] = row
        elif row.get("type") == "KernelCh" and "ptimer" in row:
            parents.setdefault(row["id"], row.get("parent"))
            times[parents[row["id"]]].append(row["ptimer"])
    durations = defaultdict(list)
    for number, row in operations.items():
        size = (row["count"] * ELEMENT_BYTES[row["dtype"]]).bit_length() - 1
        key = (communicators[row["comm"]], row["func"], row["algo"], row["proto"], size)
        durations[key].append(max(times[number]) - min(times[number]))
    return dict(durations)


def word(data, start, field, form="Q"):
    return struct.unpack_from(f"<{form}", data, start + LAYOUT[f"offsetof.{field}"])[0]


def counted(data):
    """The cells of every open communicator under the same keys: (operations, duration in ns, sum of logarithms)."""
    names = [
        data[start + 4 : start + 32].partition(b"\0")[0].decode()
        for start in range(LAYOUT["offsetof.File.names"], LAYOUT["offsetof.File.communicators"], 32)
    ]
    cells = {}
    for slot in range(LAYOUT["kCommunicators"]):
        start = LAYOUT["offsetof.File.communicators"] + slot * LAYOUT["sizeof.Communicator"]
        if word(data, start, "Communicator.state", "I") != LAYOUT["SlotState::kOpen"]:
            continue
        for place in range(LAYOUT["kCells"]):
            cell = start + LAYOUT["offsetof.Communicator.cells"] + place * LAYOUT["sizeof.Cell"]
            if word(data, cell, "Cell.state", "I") != LAYOUT["SlotState::kOpen"]:
                continue
            text = [names[word(data, cell, f"Cell.{part}", "H")] for part in ("operation", "algorithm", "protocol")]
            key = (word(data, start, "Communicator.id"), *text, word(data, cell, "Cell.size_log2", "h"))
            numbers = [word(data, cell, f"Cell.{part}") for part in ("operations", "duration_ns")]
            cells[key] = (*numbers, word(data, cell, "Cell.log_microseconds", "d"))
    return cells


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("trace", ["late1ms/rank03", "stall2/rank02", "mixchange/rank00"])
def test_sums_are_those_of_the_recording(start_job, directory, trace, version):
    path = ROOT / f"sentinel/demo/traces/{trace}.jsonl.xz"
    job = start_job(version=version)
    job.tell("load")
    calls = job.tell("replay", str(path))
    (file,) = directory.iterdir()
    data = file.read_bytes()

    expected = recorded(path)
    assert len(expected) >= 4
    cells = counted(data)
    assert cells.keys() == expected.keys()
    for key, durations in expected.items():
        operations, total, logarithms = cells[key]
        assert (operations, total) == (len(durations), sum(durations))
        assert logarithms == pytest.approx(sum(math.log(max(1.0, ns / 1000)) for ns in durations), rel=1e-12)

    first = LAYOUT["offsetof.File.communicators"]
    callbacks = sum(word(data, first + i * LAYOUT["sizeof.Communicator"], "Communicator.callbacks") for i in range(64))
    assert callbacks == calls
