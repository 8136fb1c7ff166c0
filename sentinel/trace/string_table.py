"""The distinct strings of a trace as small numbers."""

from collections.abc import Iterable

__all__ = ["StringTable"]


class StringTable:
    """An append-only table; place 0 is the empty string, which also stands for an absent one."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {"": 0}

    def code(self, text: str | None) -> int:
        """The place of `text`, which is added when it is new."""
        return self._places.setdefault(text or "", len(self._places))

    def codes(self, texts: Iterable[str | None]) -> list[int]:
        """The places of many."""
        return list(map(self.code, texts))

    def texts(self) -> list[str]:
        """Every string, by place."""
        return list(self._places)
