"""A training job as far as the plugin sees one: `job.py PLUGIN LIBNCCL LIBCUDA VERSION`, then one JSON list a line.

It answers each line with one of JSON, and exits at the end of its input.
"""

import ctypes
import json
import lzma
import resource
import sys
from collections import Counter
from collections.abc import Callable
from ctypes import CFUNCTYPE, POINTER, byref, c_char_p, c_int, c_uint64, c_void_p
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from descriptor import BITS, Descriptors

KERNEL_CH_STOP = 22
LAST_STATE_BEFORE_4 = 18


class Table(ctypes.Structure):
    _fields_ = (
        ("name", c_char_p),
        ("init", c_void_p),
        ("start", CFUNCTYPE(c_int, c_void_p, POINTER(c_void_p), c_void_p)),
        ("stop", CFUNCTYPE(c_int, c_void_p)),
        ("state", CFUNCTYPE(c_int, c_void_p, c_int, POINTER(c_uint64))),
        ("finalize", CFUNCTYPE(c_int, c_void_p)),
    )


INIT_1 = CFUNCTYPE(c_int, POINTER(c_void_p), POINTER(c_int))
INIT_4 = CFUNCTYPE(c_int, POINTER(c_void_p), POINTER(c_int), c_char_p, c_uint64, c_int, c_int, c_int, c_void_p)
INIT_5 = CFUNCTYPE(c_int, POINTER(c_void_p), c_uint64, POINTER(c_int), c_char_p, c_int, c_int, c_int, c_void_p)


@dataclass
class Communicator:
    context: c_void_p
    identity: int
    name: str
    rank: int


class Job:
    """NCCL's side, with communicators told apart by their id."""

    def __init__(self, plugin: str, nccl: str, cuda: str, version: int) -> None:
        self.version = version
        self.paths = (plugin, nccl, cuda)
        self.communicators: dict[int, Communicator] = {}
        self.descriptors = Descriptors(version)
        self.sequences: Counter[int] = Counter()
        # One for all communicators; the plugin writes it whenever it likes.
        self.mask = c_int(-1)

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
        context, mask = c_void_p(), byref(self.mask)
        rest = (2, ranks, rank, self.logger)
        if self.version < 4:
            result = INIT_1(self.table.init)(byref(context), mask)
        elif self.version == 4:
            result = INIT_4(self.table.init)(byref(context), mask, name.encode(), identity, *rest)
        else:
            result = INIT_5(self.table.init)(byref(context), identity, mask, name.encode(), *rest)
        self.communicators[identity] = Communicator(context, identity, name, rank)
        return [result, self.mask.value]

    def start(self, communicator: Communicator, row: dict[str, Any], parent: c_void_p | None = None) -> c_void_p:
        """The handle of an event that a row of a trace describes."""
        handle = c_void_p()
        descriptor = self.descriptors.make(row, parent, communicator.name, communicator.identity)
        self.table.start(communicator.context, byref(handle), descriptor)
        return handle

    def run(self, identity: int, times: int = 1) -> None:
        """All-reduces of one channel and 40 us, each with the events that the mask asks for as it begins."""
        communicator = self.communicators[identity]
        coll = {"type": "Coll", "rank": communicator.rank, "func": "AllReduce", "count": 1024, "dtype": "ncclFloat32"}
        coll |= {"nchannels": 1, "algo": "RING", "proto": "LL"}
        kernel = {"type": "KernelCh", "rank": communicator.rank, "channel": 0, "ptimer": 1_000_000}
        for _ in range(times):
            timed = bool(self.mask.value & BITS["KernelCh"]) and self.descriptors.knows("KernelCh")
            operation = self.start(communicator, coll | {"seq": self.sequences[identity]})
            self.sequences[identity] += 1
            self.table.stop(operation)
            if timed:
                channel = self.start(communicator, kernel, operation)
                self.table.state(channel, KERNEL_CH_STOP, byref(c_uint64(1_040_000)))
                self.table.stop(channel)

    def replay(self, path: str, types: list[str] | None = None) -> int:
        """Every callback of a recorded trace that this version has, in its order and whatever the mask says.

        Of the given types alone, if any are given. A null handle gets no more callbacks. The number of callbacks.
        """
        handles: dict[int, c_void_p] = {}
        communicators: dict[int, Communicator] = {}
        calls = 0
        for line in lzma.decompress(Path(path).read_bytes()).splitlines():
            row = json.loads(line)
            if row["k"] == "init":
                identity = int(row["comm_id"], 16)
                self.init(identity, row["name"] or "", row["nranks"], row["rank"])
                communicators[row["comm"]] = self.communicators[identity]
            elif row["k"] != "finalize" and self.emits(row, types):
                calls += self.replay_event(row, handles, communicators)
        return calls

    def replay_event(
        self, row: dict[str, Any], handles: dict[int, c_void_p], communicators: dict[int, Communicator]
    ) -> bool:
        if row["k"] == "start":
            parent = handles.get(row.get("parent", 0))
            handles[row["id"]] = self.start(communicators[row["comm"]], row, parent)
        elif not handles[row["id"]]:
            return False
        elif row["k"] == "stop":
            self.table.stop(handles[row["id"]])
        else:
            value = row.get("ptimer", row.get("trans_size")) if self.version >= 4 else None
            self.table.state(handles[row["id"]], row["state"], None if value is None else byref(c_uint64(value)))
        return True

    def emits(self, row: dict[str, Any], types: list[str] | None) -> bool:
        if types is not None and row["type"] not in types:
            return False
        late = row["k"] == "state" and self.version < 4 and row["state"] > LAST_STATE_BEFORE_4
        return self.descriptors.knows(row["type"]) and not late

    def finalize(self, identity: int) -> int:
        return int(self.table.finalize(self.communicators.pop(identity).context))

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
