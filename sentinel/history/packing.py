"""What a column measured, as bytes of a file."""

import numpy as np

from sentinel.history.column import RankMeans

__all__ = ["packed", "unpacked"]


def packed(means: RankMeans) -> bytes:
    """Ranks as little-endian int32, then lateness and duration as float32."""
    parts = (means.ranks.astype("<i4"), means.lateness_seconds.astype("<f4"), means.duration_seconds.astype("<f4"))
    return b"".join(part.tobytes() for part in parts)


def unpacked(data: object, before: RankMeans | None = None) -> RankMeans | None:
    """None for what was not packed so. Ranks that are those of `before` are the same array: kept once."""
    if not isinstance(data, bytes) or len(data) % 12:
        return None
    third = len(data) // 3
    ranks = np.frombuffer(data, "<i4", third // 4).astype(np.int32)
    if before is not None and np.array_equal(before.ranks, ranks):
        ranks = before.ranks
    elif np.any(np.diff(ranks) <= 0):
        return None
    late, duration = (np.frombuffer(data, "<f4", third // 4, offset=part * third).astype(np.float32) for part in (1, 2))
    return RankMeans(ranks, late, duration)
