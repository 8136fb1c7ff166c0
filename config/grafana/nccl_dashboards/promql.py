# SPDX-License-Identifier: Apache-2.0
"""Expressions of the query language, with the dashboards' variables in them."""

import re
from collections.abc import Sequence
from typing import Final

from nccl_endpoint.family import MetricFamily
from nccl_exporter.catalogue import COMMUNICATOR_INFO

__all__ = [
    "QUANTILES",
    "WHO",
    "all_rates",
    "chosen",
    "highest",
    "lowest",
    "of_communicators",
    "of_jobs",
    "of_ranks",
    "on_targets",
    "ranks",
    "rates",
]

WHO: Final = ("job_id", "global_rank", "comm_name", "node", "gpu")
"""What people know a rank by, of the labels of nccl_communicator_info."""

QUANTILES: Final = {"P50": 0.5, "P95": 0.95, "P99": 0.99}
"""By what people call them."""

_CHOSEN_JOBS = f'{COMMUNICATOR_INFO.name}{{job_id=~"$job_id", comm=~"$comm"}}'
_SEEN = f"last_over_time({_CHOSEN_JOBS}[$__range] @ end())"
_TARGETS = 'job=~"$job", instance=~"$instance"'
_ATOM = re.compile(r"[\w:]+(\{[^}]*\})?|\w+\([^()]*\)")


def chosen(name: str, matchers: str = "") -> str:
    """A series by (comm, …) in the communicators that the dashboard's variable names; the job is not looked at."""
    return f'{name}{{comm=~"$comm"{", " * bool(matchers)}{matchers}}}'


def on_targets(name: str, matchers: str = "") -> str:
    """A series at the scrape jobs and instances that the dashboard's variables name."""
    return f"{name}{{{_TARGETS}{', ' * bool(matchers)}{matchers}}}"


def of_jobs(name: str) -> str:
    """A series by (job_id, …) of the jobs that the dashboard's variable names."""
    return f'{name}{{job_id=~"$job_id"}}'


def ranks(*labels: str) -> str:
    """1 for each (comm, rank) of the chosen jobs and communicators, with `labels` of nccl_communicator_info.

    Those that were seen at any time in the dashboard's range: looked up once, not at each point. An exporter that is
    scraped twice does not count twice, and of two that name a rank differently one is taken. ValueError for a label
    that is not there.
    """
    if unknown := set(labels) - set(COMMUNICATOR_INFO.labels):
        raise ValueError(f"{COMMUNICATOR_INFO.name} has no label {', '.join(sorted(unknown))}")
    named = f"group by ({', '.join(('comm', 'rank', *labels))}) ({_SEEN})"
    return f"topk by (comm, rank) (1, {named})" if labels else named


def of_ranks(expression: str, *labels: str) -> str:
    """What an expression by (comm, rank, …) says of the chosen jobs' ranks, with `labels` that say who they are."""
    return f"{_operand(expression)} * on (comm, rank) group_left ({', '.join(labels)}) {ranks(*labels)}"


def of_communicators(expression: str) -> str:
    """What an expression by (comm, …) says of the chosen jobs' communicators."""
    return f"{_operand(expression)} and on (comm) group by (comm) ({_SEEN})"


def highest(count: int, series: str, key: Sequence[str]) -> str:
    """Of a series by `key`, comm and rank among it: those that stand highest at some time in the dashboard's range.

    The same ones all along: topk for itself would choose anew at each point.
    """
    return _extreme("topk", "max_over_time", count, series, key)


def lowest(count: int, series: str, key: Sequence[str]) -> str:
    """As `highest`, those that stand lowest."""
    return _extreme("bottomk", "min_over_time", count, series, key)


def rates(family: MetricFamily, by: Sequence[str], matchers: str = "") -> str:
    """A counter per second, or a histogram's buckets, summed `by` labels. ValueError for a label that is not there."""
    _check(family, by, {"le"} if family.kind == "histogram" else set())
    name = f"{family.name}_bucket" if family.kind == "histogram" else family.name
    return f"sum by ({', '.join(by)}) (rate({chosen(name, matchers)}[$__rate_interval]))"


def all_rates(family: MetricFamily, by: Sequence[str], matchers: str = "") -> str:
    """As `rates`, at the chosen scrape jobs and instances, by which it may sum as well."""
    _check(family, by, {"job", "instance"} | ({"le"} if family.kind == "histogram" else set()))
    name = f"{family.name}_bucket" if family.kind == "histogram" else family.name
    total = f"sum by ({', '.join(by)})" if by else "sum"
    return f"{total} (rate({on_targets(name, matchers)}[$__rate_interval]))"


def _check(family: MetricFamily, by: Sequence[str], more: set[str]) -> None:
    if unknown := set(by) - set(family.labels) - more:
        raise ValueError(f"{family.name} has no label {', '.join(sorted(unknown))}")


def _extreme(choose: str, over_time: str, count: int, series: str, key: Sequence[str]) -> str:
    extreme = of_ranks(f"{over_time}({series}[$__range] @ end())")
    return of_ranks(f"{series} and on ({', '.join(key)}) {choose}({count}, {extreme})", *WHO)


def _operand(expression: str) -> str:
    return expression if _ATOM.fullmatch(expression) else f"({expression})"
