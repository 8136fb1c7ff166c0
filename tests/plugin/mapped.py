"""An independent reader of the mapped file, as layout.h defines version 2: what became of every operation."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

U64 = "<u8"
FREE, CLAIMED, OPEN, CLOSED = range(4)
LEFT_OUT = ("skipped", "negative", "zero", "incomplete", "overwritten", "graph", "untimed")
LEFT_OUT_DROPPED = ("operation", "cell", "name", "contention")
SETTLED = ("negative", "zero", "incomplete", "overwritten", "graph", "contention")

NAME = np.dtype([("state", "<u4"), ("text", "S28")])
OPERATION = np.dtype(
    [
        ("state", "<u4"),
        ("name", "<u2"),
        ("kind", "u1"),
        ("reserved", "u1"),
        ("launched", U64),
        ("left_out", U64, 12),
        ("commit", U64),
        ("settled", U64, (2, 8)),
        ("unused", U64),
    ]
)
CELL = np.dtype(
    {
        "names": ["state", "operation", "algorithm", "protocol", "size_log2", "commit", "counts"],
        "formats": ["<u4", "<u2", "<u2", "<u2", "<i2", U64, (U64, (2, 16))],
        "offsets": [0, 4, 6, 8, 10, 16, 24],
        "itemsize": 320,
    }
)
PEER = np.dtype(
    {
        "names": ["state", "operation", "size_log2", "peer", "commit", "counts"],
        "formats": ["<u4", "<u2", "<i2", "<i4", U64, (U64, (2, 4))],
        "offsets": [0, 4, 6, 8, 16, 24],
        "itemsize": 96,
    }
)
COMMUNICATOR = np.dtype(
    {
        "names": ["state", "generation", "id", "rank", "callbacks", "operations", "cells", "peers", "in_flight"],
        "formats": ["<u4", "<u4", U64, "<i4", U64, (OPERATION, 16), (CELL, 64), (PEER, 128), (U64, 1024)],
        "offsets": [0, 4, 8, 16, 48, 512, 4608, 25088, 49024],
        "itemsize": 14 * 4096,
    }
)
FILE = np.dtype(
    {
        "names": ["magic", "version", "state", "dropped", "names", "communicators"],
        "formats": ["S8", "<u4", "<u4", (U64, 6), (NAME, 64), (COMMUNICATOR, 64)],
        "offsets": [0, 8, 24, 80, 512, 4096],
        "itemsize": 4096 + 64 * 14 * 4096,
    }
)
assert OPERATION.itemsize == 256


@dataclass
class Balance:
    """What became of the operations of a communicator, or of one name in it."""

    started: int = 0
    measured: int = 0
    skipped: int = 0
    in_flight: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)

    @property
    def ended(self) -> int:
        return self.measured + self.skipped + sum(self.refused.values()) + sum(self.dropped.values())

    def holds(self) -> bool:
        return self.started == self.ended + self.in_flight

    def left_out(self, reason: str, number: int) -> None:
        if reason == "skipped":
            self.skipped += number
        else:
            counts = self.dropped if reason in LEFT_OUT_DROPPED else self.refused
            counts[reason] = counts.get(reason, 0) + number


class Mapped:
    """A file as it is at one instant; the process that wrote it may be dead."""

    def __init__(self, data: bytes) -> None:
        (self.file,) = np.frombuffer(data, FILE)
        assert self.file["magic"] == b"NCCLSNTL"
        assert self.file["version"] == 2

    @classmethod
    def read(cls, path: Path) -> "Mapped":
        return cls(path.read_bytes())

    @property
    def dropped_communicators(self) -> int:
        return int(self.file["dropped"][0])

    def communicators(self) -> Iterator[Any]:
        """The slots that are open or were."""
        return (each for each in self.file["communicators"] if each["state"] in {OPEN, CLOSED})

    def balances(self) -> dict[int, Balance]:
        """By the communicator's id."""
        return {int(each["id"]): balance(each) for each in self.communicators()}

    def by_operation(self, communicator: Any) -> dict[str, Balance]:
        """Of one communicator, by the operation's name; only where every name has a row of its own."""
        names = [name["text"].decode() for name in self.file["names"]]
        rows = communicator["operations"]
        return {
            names[int(rows[place]["name"])]: balance(communicator, place)
            for place in range(len(rows))
            if rows[place]["state"] == OPEN
        }


def balance(communicator: Any, only: int | None = None) -> Balance:
    """Of all operations of a communicator, or of those of one row."""
    found = Balance()
    rows = communicator["operations"]
    places = [place for place in range(len(rows)) if rows[place]["state"] == OPEN and only in {None, place}]
    for place in places:
        row = rows[place]
        found.started += int(row["launched"]) + int(row["left_out"].sum())
        for reason, number in zip((*LEFT_OUT, *LEFT_OUT_DROPPED), row["left_out"], strict=False):
            found.left_out(reason, int(number))
        for reason, number in zip(SETTLED, _true_copy(row, "settled"), strict=False):
            found.left_out(reason, int(number))
    names = {int(rows[place]["name"]) for place in places}
    for table in ("cells", "peers"):
        for row in communicator[table]:
            if row["state"] == OPEN and (only is None or int(row["operation"]) in names):
                found.measured += int(_true_copy(row, "counts")[0])
    found.in_flight = _in_flight(communicator, places)
    return found


def _true_copy(row: Any, field_name: str) -> npt.NDArray[np.uint64]:
    copies: npt.NDArray[np.uint64] = row[field_name]
    return copies[int(row["commit"]) >> 24 & 1]


def _in_flight(communicator: Any, places: list[int]) -> int:
    """Flight words of launched operations, but for one that a commit says has ended."""
    ended = set()
    for table, state in (("operations", OPEN), ("cells", OPEN), ("peers", OPEN)):
        for row in communicator[table]:
            commit = int(row["commit"])
            if row["state"] == state and commit & 1 << 23:
                ended.add((commit >> 13 & 1023, commit >> 3 & 1023))
    number = 0
    for place in np.flatnonzero(communicator["in_flight"]):
        word = int(communicator["in_flight"][place])
        row = word >> 26 & 15
        if row not in places or (int(place), word & 1023) in ended:
            continue
        before = int(communicator["operations"][row]["launched"])
        number += ((word >> 10 & 65535) - before) % 65536 > 1024  # else it is not counted as launched either
    return number
