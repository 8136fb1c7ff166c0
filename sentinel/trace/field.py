"""Which fields each row of a trace has, and what they may hold."""

from dataclasses import dataclass
from typing import Any

from sentinel.trace.event import EventFlag, EventKind, EventType

__all__ = ["COMMON", "FINALIZE", "INIT", "ROWS", "Field", "Integer", "Switch", "Text"]


@dataclass(frozen=True)
class Field:
    """A named value of a row. Optional fields may be absent or null."""

    name: str
    column: str = ""
    optional: bool = False

    def allowed(self) -> str:
        """What the field may hold, for people."""
        raise NotImplementedError

    def accepts(self, value: Any) -> bool:
        """Whether `value` is one of those."""
        raise NotImplementedError


@dataclass(frozen=True)
class Integer(Field):
    """A whole number from `least` to `most`."""

    least: int = 0
    most: int = 2**63 - 1

    def allowed(self) -> str:
        """The interval."""
        return f"a whole number from {self.least} to {self.most}"

    def accepts(self, value: Any) -> bool:
        """Whether it lies in the interval (true and false are not numbers)."""
        return type(value) is int and self.least <= value <= self.most


@dataclass(frozen=True)
class Text(Field):
    """A short string."""

    def allowed(self) -> str:
        """The length."""
        return "a string of 1 to 127 characters"

    def accepts(self, value: Any) -> bool:
        """Whether it is one, without NUL characters (it becomes a C string)."""
        return isinstance(value, str) and 0 < len(value) < 128 and "\0" not in value


@dataclass(frozen=True)
class Switch(Field):
    """True or false, also written 1 or 0."""

    flag: EventFlag = EventFlag.GRAPH_CAPTURED

    def allowed(self) -> str:
        """The two values."""
        return "true or false"

    def accepts(self, value: Any) -> bool:
        """Whether it is one of the two."""
        return value in (True, False) and isinstance(value, int)


_INT32 = 2**31 - 1
COMMON: tuple[Field, ...] = (Integer("t"), Integer("tid", most=_INT32))
INIT: tuple[Field, ...] = (
    *COMMON,
    Integer("comm", most=255),
    Text("comm_id"),
    Integer("rank", most=_INT32),
    Integer("nranks", least=1, most=_INT32),
    Integer("nnodes", least=1, most=_INT32),
    Text("name", optional=True),
)
FINALIZE: tuple[Field, ...] = (*COMMON, Integer("comm", most=255))

_CAPTURED = Switch("graph_captured", optional=True)
_START: tuple[Field, ...] = (
    Integer("id", least=1),
    Integer("comm", "communicator", most=255),
    Integer("rank", "rank", least=-1, most=_INT32),
    Integer("parent", optional=True),
)
_MESSAGE: tuple[Field, ...] = (Text("func", "func"), Integer("count", "value"))
_OPERATION: tuple[Field, ...] = (*_MESSAGE, Text("dtype", "dtype"), Integer("nchannels", "channels", most=255))
_API: tuple[Field, ...] = (*_MESSAGE, Text("dtype", "dtype", optional=True), _CAPTURED)
_STARTS: dict[EventType, tuple[Field, ...]] = {
    EventType.Group: (),
    EventType.Coll: (
        *_OPERATION,
        Integer("seq", "order", most=2**32 - 1),
        Integer("root", "number", least=-1, most=_INT32),
        Integer("nwarps", "warps", most=255),
        Text("algo", "algo"),
        Text("proto", "proto"),
    ),
    EventType.P2p: (*_OPERATION, Integer("peer", "number", least=-1, most=_INT32)),
    EventType.ProxyOp: (
        Integer("channel", "channels", most=255),
        Integer("peer", "number", least=-1, most=_INT32),
        Integer("nsteps", "extra", most=_INT32),
        Integer("chunk", "value", most=_INT32),
        Switch("is_send", flag=EventFlag.SEND),
        Switch("pid_is_self", flag=EventFlag.OWN_PROCESS),
    ),
    EventType.ProxyStep: (Integer("step", "number", least=-1, most=_INT32),),
    EventType.ProxyCtrl: (),
    EventType.KernelCh: (Integer("channel", "channels", most=255), Integer("ptimer", "value")),
    EventType.GroupApi: (_CAPTURED, Integer("group_depth", "number", optional=True, most=_INT32)),
    EventType.CollApi: (*_API, Integer("root", "number", optional=True, least=-1, most=_INT32)),
    EventType.P2pApi: _API,
    EventType.KernelLaunch: (),
}
_STATE_VALUES = {EventType.KernelCh: "ptimer", EventType.ProxyStep: "trans_size", EventType.ProxyCtrl: "appended"}


def _fields(kind: EventKind, event_type: EventType) -> tuple[Field, ...]:
    if kind is EventKind.start:
        return (*COMMON, *_START, *_STARTS[event_type])
    handle: tuple[Field, ...] = (*COMMON, Integer("id", least=1))
    if kind is EventKind.stop:
        return handle
    state = (*handle, Integer("state", "number", most=_INT32))
    value = _STATE_VALUES.get(event_type)
    return (*state, Integer(value, "value", optional=True)) if value else state


ROWS: dict[tuple[str, str], tuple[EventKind, EventType, tuple[Field, ...]]] = {
    (kind.name, event_type.name): (kind, event_type, _fields(kind, event_type))
    for kind in EventKind
    for event_type in EventType
}
