"""NCCL's bus bandwidth: what the hardware's slowest link carries, whatever the number of ranks."""

__all__ = ["bus_bytes"]

# By what the size of the whole operation is multiplied, for n ranks: "Performance reported by NCCL tests",
# https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md. Of AllGather and ReduceScatter, whose counts are
# per rank, and of AlltoAll, whose count is per pair, the whole is n times the message that NCCL is given.
_PER_RANK = ("AllGather", "ReduceScatter", "AlltoAll", "AllToAll")
_ALL_FROM_ONE = ("Broadcast", "Reduce", "Send", "Recv")


def bus_bytes(op: str, message_bytes: float, ranks: int) -> float | None:
    """Bytes whose quotient by the duration is the bus bandwidth; None where NCCL defines none for `op`.

    `message_bytes` is count × size of the datatype as NCCL is given it on one rank.
    """
    if ranks < 2:
        return None
    if op == "AllReduce":
        return message_bytes * 2 * (ranks - 1) / ranks
    if op in _PER_RANK:
        return message_bytes * ranks * (ranks - 1) / ranks
    return message_bytes if op in _ALL_FROM_ONE else None
