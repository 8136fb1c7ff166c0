"""Files that hold anything: a scrape answers, quickly, with a page that Prometheus can read."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nccl_exporter import layout
from nccl_exporter.collector import Collector

LIMIT_SECONDS = 5.0

fuzz = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def scrape(source_dir: Path, series: Callable[[str], Any]) -> Callable[[], Any]:
    collector = Collector([source_dir])

    def ask() -> Any:
        start = time.monotonic()
        text = collector.collect()
        assert time.monotonic() - start < LIMIT_SECONDS
        return series(text)

    return ask


@fuzz
@given(content=st.binary(max_size=2000), exact=st.booleans())
def test_random_files(make_file: Callable[..., Any], scrape: Callable[[], Any], content: bytes, exact: bool) -> None:
    file = make_file()
    file.path.write_bytes(content)
    if exact:
        os.truncate(file.path, layout.FILE_BYTES)
    found = scrape()
    assert found["nccl_exporter_sources", (("state", "live"),)] == 0


@fuzz
@given(seed=st.integers(0, 2**32 - 1), open_rows=st.booleans(), even=st.booleans())
def test_good_header_and_random_rest(
    make_file: Callable[..., Any], scrape: Callable[[], Any], seed: int, open_rows: bool, even: bool
) -> None:
    """With `open_rows` every row says that it is in use, so that its fields are looked at."""
    file = make_file(f"{seed}")
    random = np.random.default_rng(seed)
    start = layout.NAMES_OFFSET
    content = bytearray(random.bytes(layout.FILE_BYTES - start))
    body: Any = np.frombuffer(content, layout.COMMUNICATOR, layout.COMMUNICATORS, layout.COMMUNICATORS_OFFSET - start)
    if open_rows:
        for rows in (body, body["operations"], body["cells"]):
            rows["state"] = layout.SlotState.OPEN
        body["rank"], body["nranks"], body["nnodes"] = 1, random.integers(2, 2**31 - 1), 1
        body["name"] = np.void(b"\0" * 128)
        body["cells"]["size_log2"] %= 64
        for field in ("operation", "algorithm", "protocol"):
            body["cells"][field] %= layout.NAMES
        body["operations"]["name"] %= layout.NAMES
    if even:
        for rows in (body["operations"], body["cells"]):
            rows["sequence"] *= 2
    names: Any = np.frombuffer(content, layout.NAME, layout.NAMES)
    names["state"] = layout.SlotState.OPEN
    for index in range(0, layout.NAMES, 2):
        names[index]["text"] = np.void(f"Name{index % 10}".encode().ljust(28, b"\0"))
    with file.path.open("r+b") as writing:
        writing.seek(start)
        writing.write(content)
    try:
        found = scrape()
        assert found["nccl_exporter_sources", (("state", "live"),)] >= 1
        if open_rows and even:
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
