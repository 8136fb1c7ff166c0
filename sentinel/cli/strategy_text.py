"""Advice for people and for programs."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

from sentinel.advise.comparison import bandwidth_estimate
from sentinel.advise.measurement import CONFIDENCE, Hardware, Measurement
from sentinel.advise.nccl_setting import environment
from sentinel.advise.strategy import Advice, Experiment, Reason, Verdict
from sentinel.cli.cell_text import cell_text
from sentinel.model.quantity import format_quantity, format_seconds

__all__ = ["STRATEGY_HEADERS", "advice_document", "experiment_lines", "strategy_rows"]

STRATEGY_HEADERS = (
    "JOB", "RANKS", "OPERATION", "COUNT", "LATENCY", "95%", "MEDIAN RANK", "BUSBW GB/s", "95%", "TIME", "ADVICE",
)  # fmt: skip

_REASONS = {
    Reason.NOTHING_TO_COMPARE: "cannot tell: nothing else was measured on this hardware",
    Reason.TOO_FEW_WINDOWS: "cannot tell: too few windows",
    Reason.WITHIN_UNCERTAINTY: "cannot tell: within the uncertainty",
    Reason.SIZES_MAY_DIFFER: "cannot tell: message sizes may differ",
    Reason.WAITING_MAY_EXPLAIN: "cannot tell: waiting may explain it",
    Reason.NOT_SYNCHRONIZING: "cannot tell: ranks leave early, or wait for one another",
}


def strategy_rows(advices: Sequence[Advice]) -> Iterator[tuple[str, ...]]:
    """A row of the table for each."""
    for advice in advices:
        row = advice.measurement
        yield (
            row.hardware.job_id or "-",
            hardware_text(row.hardware),
            cell_text(row.op, str(row.size_bytes), row.algo, row.proto),
            f"{row.operations:.0f}",
            format_seconds(math.exp(row.log_latency.mean)),
            _spread(row),
            format_seconds(math.exp(row.log_duration.mean)),
            *_bandwidth(row),
            f"{100 * row.time_ratio:.3g}%",
            _advice_text(advice),
        )


def experiment_lines(advices: Sequence[Advice]) -> Iterator[str]:
    """What to try, what would save most first."""
    found = [(experiment, advice.measurement) for advice in advices for experiment in advice.experiments]
    for experiment, row in sorted(found, key=lambda each: -each[0].saved_ratio):
        yield _experiment_text(row, experiment)


def hardware_text(hardware: Hardware) -> str:
    """`dp: 8 on 2 nodes`."""
    nodes = f" on {hardware.nnodes} node{'s' * (hardware.nnodes != 1)}" if hardware.nnodes > 0 else ""
    return f"{hardware.comm_name + ': ' if hardware.comm_name else ''}{hardware.nranks}{nodes}"


def advice_document(advice: Advice) -> dict[str, Any]:
    """A row of the JSON."""
    return {
        **_measurement_document(advice.measurement),
        "verdict": advice.verdict.value,
        "reason": advice.reason.value if advice.reason else None,
        "compared": advice.compared,
        "experiments": [_experiment_document(each, advice.measurement) for each in advice.experiments],
    }


def _measurement_document(row: Measurement) -> dict[str, Any]:
    bandwidth, interval = bandwidth_estimate(row), _bandwidth_interval(row)
    latency = row.log_latency.interval(CONFIDENCE)
    return {
        "job_id": row.hardware.job_id,
        "comm_name": row.hardware.comm_name,
        "nranks": row.hardware.nranks,
        "nnodes": row.hardware.nnodes,
        "nodes": list(row.hardware.nodes),
        "op": row.op,
        "size_bytes": row.size_bytes,
        "algo": row.algo,
        "proto": row.proto,
        "operations": round(row.operations),
        "windows": row.windows,
        "latency_statistic": "shortest_rank" if row.is_transfer else "median_rank",
        "latency_seconds": math.exp(row.log_latency.mean),
        "latency_low_seconds": math.exp(latency[0]) if latency else None,
        "latency_high_seconds": math.exp(latency[1]) if latency else None,
        "duration_seconds": math.exp(row.log_duration.mean),
        "scatter_ratio": row.scatter_ratio,
        "time_ratio": row.time_ratio,
        "message_low_bytes": row.message_bytes[0],
        "message_high_bytes": row.message_bytes[1],
        "bus_bandwidth_bytes_per_second": math.exp(bandwidth.mean) if bandwidth else None,
        "bus_bandwidth_low_bytes_per_second": interval[0] if interval else None,
        "bus_bandwidth_high_bytes_per_second": interval[1] if interval else None,
    }


def _experiment_document(experiment: Experiment, row: Measurement) -> dict[str, Any]:
    other, speedup = experiment.other, experiment.speedup
    return {
        "kind": "message_size" if experiment.is_message_size else "setting",
        "environment": {} if experiment.is_message_size else environment(row.op, *other.setting),
        "evidence": _measurement_document(other),
        "speedup_ratio": speedup.ratio,
        "speedup_low_ratio": speedup.low,
        "speedup_high_ratio": speedup.high,
        "speedup_low_without_waiting_ratio": speedup.low_waiting,
        "size_penalty_ratio": speedup.size_penalty,
        "saved_low_ratio": experiment.saved_ratio,
        "slower_at": [{"size_bytes": size, "slowdown_ratio": ratio} for size, ratio in experiment.slower_at],
    }


def _advice_text(advice: Advice) -> str:
    if advice.verdict is Verdict.EXPERIMENT:
        kinds = (
            "longer messages" if each.is_message_size else "/".join(each.other.setting) for each in advice.experiments
        )
        return f"try {', '.join(kinds)}"
    if advice.verdict is Verdict.BEST_MEASURED or advice.reason is None:
        return f"best of {advice.compared + 1} measured"
    return _REASONS[advice.reason]


def _experiment_text(row: Measurement, experiment: Experiment) -> str:
    other, speedup = experiment.other, experiment.speedup
    what = cell_text(row.op, str(row.size_bytes), row.algo, row.proto)
    where = f"{what} (job {row.hardware.job_id or '-'}, {hardware_text(row.hardware)})"
    interval = f"{speedup.low:.3g} to {speedup.high:.3g}"
    saves = f"saves at least {100 * experiment.saved_ratio:.2g}% of the time"
    if experiment.is_message_size:
        size = format_quantity("size_bytes", str(other.size_bytes))[1]
        return (
            f"{where}: try fewer, longer messages: of {size} ({'/'.join(other.setting)}) they had "
            f"{speedup.ratio:.3g} times the bus bandwidth ({interval}); {saves}"
        )
    names = " ".join(f"{name}={value}" for name, value in environment(row.op, *other.setting).items())
    text = f"{where}: try {names}: {speedup.ratio:.3g} times as fast ({interval})"
    if other.hardware.job_id != row.hardware.job_id:
        text += f" in job {other.hardware.job_id}"
    if other.size_bytes != row.size_bytes:
        text += f", judged by its {format_quantity('size_bytes', str(other.size_bytes))[1]}"
    text += f"; {saves}"
    for size_bytes, ratio in experiment.slower_at:
        text += f"; but at {format_quantity('size_bytes', str(size_bytes))[1]} it took {ratio:.3g} times as long"
    return text


def _spread(row: Measurement) -> str:
    interval = row.log_latency.interval(CONFIDENCE)
    if interval is None:
        return "?"
    return f"{format_seconds(math.exp(interval[0]))} to {format_seconds(math.exp(interval[1]))}"


def _bandwidth(row: Measurement) -> tuple[str, str]:
    estimate, interval = bandwidth_estimate(row), _bandwidth_interval(row)
    if estimate is None:
        return "-", "-"
    spread = "?" if interval is None else f"{interval[0] / 1e9:.4g} to {interval[1] / 1e9:.4g}"
    return f"{math.exp(estimate.mean) / 1e9:.4g}", spread


def _bandwidth_interval(row: Measurement) -> tuple[float, float] | None:
    """Bytes per second, what is not known of the message's length included."""
    interval = row.log_latency.interval(CONFIDENCE)
    if interval is None or row.bus_bytes is None:
        return None
    return row.bus_bytes[0] / math.exp(interval[1]), row.bus_bytes[1] / math.exp(interval[0])
