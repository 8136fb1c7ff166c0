"""A training job as far as the plugin sees one: `job.py PLUGIN LIBNCCL LIBCUDA VERSION`, then one JSON list a line.

It answers each line with one of JSON, and exits at the end of its input.
"""

import ctypes
import json
import lzma
import resource
import sys
from collections.abc import Callable
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int, c_size_t, c_uint8, c_uint64, c_void_p
from pathlib import Path
from typing import Any

COLL, KERNEL_CH, KERNEL_CH_STOP = 1 << 1, 1 << 6, 22


class Coll(ctypes.Structure):
    _fields_ = (
        ("seq", c_uint64),
        ("func", c_char_p),
        ("send", c_void_p),
        ("recv", c_void_p),
        ("count", c_size_t),
        ("root", c_int),
        ("datatype", c_char_p),
        ("channels", c_uint8),
        ("warps", c_uint8),
        ("algo", c_char_p),
        ("proto", c_char_p),
        ("group", c_void_p),
    )


class KernelCh(ctypes.Structure):
    _fields_ = (("channel", c_uint8), ("timer", c_uint64))


class Event(ctypes.Union):
    _fields_ = (("coll", Coll), ("kernel", KernelCh))


class Descriptor(ctypes.Structure):
    # In version 4 the type is one byte; the seven after it are padding.
    _fields_ = (("type", c_uint64), ("parent", c_void_p), ("rank", c_int), ("event", Event))


class Table(ctypes.Structure):
    _fields_ = (
        ("name", c_char_p),
        ("init", c_void_p),
        ("start", CFUNCTYPE(c_int, c_void_p, POINTER(c_void_p), POINTER(Descriptor))),
        ("stop", CFUNCTYPE(c_int, c_void_p)),
        ("state", CFUNCTYPE(c_int, c_void_p, c_int, POINTER(c_uint64))),
        ("finalize", CFUNCTYPE(c_int, c_void_p)),
    )


INIT_4 = CFUNCTYPE(c_int, POINTER(c_void_p), POINTER(c_int), c_char_p, c_uint64, c_int, c_int, c_int, c_void_p)
INIT_5 = CFUNCTYPE(c_int, POINTER(c_void_p), c_uint64, POINTER(c_int), c_char_p, c_int, c_int, c_int, c_void_p)


class Job:
    """NCCL's side, with communicators told apart by their id."""

    def __init__(self, plugin: str, nccl: str, cuda: str, version: int) -> None:
        self.version = version
        self.paths = (plugin, nccl, cuda)
        self.contexts: dict[int, c_void_p] = {}

    def load(self, with_cuda: bool = False) -> str:
        plugin, nccl, cuda = self.paths
        if with_cuda:
            ctypes.CDLL(cuda)
        self.logger = ctypes.cast(ctypes.CDLL(nccl).fakeNcclLog, c_void_p)
        self.library = ctypes.CDLL(plugin)
        self.table = Table.in_dll(self.library, f"ncclProfiler_v{self.version}")
        return bytes(self.table.name).decode()

    def limit_file_size(self, size: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    def init(self, identity: int, name: str = "world", ranks: int = 8, rank: int = 3) -> list[int]:
        context, mask = c_void_p(), c_int(-1)
        rest = (2, ranks, rank, self.logger)
        if self.version == 4:
            result = INIT_4(self.table.init)(byref(context), byref(mask), name.encode(), identity, *rest)
        else:
            result = INIT_5(self.table.init)(byref(context), identity, byref(mask), name.encode(), *rest)
        self.contexts[identity] = context
        return [result, mask.value]

    def run(self, identity: int, times: int = 1) -> None:
        context = self.contexts[identity]
        for _ in range(times):
            coll = Coll(func=b"AllReduce", count=1024, datatype=b"ncclFloat32", channels=1, algo=b"RING", proto=b"LL")
            operation, channel = c_void_p(), c_void_p()
            self.table.start(context, byref(operation), Descriptor(COLL, None, 3, Event(coll=coll)))
            self.table.stop(operation)
            kernel = Descriptor(KERNEL_CH, operation, 3, Event(kernel=KernelCh(0, 1_000_000)))
            self.table.start(context, byref(channel), kernel)
            self.table.state(channel, KERNEL_CH_STOP, byref(c_uint64(1_040_000)))
            self.table.stop(channel)

    def replay(self, path: str) -> int:
        """Every Coll and KernelCh callback of a recorded trace, in its order; the number of callbacks."""
        handles: dict[int, c_void_p] = {}
        communicators: dict[int, int] = {}
        calls = 0
        for line in lzma.decompress(Path(path).read_bytes()).splitlines():
            row = json.loads(line)
            if row["k"] == "init":
                communicators[row["comm"]] = int(row["comm_id"], 16)
                self.init(communicators[row["comm"]], row["name"] or "", row["nranks"], row["rank"])
            elif row.get("type") in {"Coll", "KernelCh"}:
                calls += 1
                if row["k"] == "stop":
                    self.table.stop(handles[row["id"]])
                elif row["k"] == "state":
                    self.table.state(handles[row["id"]], row["state"], byref(c_uint64(row["ptimer"])))
                else:
                    handle = handles[row["id"]] = c_void_p()
                    context = self.contexts[communicators[row["comm"]]]
                    self.table.start(context, byref(handle), self.descriptor(row, handles))
        return calls

    def descriptor(self, row: dict[str, Any], handles: dict[int, c_void_p]) -> Descriptor:
        parent = handles.get(row.get("parent", 0))
        if row["type"] == "KernelCh":
            return Descriptor(KERNEL_CH, parent, row["rank"], Event(kernel=KernelCh(row["channel"], row["ptimer"])))
        text = {name: row[name].encode() for name in ("func", "algo", "proto")}
        datatype = row["dtype"].encode()
        coll = Coll(seq=row["seq"], count=row["count"], datatype=datatype, channels=row["nchannels"], **text)
        return Descriptor(COLL, parent, row["rank"], Event(coll=coll))

    def finalize(self, identity: int) -> int:
        return int(self.table.finalize(self.contexts.pop(identity)))

    def unload(self) -> int:
        close = ctypes.CDLL(None).dlclose
        close.argtypes = (c_void_p,)
        return int(close(self.library._handle))


def main() -> None:
    job = Job(*sys.argv[1:4], int(sys.argv[4]))
    for line in sys.stdin:
        action, *arguments = json.loads(line)
        method: Callable[..., Any] = getattr(job, action)
        sys.stdout.write(json.dumps(method(*arguments)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
