"""The plugin's golden file, and the page that it becomes."""

import lzma
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nccl_exporter import __version__, layout
from nccl_exporter.collector import Collector

HERE = Path(__file__).parent
FILE = HERE.parent / "golden" / "mapped-file-v2.bin.xz"
PAGE = HERE / "golden.metrics"
SECOND = 1_000_000_000


@pytest.fixture
def collector(source_dir: Path, clock: Any, holder: Any) -> Collector:
    file = source_dir / "4242.nccl-sentinel"
    file.write_bytes(lzma.decompress(FILE.read_bytes()))
    holder.lock(file)
    return Collector([source_dir], clock)


def test_page(collector: Collector, clock: Any, tmp_path: Path) -> None:
    clock.ns = 1450 * SECOND  # the closed communicator was closed 50 s ago
    page = collector.collect().replace(f'version="{__version__}"', 'version="VERSION"')
    (tmp_path / "page").write_text(page, encoding="utf-8")
    assert page == PAGE.read_text(encoding="utf-8"), f"compare {tmp_path}/page with {PAGE}"


def test_a_minute_later(collector: Collector, clock: Any, series: Callable[[str], Any]) -> None:
    clock.ns = 1502 * SECOND
    found = series(collector.collect())
    inflight = {labels: value for (name, labels), value in found.items() if name == "nccl_oldest_inflight_seconds"}
    assert inflight == {
        (("comm", "e06114c4e13bf1dd"), ("rank", "11")): pytest.approx(62.0, abs=2**layout.FLIGHT_TIME_UNIT / SECOND)
    }
