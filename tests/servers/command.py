"""What a command left behind."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Result:
    """Exit status, stdout, stderr."""

    status: int
    out: str
    err: str


Run = Callable[..., Result]
