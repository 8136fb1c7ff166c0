"""Measured stretches as bytes, and back: exact inverses."""

import numpy as np
import orjson

from sentinel.baseline.measured import CellName, CellPart, SeenCommunicator, StretchHead, Values
from sentinel.measure.membership import Member
from sentinel.model.vocabulary import Codes

__all__ = [
    "HeadReader",
    "head_to_bytes",
    "name_from_bytes",
    "name_to_bytes",
    "part_from_bytes",
    "part_to_bytes",
    "rank_bytes",
    "values_from_bytes",
    "values_to_bytes",
]

_RANK, _OPERATIONS, _VALUE = np.dtype("<i4"), np.dtype("<f8"), np.dtype("<f4")


def head_to_bytes(head: StretchHead) -> bytes:
    """JSON, with each communicator as a text of its own: from stretch to stretch most are the same."""
    communicators = [
        orjson.dumps(
            [
                *(each.comm, each.job_id, each.comm_name, each.nranks, each.nnodes),
                [[one.rank, one.global_rank, one.node, one.gpu, one.gpu_uuid] for one in each.members],
            ]
        ).decode()
        for each in head.communicators
    ]
    return orjson.dumps([head.windows, head.has_series, head.is_counted, head.lengths_seconds, communicators])


class HeadReader:
    """Reads the heads of many stretches; what is the same in several is kept once."""

    def __init__(self) -> None:
        self._known: dict[str, SeenCommunicator] = {}

    def read(self, data: bytes) -> StretchHead:
        """What `head_to_bytes` wrote."""
        windows, has_series, is_counted, lengths, communicators = orjson.loads(data)
        return StretchHead(windows, has_series, is_counted, tuple(lengths), tuple(map(self._read, communicators)))

    def _read(self, text: str) -> SeenCommunicator:
        if text not in self._known:
            comm, job_id, comm_name, nranks, nnodes, members = orjson.loads(text)
            people = tuple(Member(*each) for each in members)
            self._known[text] = SeenCommunicator(comm, job_id, comm_name, nranks, nnodes, people)
        return self._known[text]


def name_to_bytes(name: CellName) -> bytes:
    """JSON."""
    return orjson.dumps(list(name))


def name_from_bytes(data: bytes) -> CellName:
    """What `name_to_bytes` wrote."""
    return CellName(*orjson.loads(data))


def part_to_bytes(part: CellPart) -> bytes:
    """Operations, then ranks."""
    return part.operations.astype(_OPERATIONS).tobytes() + part.ranks.astype(_RANK).tobytes()


def part_from_bytes(data: bytes) -> CellPart:
    """What `part_to_bytes` wrote."""
    count = len(data) // (_OPERATIONS.itemsize + _RANK.itemsize)
    operations = np.frombuffer(data, _OPERATIONS, count)
    ranks: Codes = np.frombuffer(data, _RANK, offset=operations.nbytes).astype(np.int32)
    return CellPart(ranks, operations)


def values_to_bytes(values: Values) -> bytes:
    """Rank after rank."""
    return values.astype(_VALUE).tobytes()


def values_from_bytes(data: bytes, windows: int) -> Values:
    """What `values_to_bytes` wrote, or some whole ranks of it."""
    return np.frombuffer(data, _VALUE).reshape(-1, 3, windows)


def rank_bytes(windows: int) -> int:
    """How long one rank's values are."""
    return 3 * windows * _VALUE.itemsize
