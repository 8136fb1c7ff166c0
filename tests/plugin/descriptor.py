"""Event descriptors of every version of NCCL's interface: bytes where the recorded layout has the fields."""

import ctypes
import json
import os
import struct
from collections.abc import Mapping
from ctypes import c_void_p
from pathlib import Path
from typing import Any

LAYOUT = json.loads((Path(__file__).parent / "abi_layout.json").read_text())
_TYPES = "Group Coll P2p ProxyOp ProxyStep ProxyCtrl KernelCh NetPlugin GroupApi CollApi P2pApi KernelLaunch CeColl"
BITS = {name: 1 << place for place, name in enumerate(_TYPES.split())}
# Version 1 has numbers for these names.
FUNCTIONS = ("Broadcast", "Reduce", "AllGather", "ReduceScatter", "AllReduce", "SendRecv", "Send", "Recv")
FORMATS = {1: "B", 4: "i", 8: "Q"}

# What a trace calls the fields, by type.
_OPERATION = {"func": "func", "count": "count", "dtype": "datatype", "nchannels": "nChannels"}
_API = {"func": "func", "count": "count", "dtype": "datatype", "graph_captured": "graphCaptured"}
_PROXY = {"channel": "channelId", "peer": "peer", "nsteps": "nSteps", "chunk": "chunkSize", "is_send": "isSend"}
ROWS = {
    "Coll": {
        **_OPERATION,
        "nchannels_before_4": "nMaxChannels",
        "seq": "seqNumber",
        "root": "root",
        "nwarps": "nWarps",
        "algo": "algo",
        "proto": "proto",
    },
    "P2p": {**_OPERATION, "peer": "peer"},
    "GroupApi": {"graph_captured": "graphCaptured", "group_depth": "groupDepth"},
    "CollApi": {**_API, "root": "root"},
    "P2pApi": _API,
    "KernelCh": {"channel": "channelId", "ptimer": "pTimer"},
    "ProxyOp": {**_PROXY, "pid": "pid"},
    "ProxyStep": {"step": "step"},
    "CeColl": {"func": "func", "count": "count", "dtype": "datatype", "seq": "seqNumber"},
}


class Descriptors:
    """Makes descriptors of one version; a text lives as long as the maker."""

    def __init__(self, version: int) -> None:
        self.version = version
        layout = LAYOUT[f"v{version}"]
        self.size: int = layout["sizeof_descriptor"]
        self.fields: dict[str, tuple[int, int]] = layout["fields"]
        self.texts: dict[str, ctypes.Array[ctypes.c_char]] = {}

    def knows(self, event_type: str) -> bool:
        """Whether events of this type exist in the version: below 3 there are no channels, below 5 no API calls."""
        least = {"KernelCh": 3, "GroupApi": 5, "CollApi": 5, "P2pApi": 5, "KernelLaunch": 5, "CeColl": 6}
        return self.version >= least.get(event_type, 1)

    def make(self, row: Mapping[str, Any], parent: c_void_p | None, name: str, identity: int) -> Any:
        """The descriptor of a `start` row of a trace; `name` and `identity` are those of its communicator."""
        event_type = row["type"]
        data = ctypes.create_string_buffer(self.size)
        self._put(data, "type", BITS[event_type])
        self._put(data, "parentObj", (parent and parent.value) or 0)
        self._put(data, "rank", row["rank"])
        values = dict(row)
        if "nchannels" in row:
            values["nchannels_before_4"] = row["nchannels"]
        if event_type == "ProxyOp":
            values["pid"] = os.getpid() if row["pid_is_self"] else 1
        prefix = event_type[0].lower() + event_type[1:]
        for column, field in ROWS.get(event_type, {}).items():
            if values.get(column) is not None:
                self._put(data, f"{prefix}.{field}", values[column])
        self._put(data, f"{prefix}.name", name)
        self._put(data, f"{prefix}.commHash", identity)
        return data

    def _put(self, data: Any, field: str, value: int | str) -> None:
        """Nothing where the version has no such field."""
        if field not in self.fields:
            return
        offset, size = self.fields[field]
        if isinstance(value, str):
            value = self._text(value, size)
        struct.pack_into(f"<{FORMATS[size]}", data, offset, value)

    def _text(self, text: str, size: int) -> int:
        if size == 1:  # a number; only functions matter to the plugin
            return FUNCTIONS.index(text) if text in FUNCTIONS else 0
        if text not in self.texts:
            self.texts[text] = ctypes.create_string_buffer(text.encode())
        return ctypes.addressof(self.texts[text])
