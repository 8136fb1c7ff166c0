"""What a terminal sends, as keys."""

import re
from enum import Enum, auto
from typing import Final

__all__ = ["Key", "KeyDecoder"]


class Key(Enum):
    """Those that mean something here."""

    UP = auto()
    DOWN = auto()
    PAGE_UP = auto()
    PAGE_DOWN = auto()
    HOME = auto()
    END = auto()
    OPEN = auto()
    BACK = auto()
    ORDER = auto()
    HELP = auto()
    QUIT = auto()


_LETTERS: Final = {
    ord("k"): Key.UP,
    ord("j"): Key.DOWN,
    ord("g"): Key.HOME,
    ord("G"): Key.END,
    ord("l"): Key.OPEN,
    ord("\r"): Key.OPEN,
    ord("\n"): Key.OPEN,
    ord("h"): Key.BACK,
    0x7F: Key.BACK,
    0x08: Key.BACK,
    ord("s"): Key.ORDER,
    ord("?"): Key.HELP,
    ord("q"): Key.QUIT,
    ord("Q"): Key.QUIT,
    ord(" "): Key.PAGE_DOWN,
    0x06: Key.PAGE_DOWN,  # Ctrl-F
    0x02: Key.PAGE_UP,  # Ctrl-B
}
# By the last byte of a control sequence, then by the number of one that ends with ~.
_FINALS: Final = {
    b"A": Key.UP,
    b"B": Key.DOWN,
    b"C": Key.OPEN,
    b"D": Key.BACK,
    b"H": Key.HOME,
    b"F": Key.END,
    b"M": Key.OPEN,  # Enter of the number pad
}
_NUMBERS: Final = {
    b"1": Key.HOME,
    b"7": Key.HOME,
    b"4": Key.END,
    b"8": Key.END,
    b"5": Key.PAGE_UP,
    b"6": Key.PAGE_DOWN,
}
_SEQUENCE: Final = re.compile(rb"\x1b(?:\[([0-?]*)[ -/]*([@-~])|O()([@-~]))")
_BEGUN: Final = re.compile(rb"\x1b(?:\[[0-?]{0,32}[ -/]{0,4}|O)?\Z")
_ESCAPE: Final = 0x1B


class KeyDecoder:
    """Bytes in, in whatever pieces they come; keys out. What means nothing here is passed over.

    Esc is also how the other keys begin: `pending` says that it is not known yet which it is.
    """

    def __init__(self) -> None:
        self._rest = b""

    @property
    def pending(self) -> bool:
        """Whether a key has begun."""
        return bool(self._rest)

    def feed(self, data: bytes) -> list[Key]:
        """The keys that are complete."""
        text, self._rest = self._rest + data, b""
        found: list[Key | None] = []
        at = 0
        while at < len(text):
            if text[at] != _ESCAPE:
                found.append(_LETTERS.get(text[at]))
                at += 1
            elif sequence := _SEQUENCE.match(text, at):
                found.append(_sequence_key(sequence))
                at = sequence.end()
            elif _BEGUN.match(text, at):
                self._rest = text[at:]
                break
            else:
                found.append(Key.BACK)
                at += 1
        return [key for key in found if key is not None]

    def settle(self) -> list[Key]:
        """Nothing more came for a while: Esc it was; the rest of a sequence is noise."""
        alone, self._rest = self._rest == b"\x1b", b""
        return [Key.BACK] if alone else []


def _sequence_key(sequence: re.Match[bytes]) -> Key | None:
    numbers, final = sequence[1] or b"", sequence[2] or sequence[4]
    if final == b"~":
        return _NUMBERS.get(numbers.partition(b";")[0])
    # With Ctrl or Alt the numbers say so; mouse reports, which nobody asked for, begin otherwise.
    return None if numbers.startswith((b"<", b"=", b">", b"?")) else _FINALS.get(final)
