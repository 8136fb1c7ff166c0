# SPDX-License-Identifier: Apache-2.0
"""Series that the recording rules make."""

from collections.abc import Set as AbstractSet
from functools import cache
from pathlib import Path
from typing import Final

import yaml

__all__ = ["RULES", "recorded"]

RULES: Final = Path(__file__).resolve().parents[2] / "prometheus" / "nccl-sentinel-recording.rules.yml"


def recorded(name: str) -> str:
    """The name itself. KeyError where no rule records it."""
    if name not in _names():
        raise KeyError(f"{name} is not recorded by {RULES.name}")
    return name


@cache
def _names() -> AbstractSet[str]:
    groups = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    return frozenset(rule["record"] for group in groups for rule in group["rules"])
