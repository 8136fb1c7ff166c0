"""How long the messages of a size class are, where only the bytes of all classes together are counted."""

from collections.abc import Mapping

__all__ = ["class_bounds", "mean_message_bytes"]

_SLACK = 1e-3  # scrapes of ranks are of slightly different moments


def class_bounds(size: int) -> tuple[float, float]:
    """Shortest and longest message of the class `size`: from that power of two to the next."""
    return float(size), float(max(2 * size - 1, 0))


def mean_message_bytes(operations: Mapping[int, float], total_bytes: float) -> dict[int, tuple[float, float]]:
    """Bounds of the mean message of each class, from operations by class and the bytes of all of them.

    Each class lies within its bounds, and all together give the total; so the others, as long as they can be, leave
    the least to a class, and as short as they can be, the most. Where that contradicts itself the class's own bounds
    are all that is known.
    """
    bounds = {size: class_bounds(size) for size in operations}
    least = sum(count * bounds[size][0] for size, count in operations.items())
    most = sum(count * bounds[size][1] for size, count in operations.items())
    if not least * (1 - _SLACK) <= total_bytes <= most * (1 + _SLACK):
        return bounds
    total = min(max(total_bytes, least), most)
    means = {}
    for size, count in operations.items():
        low, high = bounds[size]
        if count > 0:
            low = max(low, (total - (most - count * high)) / count)
            high = min(high, (total - (least - count * bounds[size][0])) / count)
        means[size] = (low, max(low, high))
    return means
