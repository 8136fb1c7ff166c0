"""The curves that are asked of the metrics store when somebody looks, as PromQL."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["PANELS", "Curves"]

_WINDOW: Final = "5m"
_QUANTILES: Final = (0.5, 0.95, 0.99)


@dataclass(frozen=True)
class Curves:
    """One quantity of a communicator. `labels` tell its curves apart.

    `queries` are tried in order, until one has an answer.
    """

    unit: str
    labels: tuple[str, ...]
    queries: Callable[[str, str], tuple[str, ...]]  # of communicator and further matchers


def _matchers(comm: str, selector: str, own: str = "") -> str:
    return "{" + ",".join(part for part in (own, f"comm={json.dumps(comm)}", selector) if part) + "}"


def _either(label: str, queries: Mapping[str, str]) -> str:
    """All of them in one answer, told apart by a label."""
    return " or ".join(f'label_replace({query}, "{label}", "{name}", "", "")' for name, query in queries.items())


def _operations(comm: str, selector: str) -> tuple[str, ...]:
    measured = f"sum by (op, le) (rate(nccl_collective_duration_seconds_bucket{_matchers(comm, selector)}[{_WINDOW}]))"
    ways = [measured]
    if not selector:  # recorded without the labels that a selector may ask for
        ways.insert(0, f"comm_op_le:nccl_collective_duration_seconds_bucket:rate5m{_matchers(comm, '')}")
    return tuple(
        _either("quantile", {str(each): f"histogram_quantile({each}, sum by (op, le) ({way}))" for each in _QUANTILES})
        for way in ways
    )


def _network_steps(comm: str, selector: str) -> tuple[str, ...]:
    steps, seconds = (
        f"sum by (direction, state) (rate(nccl_network_{name}_total{_matchers(comm, selector)}[{_WINDOW}]))"
        for name in ("steps", "step_seconds")
    )
    return (f"{seconds} / ({steps} > 0)",)


def _network_bytes(comm: str, selector: str) -> tuple[str, ...]:
    """Scaled from the operations that were measured to all: see "Sampling" in docs/metrics.md."""

    def operations(which: str) -> str:
        own = f'__name__=~"nccl_(collective|p2p)_{which}_total"'
        return f"sum by (rank) (rate({_matchers(comm, selector, own)}[{_WINDOW}]))"

    moved = f"sum by (rank, direction) (rate(nccl_network_bytes_total{_matchers(comm, selector)}[{_WINDOW}]))"
    scale = f"({operations('started')} / ({operations('operations')} > 0))"
    return (f"sum by (direction) ({moved} * on (rank) group_left () {scale})",)


def _channels(comm: str, selector: str) -> tuple[str, ...]:
    """An operation of B bytes that keeps C channels busy for t seconds each moves B / (C t) on a channel.

    Bytes and channel times are of the same measured operations.
    """
    own = '__name__=~"nccl_(collective|p2p)_bytes_total"'
    moved = f"sum by (rank) (rate({_matchers(comm, selector, own)}[{_WINDOW}]))"
    busy = f"sum by (rank) (rate(nccl_channel_seconds_total{_matchers(comm, selector)}[{_WINDOW}]))"
    ratio = f"({moved} / ({busy} > 0))"
    names = {"slowest rank": f"min({ratio})", "median rank": f"quantile(0.5, {ratio})", "fastest rank": f"max({ratio})"}
    return (_either("spread", names),)


PANELS: Final[Mapping[str, Mapping[str, Curves]]] = {
    "operations": {"duration": Curves("seconds", ("op", "quantile"), _operations)},
    "network": {
        "step": Curves("seconds", ("direction", "state"), _network_steps),
        "bandwidth": Curves("bytes per second", ("direction",), _network_bytes),
    },
    "channels": {"bandwidth": Curves("bytes per second", ("spread",), _channels)},
}
"""What each of them shows, by name: parts, each with its curves."""
