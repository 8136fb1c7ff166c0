"""The numpy mirror against the C++ header itself."""

import json
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from nccl_exporter import layout

INCLUDE = Path(__file__).parents[2] / "plugin" / "include"

STRUCTS = {
    "Header": layout.HEADER,
    "Name": layout.NAME,
    "OperationCounters": layout.OPERATION,
    "Cell": layout.CELL,
    "Communicator": layout.COMMUNICATOR,
    "File": layout.FILE,
}


@pytest.fixture(scope="module")
def cpp(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Offsets, sizes and constants as the compiler sees them."""
    fields = [(struct, field) for struct, dtype in STRUCTS.items() for field in dtype.names or ()]
    lines = [
        f'std::printf("\\"{struct}.{field}\\":[%zu,%zu],", offsetof({struct},{field}), sizeof({struct}::{field}));'
        for struct, field in fields
    ]
    lines += [f'std::printf("\\"{struct}\\":%zu,", sizeof({struct}));' for struct in STRUCTS]
    constants = ("kVersion", "kNames", "kCommunicators", "kOperations", "kCells", "kInFlight", "kBuckets")
    constants += ("kSizeEmpty", "kSizeOther", "FileState::kStarting", "FileState::kLive", "FileState::kFinished")
    constants += tuple(f"SlotState::k{name}" for name in ("Free", "Claimed", "Open", "Closed"))
    constants += tuple(f"Refused::k{name.title()}" for name in (*layout.REFUSED, "Count"))
    constants += tuple(f"Dropped::k{name.title()}" for name in (*layout.DROPPED, "Count"))
    lines += [f'std::printf("\\"{name}\\":%ld,", static_cast<long>({name}));' for name in constants]
    lines.append('const char* between = "\\"bounds\\":[";')
    lines.append('for (auto bound : kBucketBoundsNs) { std::printf("%s%lu", between, bound); between = ","; }')
    body = "\n".join(lines)
    folder = tmp_path_factory.mktemp("layout")
    (folder / "layout.cc").write_text(
        f'#include <cstdio>\n#include "nccl_sentinel/layout.h"\nusing namespace nccl_sentinel::layout;\n'
        f'int main() {{ std::printf("{{"); {body} std::printf("],\\"magic\\":\\"%.8s\\"}}", kMagic); }}\n'
    )
    subprocess.run(
        ["g++", "-std=c++17", "-w", f"-I{INCLUDE}", "-o", folder / "layout", folder / "layout.cc"], check=True
    )
    answer: dict[str, Any] = json.loads(subprocess.check_output([folder / "layout"]))
    return answer


@pytest.mark.parametrize("struct", STRUCTS)
def test_every_field_is_where_the_compiler_puts_it(cpp: dict[str, Any], struct: str) -> None:
    dtype = STRUCTS[struct]
    assert cpp[struct] == dtype.itemsize
    assert {name: list(_place(dtype, name)) for name in dtype.names or ()} == {
        name: cpp[f"{struct}.{name}"] for name in dtype.names or ()
    }


def _place(dtype: "np.dtype[Any]", name: str) -> tuple[int, int]:
    assert dtype.fields is not None
    kind, offset = dtype.fields[name][:2]
    return offset, kind.itemsize


def test_counters_are_a_communicator_without_its_places_in_flight(cpp: dict[str, Any]) -> None:
    assert cpp["Communicator.in_flight"][0] == layout.IN_FLIGHT_OFFSET
    assert cpp["Communicator.operations"][0] == layout.OPERATIONS_OFFSET
    assert cpp["Communicator.cells"][0] == layout.CELLS_OFFSET
    assert cpp["File.names"][0] == layout.NAMES_OFFSET
    assert cpp["File.communicators"][0] == layout.communicator_offset(0)
    assert cpp["File.communicators"][0] + 3 * cpp["Communicator"] == layout.communicator_offset(3)


def test_constants(cpp: dict[str, Any]) -> None:
    assert cpp["magic"].encode() == layout.MAGIC
    assert cpp["kVersion"] == layout.VERSION
    assert tuple(cpp["bounds"]) == layout.BUCKET_BOUNDS_NS
    for name in ("Names", "Communicators", "Operations", "Cells", "InFlight", "Buckets", "SizeEmpty", "SizeOther"):
        ours = "IN_FLIGHT" if name == "InFlight" else name.upper().replace("SIZE", "SIZE_")
        assert cpp[f"k{name}"] == getattr(layout, ours)
    assert {state.name: cpp[f"FileState::k{state.name.title()}"] for state in layout.FileState} == {
        state.name: state for state in layout.FileState
    }
    assert [cpp[f"SlotState::k{state.name.title()}"] for state in layout.SlotState] == list(layout.SlotState)


@pytest.mark.parametrize(("enum", "names"), [("Refused", layout.REFUSED), ("Dropped", layout.DROPPED)])
def test_reasons_are_in_the_order_of_the_enum(cpp: dict[str, Any], enum: str, names: tuple[str, ...]) -> None:
    assert [cpp[f"{enum}::k{name.title()}"] for name in names] == list(range(cpp[f"{enum}::kCount"]))
