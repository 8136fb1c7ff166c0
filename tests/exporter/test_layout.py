"""The numpy mirror against the C++ header itself, as nccl-sentinel-layout tells it."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nccl_exporter import layout, table

PLUGIN = Path(__file__).parents[2] / "plugin"

STRUCTS = {
    "Header": layout.HEADER,
    "Name": layout.NAME,
    "SettledCounts": layout.SETTLED_COUNTS,
    "Operation": layout.OPERATION,
    "CellCounts": layout.CELL_COUNTS,
    "Cell": layout.CELL,
    "PeerCounts": layout.PEER_COUNTS,
    "Peer": layout.PEER,
    "LinkCounts": layout.LINK_COUNTS,
    "Link": layout.LINK,
    "Channel": layout.CHANNEL,
    "Communicator": layout.COMMUNICATOR,
    "File": layout.FILE,
}


CONSTANTS = """
    kVersion kPageBytes kNames kCommunicators kOperations kCells kOtherCells kPeers kOtherPeers kLinks kOtherLinks
    kChannels kInFlight kBuckets kStepStates kSizeEmpty kSizeOther kPeerOther kCommitShift kCommitNames
    kCommitPlaceShift kCommitGenerationShift kFlightTimeShift kFlightTimeUnit kFlightOperationShift
    kFlightNumberShift kFlightNumberMask kFlightGenerationMask
"""


@pytest.fixture(scope="module")
def cpp(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Offsets, sizes and constants as the compiler sees them."""
    program = tmp_path_factory.mktemp("layout") / "layout"
    source = PLUGIN / "tests" / "layout_tool.cc"
    subprocess.run(["g++", "-std=c++17", f"-I{PLUGIN}/include", "-o", program, source], check=True)
    answer: dict[str, Any] = json.loads(subprocess.check_output([program]))
    return answer


@pytest.mark.parametrize("struct", STRUCTS)
def test_every_field_is_where_the_compiler_puts_it(cpp: dict[str, Any], struct: str) -> None:
    dtype = STRUCTS[struct]
    assert cpp[f"sizeof.{struct}"] == dtype.itemsize
    told = {
        name.removeprefix(f"offsetof.{struct}."): (offset, cpp[name.replace("offsetof", "sizeof", 1)])
        for name, offset in cpp.items()
        if name.startswith(f"offsetof.{struct}.")
    }
    assert told == {name: _place(dtype, name) for name in dtype.names or ()}


def _place(dtype: "np.dtype[Any]", name: str) -> tuple[int, int]:
    assert dtype.fields is not None
    kind, offset = dtype.fields[name][:2]
    return offset, kind.itemsize


def _enum(cpp: dict[str, Any], name: str) -> dict[str, int]:
    prefix = f"{name}::k"
    return {key.removeprefix(prefix): value for key, value in cpp.items() if key.startswith(prefix)}


@pytest.mark.parametrize("name", CONSTANTS.split())
def test_constant(cpp: dict[str, Any], name: str) -> None:
    ours = "".join(f"_{letter}" if letter.isupper() else letter for letter in name[1:]).upper().removeprefix("_")
    assert getattr(layout, ours) == cpp[name]


def test_lists(cpp: dict[str, Any]) -> None:
    assert bytes(cpp["kMagic"]) == layout.MAGIC
    assert tuple(cpp["kBucketBoundsNs"]) == layout.BUCKET_BOUNDS_NS
    assert [layout.OUTCOMES[outcome] for outcome in cpp["kSettled"]] == list(layout.SETTLED)


def test_states_and_kinds(cpp: dict[str, Any]) -> None:
    for enum in (layout.FileState, layout.SlotState, layout.OperationKind):
        told = _enum(cpp, enum.__name__)
        assert {name.lower(): value for name, value in told.items()} == {
            member.name.replace("_", "").lower(): member.value for member in enum
        }


@pytest.mark.parametrize(
    ("enum", "names"),
    [
        ("Outcome", layout.OUTCOMES),
        ("Dropped", layout.DROPPED),
        ("Direction", layout.DIRECTIONS),
        ("Transport", layout.TRANSPORTS),
    ],
)
def test_names_are_in_the_order_of_the_enum(cpp: dict[str, Any], enum: str, names: tuple[str, ...]) -> None:
    told = _enum(cpp, enum)
    told.pop("Count", None)
    ordered = sorted(told, key=lambda name: told[name])
    assert [told[name] for name in ordered] == list(range(len(names)))
    assert [name.lower() for name in ordered] == [name.replace("_", "") for name in names]


def test_refused_are_those_between_skipped_and_dropped() -> None:
    assert layout.REFUSED == ("negative", "zero", "incomplete", "overwritten", "graph", "untimed")


def test_tables(cpp: dict[str, Any]) -> None:
    for place, name in zip(table.TABLES, ("operations", "cells", "peers", "links"), strict=True):
        assert place.offset == cpp[f"offsetof.Communicator.{name}"]
        assert place.rows * place.row.itemsize == cpp[f"sizeof.Communicator.{name}"]
    assert cpp["offsetof.Communicator.channels"] == table.ROWS_END
    assert layout.communicator_offset(3) == cpp["offsetof.File.communicators"] + 3 * cpp["sizeof.Communicator"]
