"""Which experiments the measurements suggest, and where they cannot tell."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from sentinel.advise.comparison import Speedup, compare_settings, compare_sizes
from sentinel.advise.measurement import CONFIDENCE, Measurement

__all__ = ["Advice", "Experiment", "Reason", "Verdict", "advise"]

LEAST_SPEEDUP = 1.03
"""What two runs of one benchmark differ by anyway: less is nothing to try."""

_MOST_MERGED = 64  # messages into one: beyond that it is another program
_LEAST_TIME_RATIO = 0.01  # of the time, for a row whose messages are worth changing


class Verdict(Enum):
    """What can be said of a row."""

    EXPERIMENT = "experiment"
    BEST_MEASURED = "best_measured"
    CANNOT_TELL = "cannot_tell"


class Reason(Enum):
    """Why nothing can be told."""

    NOTHING_TO_COMPARE = "nothing_to_compare"
    TOO_FEW_WINDOWS = "too_few_windows"
    WITHIN_UNCERTAINTY = "within_uncertainty"
    SIZES_MAY_DIFFER = "sizes_may_differ"
    WAITING_MAY_EXPLAIN = "waiting_may_explain"
    NOT_SYNCHRONIZING = "not_synchronizing"


@dataclass(frozen=True)
class Experiment:
    """Try what `other` was measured with: its algorithm and protocol, or its message size.

    `saved_ratio` is the share of the time that it would save at least. `slower_at` are the other sizes at which that
    algorithm and protocol measured slower than what is used there, with how much faster what is used is: a setting in
    the environment holds for all sizes.
    """

    is_message_size: bool
    other: Measurement
    speedup: Speedup
    saved_ratio: float
    slower_at: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True)
class Advice:
    """Of one row. `compared` is how many measurements with other settings there were at its size.

    `reason` is set where the verdict is that data cannot tell. The experiments: a setting, a message size, or both.
    """

    measurement: Measurement
    verdict: Verdict
    reason: Reason | None
    compared: int
    experiments: tuple[Experiment, ...] = ()


def advise(measurements: Sequence[Measurement]) -> tuple[Advice, ...]:
    """Compare each row with those of the same operation on the same hardware; in their order.

    An experiment is named only where the interval of its speedup, at 95% for all comparisons of a row together
    (Bonferroni), lies above `LEAST_SPEEDUP`, also if all scatter of the row were waiting.
    """
    return tuple(_advise(row, measurements) for row in measurements)


def _advise(row: Measurement, measurements: Sequence[Measurement]) -> Advice:
    peers = [
        other
        for other in measurements
        if other is not row and other.op == row.op and other.hardware.same_as(row.hardware) and other.size_bytes > 0
    ]
    others = [other for other in peers if other.setting != row.setting]
    here = [other for other in others if other.size_bytes == row.size_bytes]
    if not row.is_transfer:
        return Advice(row, Verdict.CANNOT_TELL, Reason.NOT_SYNCHRONIZING, len(here))
    if row.size_bytes == 0:
        return Advice(row, Verdict.CANNOT_TELL, Reason.NOTHING_TO_COMPARE, len(here))
    setting, reason = _best_setting(row, others, here)
    size = _best_size(row, peers)
    experiments = []
    if setting is not None:
        other, speedup = setting
        saved = row.time_ratio * (1.0 - 1.0 / speedup.low_waiting)
        experiments.append(Experiment(False, other, speedup, saved, _slower_at(row, other, peers)))
    if size is not None:
        other, speedup = size
        experiments.append(Experiment(True, other, speedup, row.time_ratio * (1.0 - 1.0 / speedup.low_waiting)))
    if experiments:
        return Advice(row, Verdict.EXPERIMENT, None, len(here), tuple(experiments))
    verdict = Verdict.BEST_MEASURED if reason is None else Verdict.CANNOT_TELL
    return Advice(row, verdict, reason, len(here))


def _best_setting(
    row: Measurement, others: Sequence[Measurement], here: Sequence[Measurement]
) -> tuple[tuple[Measurement, Speedup] | None, Reason | None]:
    """The surest of what is faster; else why there is none, or no reason where all that was measured is not faster."""
    if not others:
        return None, Reason.NOTHING_TO_COMPARE
    confidence = 1.0 - (1.0 - CONFIDENCE) / len(others)
    found = [(other, compare_settings(row, other, confidence)) for other in others]
    best = max(found, key=lambda each: _order(each[1]))
    if best[1].low_waiting > LEAST_SPEEDUP:
        return best, None
    if any(speedup.low > LEAST_SPEEDUP for _, speedup in found):
        return None, Reason.WAITING_MAY_EXPLAIN
    if not here:
        return None, Reason.NOTHING_TO_COMPARE
    at_size = [speedup for other, speedup in found if other.size_bytes == row.size_bytes]
    if not any(speedup.low == speedup.low for speedup in at_size):
        return None, Reason.TOO_FEW_WINDOWS
    if all(speedup.high < LEAST_SPEEDUP for speedup in at_size):
        return None, None
    if any(speedup.low * speedup.size_penalty > LEAST_SPEEDUP for speedup in at_size):
        return None, Reason.SIZES_MAY_DIFFER
    return None, Reason.WITHIN_UNCERTAINTY


def _best_size(row: Measurement, peers: Sequence[Measurement]) -> tuple[Measurement, Speedup] | None:
    """Longer messages with the most bandwidth, where the row's are worth it."""
    longer = [
        other
        for other in peers
        if other.hardware == row.hardware and row.size_bytes < other.size_bytes <= _MOST_MERGED * row.size_bytes
    ]
    if row.time_ratio < _LEAST_TIME_RATIO or not longer:
        return None
    confidence = 1.0 - (1.0 - CONFIDENCE) / len(longer)
    found = [(other, compare_sizes(row, other, confidence)) for other in longer]
    best = max(found, key=lambda each: _order(each[1]))
    return best if best[1].low_waiting > LEAST_SPEEDUP else None


def _slower_at(row: Measurement, chosen: Measurement, peers: Sequence[Measurement]) -> tuple[tuple[int, float], ...]:
    """The sizes of the row's own role at which the chosen setting was measured, and is slower than what is used."""
    tried = {each.size_bytes: each for each in peers if each.setting == chosen.setting}
    used = [each for each in peers if each.hardware == row.hardware and each.setting != chosen.setting]
    slower = []
    for each in used:
        other = tried.get(each.size_bytes)
        if other is None or each.size_bytes == row.size_bytes:
            continue
        speedup = compare_settings(other, each, CONFIDENCE)
        if speedup.low > 1.0:
            slower.append((each.size_bytes, speedup.ratio))
    return tuple(slower)


def _order(speedup: Speedup) -> float:
    return speedup.low_waiting if speedup.low_waiting == speedup.low_waiting else float("-inf")
