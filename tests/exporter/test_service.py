# SPDX-License-Identifier: Apache-2.0
"""What the exporter counts beside the mapped files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from nccl_exporter.collector import Collector
from nccl_exporter.service import ServiceCounts


def test_every_series_is_there_from_the_start(source_dir: Path, series: Callable[[str], Any]) -> None:
    found = {
        (name, *dict(labels).values()): value
        for (name, labels), value in series(Collector([source_dir]).collect()).items()
        if name.startswith(("nccl_exporter_web", "nccl_exporter_ras"))
    }
    assert found.pop(("nccl_exporter_web_config_last_reload_successful",)) == 1
    assert {key[-1] for key in found if len(key) > 1} == {
        *("handshake", "certificate", "credentials", "rate", "busy"),
        *("connect", "timeout", "closed", "protocol", "unsupported", "size", "malformed"),
        *("not_found", "ambiguous"),
    }
    assert set(found.values()) == {0}


def test_counts_are_published(source_dir: Path, series: Callable[[str], Any]) -> None:
    counts = ServiceCounts({"rate": 1}, False, 2, {"size": 3}, {"ambiguous": 4}, 5)
    found = series(Collector([source_dir], service=lambda: counts).collect())
    assert found["nccl_exporter_web_refused_total", (("reason", "rate"),)] == 1
    assert found["nccl_exporter_web_config_last_reload_successful", ()] == 0
    assert found["nccl_exporter_ras_queries_total", ()] == 2
    assert found["nccl_exporter_ras_failures_total", (("reason", "size"),)] == 3
    assert found["nccl_exporter_ras_communicators_left_out_total", (("reason", "ambiguous"),)] == 4
    assert found["nccl_exporter_ras_series_capped_total", ()] == 5
