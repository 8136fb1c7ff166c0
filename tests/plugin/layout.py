"""Fields of a mapped file by name, where the layout tool says that they are (tests/golden/README.md)."""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LAYOUT: dict[str, Any] = json.loads((Path(__file__).parents[1] / "golden/mapped-file-v2.layout.json").read_text())
FILE_BYTES: int = LAYOUT["sizeof.File"]
UNSIGNED = {1: "B", 2: "H", 4: "I", 8: "Q"}


def number(data: bytes, start: int, field: str, form: str = "") -> Any:
    """The field of a structure that begins at `start`; unsigned where no form is given."""
    form = form or UNSIGNED[LAYOUT[f"sizeof.{field}"]]
    return struct.unpack_from(f"<{form}", data, start + LAYOUT[f"offsetof.{field}"])[0]


def text(data: bytes, start: int, field: str) -> str:
    begin = start + LAYOUT[f"offsetof.{field}"]
    return data[begin : begin + LAYOUT[f"sizeof.{field}"]].partition(b"\0")[0].decode()


def elements(start: int, field: str, kind: str) -> Iterator[int]:
    """Where the structures of an array begin."""
    begin = start + LAYOUT[f"offsetof.{field}"]
    return iter(range(begin, begin + LAYOUT[f"sizeof.{field}"], LAYOUT[f"sizeof.{kind}"]))


def rows(data: bytes, communicator: int, field: str, kind: str) -> Iterator[int]:
    """Those of them that are open."""
    places = elements(communicator, f"Communicator.{field}", kind)
    return (row for row in places if number(data, row, f"{kind}.state") == LAYOUT["SlotState::kOpen"])


def communicators(data: bytes) -> Iterator[int]:
    """The open ones."""
    places = elements(0, "File.communicators", "Communicator")
    return (place for place in places if number(data, place, "Communicator.state") == LAYOUT["SlotState::kOpen"])


def counts(data: bytes, row: int, kind: str) -> int:
    """Where the true copy of a row's counts begins."""
    copy = number(data, row, f"{kind}.commit") >> LAYOUT["kCommitShift"] & 1
    return row + LAYOUT[f"offsetof.{kind}.counts"] + copy * LAYOUT[f"sizeof.{kind}Counts"]


def name(data: bytes, index: int) -> str:
    return text(data, LAYOUT["offsetof.File.names"] + index * LAYOUT["sizeof.Name"], "Name.text")
