"""Numbers for processes whose rank nobody tells: they stand for a node and a GPU on it, and are never shown."""

import hashlib
from collections.abc import Iterable

__all__ = ["known_ranks", "place_rank"]

_FIRST = 1 << 30  # no job has so many ranks


def place_rank(node: str, gpu: str) -> int:
    """A number for that GPU, the same in every process and after every restart; below 2^31.

    Two GPUs of different nodes may share one: places are told apart by their node as well.
    """
    digest = hashlib.sha256(f"{node}\0{gpu}".encode(errors="surrogatepass")).digest()
    return _FIRST | int.from_bytes(digest[:4], "big") >> 2


def known_ranks(ranks: Iterable[int]) -> tuple[int, ...]:
    """Those that are ranks, in their order."""
    return tuple(rank for rank in ranks if rank < _FIRST)
