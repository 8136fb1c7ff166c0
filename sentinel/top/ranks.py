"""Ranks, the worst first."""

import math
from collections.abc import Mapping

from sentinel.top.answers import Incident, Ranking, RankRow
from sentinel.top.place import Order

__all__ = ["accusation", "place_text", "waits", "worst_first"]


def worst_first(ranking: Ranking, accused: Mapping[str, Incident], order: Order) -> list[RankRow]:
    """Those first that an incident names that goes on (`accused`, by id), then by `order`, the unknown last."""
    waiting = waits(ranking)

    def key(row: RankRow) -> tuple[bool, float, int]:
        value = {
            Order.NEWEST: row.lateness_newest_seconds,
            Order.P95: row.lateness_p95_seconds,
            Order.WAIT: waiting.get(row.rank),
        }[order]
        named = order is not Order.WAIT and accusation(row, accused) is not None
        return (not named, math.inf if value is None else -value, row.rank)

    return sorted(ranking.ranks, key=key)


def waits(ranking: Ranking) -> dict[int, float]:
    """By rank: how long it waits for the last one in an operation, in seconds, as of the newest tick; about.

    lateness_i = median of the peers' durations − its own, and the last one's duration is the transfer alone: so the
    difference of two ranks' lateness is that of their durations, and the last one's and a rank's is what it waits.
    """
    late = {row.rank: row.lateness_newest_seconds for row in ranking.ranks if row.lateness_newest_seconds is not None}
    latest = max(late.values(), default=0.0)
    return {rank: latest - value for rank, value in late.items()}


def accusation(row: RankRow, accused: Mapping[str, Incident]) -> Incident | None:
    """The loudest incident that goes on and names it."""
    found = [accused[id_] for id_ in row.incidents if id_ in accused]
    return min(found, key=lambda each: (each.tier, -each.cost_ratio, each.id), default=None)


def place_text(row: RankRow) -> str:
    """`3 on gpu-17 GPU 1`."""
    place = " ".join(part for part in (row.node, row.gpu and f"GPU {row.gpu}") if part)
    rank = "-" if row.global_rank is None else str(row.global_rank)
    return f"{rank} on {place}" if place else rank
