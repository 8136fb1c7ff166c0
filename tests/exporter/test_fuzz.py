"""Files that hold anything: a scrape answers, with a page that Prometheus can read, and nothing is made up."""

import math
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nccl_exporter import catalogue, header, layout
from nccl_exporter.collector import Collector
from nccl_exporter.errors import SourceError
from nccl_exporter.layout import FileState
from nccl_exporter.model import Communicator, Process
from nccl_exporter.page import Page
from nccl_exporter.reader import Reader

SECOND = 1_000_000_000
NOW = 1000 * SECOND
SINCE = 5 * SECOND
# A hundred thousand files altogether, in parts that run side by side.
PARTS, FILES = 8, 12_500
# The slots in use of the file below.
LIVE = (3,)

fuzz = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


class Spoiled:
    """A good file in memory that is spoiled in one place after the other, and read as the exporter would read it."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.descriptor = os.memfd_create("spoiled")
        os.pwrite(self.descriptor, content, 0)

    def put(self, offset: int, value: bytes) -> None:
        os.pwrite(self.descriptor, value, offset)

    def mend(self, offset: int, size: int) -> None:
        os.pwrite(self.descriptor, self.content[offset : offset + size], offset)

    def cut(self, size: int) -> None:
        os.ftruncate(self.descriptor, size)

    def whole(self) -> None:
        os.pwrite(self.descriptor, self.content, 0)

    def close(self) -> None:
        os.close(self.descriptor)

    def read(self, reader: Reader | None = None) -> tuple[FileState | None, Process | None, list[Communicator]]:
        """What is in it; nothing when it is refused."""
        try:
            state, process = header.read(self.descriptor, os.fstat(self.descriptor).st_size)
            if process is None:
                return state, None, []
            reader = reader or Reader(lambda: NOW)
            found = reader.communicators(self.descriptor, process.start_monotonic_ns)
        except SourceError as error:
            if error.reason not in catalogue.SOURCE_REASONS:
                raise
            return None, None, []
        assert set(reader.rejected) <= set(catalogue.ROW_REASONS)
        return state, process, found


@pytest.fixture
def good_file(mapped_file: Any) -> Any:
    """A communicator that has something of everything; other slots hold the same and are free."""
    mapped_file.header["start_monotonic_ns"] = SINCE
    for slot in (*LIVE, 1, 63):
        row = mapped_file.communicator(slot, comm=slot + 1, rank=1, nranks=8, name="dp")
        row["callbacks"], row["callbacks_timed"], row["callback_ns"] = 1000, 10, 1000
        mapped_file.operation(row, 0, launched=9, skipped=5, negative=1)
        mapped_file.operation(row, 1, "Send", kind=1, launched=5)
        for index in range(4):
            mapped_file.cell(row, index, power=index, operations=2, duration_ns=99, log_microseconds=1.0, bytes=5)
            mapped_file.peer(row, index, peer=index, operations=1, duration_ns=5, bytes=9)
            mapped_file.link(row, index, index, index % 2, operations=3, bytes=7, steps=[1, 2, 3])
        row["channels"]["operations"][:3], row["channels"]["duration_ns"][:3] = 4, 44
        for place in range(3):
            mapped_file.fly(row, place, NOW - SECOND, row=place % 2, number=5 + place)
        if slot not in LIVE:
            row["state"] = layout.SlotState.FREE
    return mapped_file


@pytest.fixture
def spoiled(good_file: Any) -> Iterator[Spoiled]:
    made = Spoiled(good_file.path.read_bytes())
    yield made
    made.close()


TABLES = ("operations", "cells", "peers", "links")
# Rows of each that are open in the file above.
OPEN_ROWS = {"operations": 2, "cells": 4, "peers": 4, "links": 4}


def _part(slot: int, field: str, rows: int) -> tuple[int, int]:
    kind, offset = (layout.COMMUNICATOR.fields or {})[field][:2]
    return layout.communicator_offset(slot) + offset, rows * kind.base.itemsize


def live_bytes() -> list[tuple[int, int]]:
    """Where a byte may matter, by offset and size: all but padding, free slots and free rows of slots in use."""
    parts = [(0, layout.NAMES_OFFSET + layout.NAMES * layout.NAME.itemsize)]
    parts += [(layout.communicator_offset(slot), 4) for slot in range(layout.COMMUNICATORS)]
    for slot in LIVE:
        parts.append((layout.communicator_offset(slot), layout.offset(layout.HEAD, "padding")))
        parts += [_part(slot, "channels", layout.CHANNELS), _part(slot, "in_flight", layout.IN_FLIGHT)]
        for table in TABLES:
            start, size = _part(slot, table, 1)
            parts.append((start, OPEN_ROWS[table] * size))
            rows = (layout.COMMUNICATOR.fields or {})[table][0].itemsize // size
            parts += [(start + row * size, 4) for row in range(OPEN_ROWS[table], rows)]
    return parts


def used_bytes() -> list[tuple[int, int]]:
    """Those of them that say something; the others are many."""
    parts = [(0, layout.NAMES_OFFSET + 8 * layout.NAME.itemsize)]
    for slot in LIVE:
        parts.append((layout.communicator_offset(slot), layout.offset(layout.HEAD, "padding")))
        parts += [_part(slot, table, OPEN_ROWS[table] + 1) for table in TABLES]
        parts += [_part(slot, "channels", 4), _part(slot, "in_flight", 8)]
    return parts


def check(process: Process | None, found: list[Communicator]) -> None:
    """What is published can be true, whatever was read."""
    assert len(found) <= layout.COMMUNICATORS
    for each in found:
        assert process is not None
        assert 0 <= each.inflight_ns <= max(0, NOW - process.start_monotonic_ns + 2**21)
        assert each.nranks == 0 or 0 <= each.rank < each.nranks
        for row in each.operations:
            assert 0 <= row.in_flight <= layout.IN_FLIGHT
            assert min(row.started, row.operations, row.skipped, *row.refused, *row.dropped) >= 0
        for name in catalogue.SERIES_BY_TABLE:
            series = getattr(each, name)
            assert len(set(series.keys)) == len(series.keys) == len(series.labels) == len(series.values)
            for values in series.values:
                assert all(math.isfinite(value) and value >= 0 for value in values)


@pytest.mark.parametrize("part", range(PARTS))
def test_spoiled_bytes(spoiled: Spoiled, part: int, series: Callable[[str], Any]) -> None:
    """Flipped bits, zeros, ones, swapped and random words, in up to four places; or a part is gone."""
    dice = random.Random(part)  # noqa: S311
    used, live = used_bytes(), live_bytes()
    good = spoiled.read()
    assert len(good[2]) == len(LIVE)
    kept = Reader(lambda: NOW)
    spoiled.read(kept)
    for number in range(FILES):
        kind = dice.random()
        if kind < 0.01:
            spoiled.cut(dice.randrange(layout.FILE_BYTES) if dice.random() < 0.5 else dice.randrange(20_000))
            assert spoiled.read()[2] == []
            spoiled.whole()
            continue
        places = []
        for _ in range(dice.randint(1, 4)):
            if kind < 0.15:
                offset, size = dice.randrange(layout.FILE_BYTES), 1
            else:
                start, length = dice.choice(used)
                offset, size = start + dice.randrange(length), dice.choice((1, 1, 2, 4, 8))
            old = spoiled.content[offset : offset + size]
            value = dice.choice((bytes(size), b"\xff" * len(old), dice.randbytes(len(old)), _flipped(old, dice)))
            spoiled.put(offset, value[: len(old)])
            places.append((offset, len(old)))
        now = spoiled.read()
        check(*now[1:])
        if not any(_touches(place, live) for place in places):
            assert now == good
        if number % 500 == 0 and now[1] is not None:
            check(now[1], spoiled.read(kept)[2])
            page = Page()
            for each in now[2]:
                page.add_communicator(now[1], each, each.rank)
            series(page.text())
        for place in places:
            spoiled.mend(*place)
    assert spoiled.read() == good


def _flipped(old: bytes, dice: random.Random) -> bytes:
    return bytes([old[0] ^ 1 << dice.randrange(8), *old[1:]]) if old else old


def _touches(place: tuple[int, int], parts: list[tuple[int, int]]) -> bool:
    return any(place[0] < start + size and start < place[0] + place[1] for start, size in parts)


def test_state_of_a_slot_that_is_free_matters(spoiled: Spoiled) -> None:
    """The test above would not see a slot whose state is spoiled in a way that opens it, were it not looked at."""
    spoiled.put(layout.communicator_offset(63), bytes([layout.SlotState.OPEN]))
    assert len(spoiled.read()[2]) == len(LIVE) + 1


@fuzz
@given(history=st.lists(st.lists(st.tuples(st.integers(0, 10**6), st.binary(min_size=1, max_size=8)), max_size=4)))
def test_no_counter_falls_whatever_is_written(spoiled: Spoiled, history: list[list[tuple[int, bytes]]]) -> None:
    """While it is there and keeps its generation and its name: the head of the block is left alone."""
    spoiled.whole()
    reader = Reader(lambda: NOW)
    start = layout.communicator_offset(LIVE[0])
    spoilable = [(at, size) for at, size in used_bytes() if start < at < start + layout.COMMUNICATOR.itemsize]
    before: dict[Any, float] = {}
    for writes in history:
        for number, value in writes:
            at, size = spoilable[number % len(spoilable)]
            spoiled.put(at + number // len(spoilable) % size, value)
        now = counters(spoiled.read(reader)[2])
        assert {key: now.get(key) for key, value in before.items() if now.get(key, -1.0) < value} == {}
        before = now


def counters(found: list[Communicator]) -> dict[Any, float]:
    """Every counter by what it counts."""
    counted: dict[Any, float] = {}
    for each in found:
        counted[each.id, "callbacks"], counted[each.id, "callback_ns"] = each.callbacks, each.callback_ns
        counted.update(((each.id, "refused", place), value) for place, value in enumerate(each.refused))
        counted.update(((each.id, row.name, row.kind, "started"), row.started) for row in each.operations)
        for name in catalogue.SERIES_BY_TABLE:
            for key, values in getattr(each, name).by_key().items():
                counted.update(((each.id, name, key, place), value) for place, value in enumerate(values))
    return counted


@pytest.fixture
def scrape(source_dir: Path, series: Callable[[str], Any]) -> Callable[[], Any]:
    collector = Collector([source_dir])
    return lambda: series(collector.collect())


@fuzz
@given(content=st.binary(max_size=2000), exact=st.booleans())
def test_random_files(make_file: Callable[..., Any], scrape: Callable[[], Any], content: bytes, exact: bool) -> None:
    file = make_file()
    file.path.write_bytes(content)
    if exact:
        os.truncate(file.path, layout.FILE_BYTES)
    found = scrape()
    assert found["nccl_exporter_sources", (("state", "live"),)] == 0


@settings(fuzz, max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), open_rows=st.booleans(), small=st.booleans())
def test_good_header_and_random_rest(
    make_file: Callable[..., Any], scrape: Callable[[], Any], seed: int, open_rows: bool, small: bool
) -> None:
    """With `open_rows` every row says that it is in use, so that its fields are looked at; `small` counts can be."""
    file = make_file(f"{seed}")
    content = bytearray(np.random.default_rng(seed).bytes(layout.FILE_BYTES - layout.NAMES_OFFSET))
    body: Any = np.frombuffer(
        content,
        layout.COMMUNICATOR,
        layout.COMMUNICATORS,
        layout.communicator_offset(0) - layout.NAMES_OFFSET,
    )
    if open_rows:
        for rows in (body, *(body[field] for field in ("operations", "cells", "peers", "links"))):
            rows["state"] = layout.SlotState.OPEN
        body["rank"], body["nranks"], body["nnodes"], body["gpu"] = 1, 2**31 - 1, 1, 0
        body["name"], body["gpu_uuid"] = np.void(b"\0" * 128), np.void(b"\0" * 48)
        body["cells"]["size_log2"] %= 64
        body["peers"]["size_log2"] %= 64
        body["links"]["direction"] %= 2
        for field in ("operation", "algorithm", "protocol"):
            body["cells"][field] %= layout.NAMES
    if small:
        for table, counts in (("cells", "counts"), ("peers", "counts"), ("links", "counts"), ("operations", "settled")):
            for field in body[table][counts].dtype.names:
                body[table][counts][field] = 5
        body["cells"]["counts"]["operations"] = 60
    names: Any = np.frombuffer(content, layout.NAME, layout.NAMES)
    names["state"] = layout.SlotState.OPEN
    for index in range(0, layout.NAMES, 2):
        names[index]["text"] = np.void(f"Name{index % 10}".encode().ljust(28, b"\0"))
    with file.path.open("r+b") as writing:
        writing.seek(layout.NAMES_OFFSET)
        writing.write(content)
    try:
        found = scrape()
        assert found["nccl_exporter_sources", (("state", "live"),)] >= 1
        if open_rows and small:
            assert any(name == "nccl_collective_operations_total" for name, _ in found)
    finally:
        file.path.unlink()


@fuzz
@given(offset=st.integers(0, layout.HEADER.itemsize - 1), value=st.binary(min_size=1, max_size=16))
def test_good_file_with_a_spoiled_header(
    make_file: Callable[..., Any], scrape: Callable[[], Any], offset: int, value: bytes
) -> None:
    file = make_file()
    file.cell(file.communicator(), operations=1)
    with file.path.open("r+b") as writing:
        writing.seek(offset)
        writing.write(value[: layout.HEADER.itemsize - offset])
    scrape()
