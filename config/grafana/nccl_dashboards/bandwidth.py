# SPDX-License-Identifier: Apache-2.0
"""Bandwidth: bytes, network steps by what they wait for, kernel channels."""

from typing import Final

from nccl_exporter import catalogue

from nccl_dashboards.about import About, rate
from nccl_dashboards.dashboard import Dashboard, Row
from nccl_dashboards.panel import Query, timeseries
from nccl_dashboards.promql import WHO, chosen, highest, of_ranks, rates
from nccl_dashboards.recorded import recorded
from nccl_dashboards.variable import COMMUNICATOR, JOB, SOURCE

__all__ = ["DASHBOARD"]

_RANK = ("comm", "rank")
_RANK_OP = (*_RANK, "op")
_LINK = (*_RANK, "peer", "direction")
_CHANNEL = (*_RANK, "channel", "transport")
_STATE = (*_RANK, "direction", "state")
_CALLED = "{{global_rank}} ({{node}} GPU {{gpu}}, {{comm}})"
_SCALED = "Here: scaled to all that were launched."

_NETWORK_BYTES = chosen(recorded("comm_rank_direction:nccl_network_bytes_scaled:rate5m"))
_STEP_SECONDS = chosen(recorded("comm_rank_direction_state:nccl_network_step_seconds:rate5m"))
_STEPS = recorded("comm_rank_direction_state:nccl_network_steps:rate5m")
_PER_STEP = recorded("comm_rank_direction_state:nccl_network_step_seconds_per_step:ratio_rate5m")


def _collectives_scaled(numerator: str) -> str:
    """A rate of measured collectives by (comm, rank, op), of all that were launched."""
    return f"{numerator} * {rates(catalogue.STARTED, _RANK_OP)} / ({rates(catalogue.OPERATIONS, _RANK_OP)} > 0)"


def _wire(direction: str) -> str:
    """Bytes by seconds on the wire, by link."""
    matcher = f'direction="{direction}"'
    seconds = rates(catalogue.NETWORK_SECONDS, _LINK, f'{matcher}, state="wire"')
    return f"{rates(catalogue.NETWORK_BYTES, _LINK, matcher)} / ({seconds} > 0)"


_PAYLOAD = (
    timeseries(
        "Bytes of collectives",
        rate(catalogue.BYTES, _SCALED),
        Query(f"sum by (op) ({of_ranks(_collectives_scaled(rates(catalogue.BYTES, _RANK_OP)))})", "{{op}}"),
        stacked=True,
    ),
    timeseries(
        "Bytes of Sends and Recvs",
        rate(catalogue.P2P_BYTES, _SCALED),
        Query(
            "sum by (op) ("
            + of_ranks(
                f"{rates(catalogue.P2P_BYTES, _RANK_OP)}"
                f" * {rates(catalogue.P2P_STARTED, _RANK_OP)} / ({rates(catalogue.P2P_OPERATIONS, _RANK_OP)} > 0)"
            )
            + ")",
            "{{op}}",
        ),
        stacked=True,
    ),
    timeseries(
        "Bandwidth inside collectives",
        About(
            "Bps",
            "Message bytes by duration: the median rank's, and the largest. A late rank waits for nobody and so has "
            "the highest: it is not the fastest. Where the median falls and the largest does not, one is late; where "
            "both fall, the wire or the message sizes changed.",
        ),
        *(
            Query(
                f"quantile by (op) ({quantile}, "
                + of_ranks(
                    f"{rates(catalogue.BYTES, _RANK_OP)} / ({rates(catalogue.SECONDS, _RANK_OP)} > 0)",
                )
                + ")",
                f"{name} {{{{op}}}}",
            )
            for name, quantile in (("median", 0.5), ("largest", 1))
        ),
    ),
    timeseries(
        "Bytes on the network",
        rate(catalogue.NETWORK_BYTES, _SCALED),
        Query(f"sum by (direction) ({of_ranks(_NETWORK_BYTES)})", "{{direction}}"),
    ),
)

_LINKS = (
    timeseries(
        "Slow senders",
        About(
            "s",
            "Time on the wire of a step that is sent, the 10 that stood highest. One rank far above the others is a "
            "slow sender; all together are a slow fabric.",
        ),
        Query(highest(10, chosen(_PER_STEP, 'direction="send", state="wire"'), _STATE), _CALLED),
    ),
    timeseries(
        "Hosts slow to take in",
        About(
            "s",
            "Time in flush of a step that was received, the 10 that stood highest. One rank far above the others is "
            "slow on its own side: starved CPU, PCIe.",
        ),
        Query(highest(10, chosen(_PER_STEP, 'direction="recv", state="flush"'), _STATE), _CALLED),
    ),
    timeseries(
        "Bandwidth of the wire, sent",
        About(
            "Bps",
            "Bytes by the time that their steps spend on the wire, by peer, the 10 lowest. Steps overlap: compare "
            "links with each other and with yesterday, not with the data sheet.",
        ),
        Query(f"bottomk(10, {of_ranks(_wire('send'), *WHO)})", "{{global_rank}} to {{peer}} ({{node}}, {{comm}})"),
    ),
    timeseries(
        "Bandwidth of the wire, received",
        About(
            "Bps",
            "Bytes by the time that their steps wait for the wire, by peer, the 10 lowest. Who receives slowly is the "
            "victim of a slow or late sender.",
        ),
        Query(f"bottomk(10, {of_ranks(_wire('recv'), *WHO)})", "{{global_rank}} from {{peer}} ({{node}}, {{comm}})"),
    ),
    timeseries(
        "What network steps wait for",
        rate(
            catalogue.NETWORK_SECONDS, "Of all ranks together. High gpu_wait, peer_wait and recv wire are of victims."
        ),
        Query(f"sum by (direction, state) ({of_ranks(_STEP_SECONDS)})", "{{direction}} {{state}}"),
        stacked=True,
    ),
    timeseries(
        "Network steps",
        About("cps", catalogue.NETWORK_STEPS.help),
        Query(
            "sum by (direction) (" + of_ranks(chosen(_STEPS, 'state="wire"')) + ")",
            "{{direction}}",
        ),
    ),
)

_CHANNELS = (
    timeseries(
        "Time of an operation on a channel",
        About("s", f"{catalogue.CHANNEL_SECONDS.help} By each operation, the mean over ranks."),
        Query(
            f"sum by (channel, transport) ({of_ranks(rates(catalogue.CHANNEL_SECONDS, _CHANNEL))})"
            f" / (sum by (channel, transport) ({of_ranks(rates(catalogue.CHANNEL_OPERATIONS, _CHANNEL))}) > 0)",
            "{{channel}} {{transport}}",
        ),
    ),
    timeseries(
        "Operations on a channel",
        rate(catalogue.CHANNEL_OPERATIONS),
        Query(
            f"sum by (channel, transport) ({of_ranks(rates(catalogue.CHANNEL_OPERATIONS, _CHANNEL))})",
            "{{channel}} {{transport}}",
        ),
    ),
    timeseries(
        "Uneven channels",
        About(
            "percentunit",
            "A rank's slowest channel by the mean of its channels, in time by operation: the 10 largest. 100% is even.",
        ),
        Query(
            "topk(10, "
            + of_ranks(
                " / ".join(
                    f"{fold} by (comm, rank) ({rates(catalogue.CHANNEL_SECONDS, _CHANNEL)}"
                    f" / ({rates(catalogue.CHANNEL_OPERATIONS, _CHANNEL)} > 0))"
                    for fold in ("max", "avg")
                ),
                *WHO,
            )
            + ")",
            _CALLED,
        ),
        width=24,
        minimum=1.0,
    ),
)

DASHBOARD: Final = Dashboard(
    "nccl-bandwidth",
    "NCCL / Bandwidth",
    "Is it the wire? Bytes, network steps and channels over time.",
    (SOURCE, JOB, COMMUNICATOR),
    (Row("Messages", _PAYLOAD), Row("Network", _LINKS), Row("Channels", _CHANNELS)),
)
