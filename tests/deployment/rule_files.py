"""The shipped rules, as data."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

CONFIG = Path(__file__).resolve().parents[2] / "config"
PROMETHEUS = CONFIG / "prometheus"
ALERTS = PROMETHEUS / "nccl-sentinel-alerts.rules.yml"
RECORDING = PROMETHEUS / "nccl-sentinel-recording.rules.yml"
UNIT_TESTS = Path(__file__).with_name("rules")


def rules(file: Path) -> Iterator[dict[str, Any]]:
    """Every rule of a file, in order."""
    for group in yaml.safe_load(file.read_text(encoding="utf-8"))["groups"]:
        yield from group["rules"]


def unit_tests() -> Iterator[dict[str, Any]]:
    """Every test of promtool's."""
    for file in sorted(UNIT_TESTS.glob("*.test.yml")):
        yield from yaml.safe_load(file.read_text(encoding="utf-8"))["tests"]
