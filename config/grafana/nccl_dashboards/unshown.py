# SPDX-License-Identifier: Apache-2.0
"""Panels of metrics that no dashboard shows by itself, so that a new one is seen from the start."""

import re
from collections.abc import Iterable, Sequence

from nccl_endpoint.family import MetricFamily

from nccl_dashboards.about import gauge, rate
from nccl_dashboards.panel import Panel, Query, timeseries
from nccl_dashboards.promql import QUANTILES, all_rates, on_targets
from nccl_dashboards.recorded import RULES

__all__ = ["unshown"]

_ONE_A_RANK = frozenset({"comm", "rank", "peer"})


def unshown(families: Iterable[MetricFamily], panels: Iterable[Panel], by: Sequence[str] = ()) -> tuple[Panel, ...]:
    """One for each family that neither these panels nor the recording rules read, summed `by` its labels and these.

    Labels of which a series a rank would come are summed over.
    """
    expressions = [target["expr"] for panel in panels for target in panel.targets]
    read = set(re.findall(r"\w+", " ".join(expressions) + RULES.read_text(encoding="utf-8")))
    return tuple(
        _panel(family, (*(label for label in family.labels if label not in _ONE_A_RANK), *by))
        for family in families
        if not {family.name, f"{family.name}_bucket"} & read
    )


def _panel(family: MetricFamily, by: Sequence[str]) -> Panel:
    title = re.sub(r"^nccl_(sentinel_|exporter_)?|_total$|_seconds$", "", family.name).replace("_", " ").capitalize()
    called = " ".join(f"{{{{{label}}}}}" for label in by) or "all"
    if family.kind == "histogram":
        buckets = all_rates(family, ("le",))
        queries = [Query(f"histogram_quantile({value}, {buckets})", name) for name, value in QUANTILES.items()]
        return timeseries(title, gauge(family), *queries, width=8)
    if family.kind == "counter":
        return timeseries(title, rate(family), Query(all_rates(family, by), called), width=8)
    total = f"sum by ({', '.join(by)})" if by else "sum"
    return timeseries(title, gauge(family), Query(f"{total} ({on_targets(family.name)})", called), width=8)
