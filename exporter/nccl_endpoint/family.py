# SPDX-License-Identifier: Apache-2.0
"""A metric, as Prometheus knows it, and metrics as a table for people."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

__all__ = ["MetricFamily", "markdown_table"]


@dataclass(frozen=True)
class MetricFamily:
    """One metric family; `labels` in the order in which values are given."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    unit: str
    labels: tuple[str, ...]
    help: str


def markdown_table(families: Iterable[MetricFamily]) -> str:
    """A line for each family."""
    rows = ["| metric | kind | unit | labels | meaning |", "| --- | --- | --- | --- | --- |"]
    for family in families:
        labels = ", ".join(family.labels)
        rows.append(f"| `{family.name}` | {family.kind} | {family.unit} | {labels} | {family.help} |")
    return "\n".join(rows) + "\n"
