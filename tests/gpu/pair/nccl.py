"""NCCL itself, without a framework in between: what one call costs is then NCCL's own time and the plugin's."""

import ctypes
from typing import Final

ID_BYTES: Final = 128
_FLOAT32: Final = 7
_SUM: Final = 0


class _UniqueId(ctypes.Structure):
    _fields_ = (("internal", ctypes.c_char * ID_BYTES),)


class Nccl:
    """The library that PyTorch has loaded."""

    def __init__(self) -> None:
        library = ctypes.CDLL("libnccl.so.2")
        pointer, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
        library.ncclGetErrorString.restype = ctypes.c_char_p
        library.ncclGetErrorString.argtypes = (number,)
        library.ncclGetUniqueId.argtypes = (ctypes.POINTER(_UniqueId),)
        library.ncclCommInitRank.argtypes = (ctypes.POINTER(pointer), number, _UniqueId, number)
        library.ncclCommDestroy.argtypes = (pointer,)
        library.ncclAllReduce.argtypes = (pointer, pointer, size, number, number, pointer, pointer)
        self.library = library

    def check(self, result: int, call: str) -> None:
        """Raise RuntimeError where `call` gave anything but success."""
        if result:
            raise RuntimeError(f"{call}: {self.library.ncclGetErrorString(result).decode()}")

    def unique_id(self) -> bytes:
        """What a communicator's ranks have to agree on."""
        unique_id = _UniqueId()
        self.check(self.library.ncclGetUniqueId(ctypes.byref(unique_id)), "ncclGetUniqueId")
        return ctypes.string_at(ctypes.addressof(unique_id), ID_BYTES)

    def communicator(self, unique_id: bytes, ranks: int, rank: int) -> "Communicator":
        """Join the communicator of that id, on the current device; returns when every rank has."""
        handle = ctypes.c_void_p()
        given = _UniqueId.from_buffer_copy(unique_id)
        self.check(self.library.ncclCommInitRank(ctypes.byref(handle), ranks, given, rank), "ncclCommInitRank")
        return Communicator(self, handle)


class Communicator:
    """One rank of a communicator."""

    def __init__(self, nccl: Nccl, handle: ctypes.c_void_p) -> None:
        self._nccl = nccl
        self._handle = handle
        self._all_reduce = nccl.library.ncclAllReduce

    def all_reduce(self, buffer: ctypes.c_void_p, floats: int, stream: ctypes.c_void_p) -> None:
        """Enqueue the sum over all ranks of `floats` 32-bit floats at `buffer`, in place."""
        result = self._all_reduce(buffer, buffer, floats, _FLOAT32, _SUM, self._handle, stream)
        if result:
            self._nccl.check(result, "ncclAllReduce")

    def close(self) -> None:
        """Leave it; every rank has to."""
        self._nccl.check(self._nccl.library.ncclCommDestroy(self._handle), "ncclCommDestroy")
