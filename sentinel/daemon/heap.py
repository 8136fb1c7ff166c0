"""The C library's heap: a tick's arrays come from it, and what is free again is given back to the machine."""

import ctypes
from typing import Final

__all__ = ["give_back", "share_heap"]

_ARENA_MAX: Final = -8  # M_ARENA_MAX of glibc's malloc.h
_LIBC: Final = ctypes.CDLL(None)


def share_heap() -> None:
    """From now on new threads have one heap together, so that what one of them freed serves the others.

    By default glibc gives threads a heap each, and each stays as large as it ever was. Other C libraries know nothing
    of it: then nothing is done.
    """
    if (mallopt := getattr(_LIBC, "mallopt", None)) is not None:
        mallopt(_ARENA_MAX, 1)


def give_back() -> None:
    """Free pages become the machine's, some 10 ms for 100 MiB; else a heap with gaps in it only grows. As above."""
    if (trim := getattr(_LIBC, "malloc_trim", None)) is not None:
        trim(ctypes.c_size_t(0))
