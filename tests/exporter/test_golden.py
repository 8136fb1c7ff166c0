"""The plugin's golden file, as its own C++ writes it, and the page that it becomes."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nccl_exporter import __version__
from nccl_exporter.collector import Collector

HERE = Path(__file__).parent
PLUGIN = HERE.parents[1] / "plugin"
PAGE = HERE / "golden.metrics"
SECOND = 1_000_000_000


@pytest.fixture
def collector(tmp_path: Path, source_dir: Path, clock: Any, holder: Any) -> Collector:
    program, file = tmp_path / "golden", source_dir / "4242.nccl-sentinel"
    subprocess.run(
        ["g++", "-std=c++17", f"-I{PLUGIN}/include", f"-I{PLUGIN}/src", "-o", program, PLUGIN / "tests/golden_tool.cc"],
        check=True,
    )
    file.write_bytes(subprocess.check_output([program]))
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
    assert inflight == {(("comm", "e06114c4e13bf1dd"), ("rank", "11")): 2.0}
