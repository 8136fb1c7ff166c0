# SPDX-License-Identifier: Apache-2.0
"""The service's answer: what it knows about each communicator. Every field is checked; it is somebody else's text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson

from nccl_exporter.ras.client import RasError

# ncclSuccess and ncclInProgress, which a non-blocking communicator reports while it is healthy.
_NO_ERROR: Final = (0, 7)
# Beyond any job; keeps nonsense from being stored.
_RANKS: Final = 1 << 24
_COUNT: Final = 1 << 64
# Newer versions count them among the collectives; a rank's differ from another's by what its job asks of it.
_POINT_TO_POINT: Final = frozenset({"Send", "Recv", "SendRecv"})

Identity = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RasRank:
    """A rank that answered, or did not (`missing`: the rest is not known). `pid` is -1 where RAS does not know it.

    `counts` is what was launched of each collective.
    """

    rank: int
    host: str
    pid: int
    missing: bool
    async_error: bool
    abort: bool
    counts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RasCommunicator:
    """One communicator as RAS sees it; `identity` lasts as long as it does and is not the profiler's id."""

    identity: Identity
    size: int
    ranks: Mapping[int, RasRank]


def parse(text: bytes) -> list[RasCommunicator]:
    """Raises RasError for anything that is not such an answer."""
    try:
        document = orjson.loads(text)
        communicators = [_communicator(one) for one in _list(_dict(document)["communicators"])]
    except (KeyError, TypeError, ValueError) as error:
        cut = text.rstrip()[-1:] != b"}"
        raise RasError("closed" if cut else "malformed", f"{type(error).__name__}: {error}"[:200]) from error
    return communicators


def _communicator(value: object) -> RasCommunicator:
    given = _dict(value)
    size = _number(given["size"], 1, _RANKS)
    ranks: dict[int, RasRank] = {}
    for one in _list(given["ranks"]):
        rank = _present(_dict(one), size)
        ranks[rank.rank] = rank
    for one in _list(given["missing_ranks"]):
        rank = _missing(_dict(one), size)
        ranks.setdefault(rank.rank, rank)
    return RasCommunicator((_text(given["hash"]), _text(given.get("secondary_hash", ""))), size, ranks)


def _present(given: dict[str, Any], size: int) -> RasRank:
    status = _dict(given["status"])
    return RasRank(
        rank=_number(given["rank"], 0, size - 1),
        host=_text(given["host"]),
        pid=_number(given["pid"], -1, _RANKS),
        missing=False,
        async_error=_number(status["async_error"], -(1 << 31), 1 << 31) not in _NO_ERROR,
        abort=_boolean(status["abort_flag"]),
        counts=_counts(_dict(given["collective_counts"])),
    )


def _counts(given: dict[str, Any]) -> dict[str, int]:
    counts = {_text(name): _number(count, 0, _COUNT) for name, count in given.items()}
    return {name: count for name, count in counts.items() if name not in _POINT_TO_POINT}


def _missing(given: dict[str, Any], size: int) -> RasRank:
    return RasRank(
        rank=_number(given["rank"], 0, size - 1),
        host=_text(given.get("host", "")),
        pid=_number(given.get("pid", -1), -1, _RANKS),
        missing=True,
        async_error=False,
        abort=False,
        counts={},
    )


def _dict(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TypeError("an object was expected")
    return value


def _list(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError("a list was expected")
    return value


def _number(value: object, least: int, most: int) -> int:
    if type(value) is not int or not least <= value <= most:
        raise ValueError(f"a number from {least} to {most} was expected")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or len(value) > 256:
        raise TypeError("a short string was expected")
    return value


def _boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false was expected")
    return value
