"""Who a communicator's block says it is, and what its rows say they count; nothing of it is believed unchecked."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from nccl_exporter import layout, text
from nccl_exporter.layout import OperationKind
from nccl_exporter.model import Key

_HIGHEST_GPU: Final = 4095
OTHER: Final = "other"

SIZES: Final = {
    layout.SIZE_OTHER: OTHER,
    layout.SIZE_EMPTY: "0",
    **{power: str(1 << power) for power in range(64)},
}
# The contract's words for layout.DIRECTIONS.
DIRECTIONS: Final = ("send", "recv")

NameOf = Callable[[int], str | None]


class RowError(Exception):
    """A row that says what cannot be; its argument is one of catalogue.ROW_REASONS."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The facts in a communicator's block; nranks and nnodes are 0 and gpu is -1 where they are not known."""

    id: int
    rank: int
    nranks: int
    nnodes: int
    name: str
    gpu: int
    gpu_uuid: str
    opened_unix_ns: int


def identify(head: Any) -> Identity | None:
    """What a record of layout.HEAD says; None when it cannot be true."""
    rank, nranks, nnodes, gpu = (int(head[field]) for field in ("rank", "nranks", "nnodes", "gpu"))
    name, gpu_uuid = text.label(head["name"].tobytes()), text.label(head["gpu_uuid"].tobytes())
    if name is None or gpu_uuid is None or not -1 <= gpu <= _HIGHEST_GPU:
        return None
    if rank < 0 or nranks < 0 or nnodes < 0 or (nranks > 0 and (rank >= nranks or nnodes > nranks)):
        return None
    return Identity(int(head["id"]), rank, nranks, nnodes, name, gpu, gpu_uuid, int(head["opened_unix_ns"]))


def operation(row: Any, name_of: NameOf) -> tuple[str, OperationKind]:
    """Name and kind of a row of layout.OPERATION. Raises RowError."""
    if int(row["kind"]) > max(OperationKind):
        raise RowError("kind")
    return _name(int(row["name"]), name_of), OperationKind(int(row["kind"]))


def cell(row: Any, name_of: NameOf) -> Key:
    """op, size, algo and proto of a row of layout.CELL. Raises RowError."""
    op, algo, proto = (_name(int(row[field]), name_of) for field in ("operation", "algorithm", "protocol"))
    return op, _size(int(row["size_log2"])), algo, proto


def peer(row: Any, name_of: NameOf, nranks: int) -> Key:
    """op, peer and size of a row of layout.PEER. Raises RowError."""
    return _name(int(row["operation"]), name_of), _peer(int(row["peer"]), nranks), _size(int(row["size_log2"]))


def link(row: Any, nranks: int) -> Key:
    """Peer and direction of a row of layout.LINK. Raises RowError."""
    if int(row["direction"]) >= len(DIRECTIONS):
        raise RowError("direction")
    return _peer(int(row["peer"]), nranks), DIRECTIONS[int(row["direction"])]


def channel(row: int) -> Key:
    """Channel and transport of a row of rows.ChannelRows."""
    number, transport = divmod(row, len(layout.TRANSPORTS))
    return str(number), layout.TRANSPORTS[transport]


def _name(index: int, name_of: NameOf) -> str:
    name = name_of(index)
    if name is None:
        raise RowError("name")
    return name


def _size(power: int) -> str:
    size = SIZES.get(power)
    if size is None:
        raise RowError("size")
    return size


def _peer(rank: int, nranks: int) -> str:
    if rank == layout.PEER_OTHER:
        return OTHER
    if rank < 0 or (nranks > 0 and rank >= nranks):
        raise RowError("peer")
    return str(rank)
