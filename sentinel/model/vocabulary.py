"""Label values as small integers, so that series can be compared and joined as arrays."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

__all__ = ["Codes", "Vocabulary"]

Codes = npt.NDArray[np.int32]


class Vocabulary:
    """An append-only table of strings: a code, once given, never changes and is never reused.

    One is shared by all snapshots of a source, which makes codes comparable between them. Code 0 is the empty string.
    """

    def __init__(self) -> None:
        self._text: list[str] = [""]
        self._code: dict[str, int] = {"": 0}

    def __len__(self) -> int:
        return len(self._text)

    def code(self, text: str) -> int:
        """The code of `text`, which is added when it is new."""
        code = self._code.get(text)
        if code is None:
            code = self._code[text] = len(self._text)
            self._text.append(text)
        return code

    def codes(self, texts: Iterable[str]) -> Codes:
        """Codes of many strings, shape (n,)."""
        return np.fromiter((self.code(text) for text in texts), dtype=np.int32)

    def find(self, text: str) -> int | None:
        """The code of `text`, or None when it has never been seen."""
        return self._code.get(text)

    def text(self, code: int | np.integer) -> str:
        """The string behind a code. IndexError for a code that this vocabulary never gave."""
        if code < 0:
            raise IndexError(int(code))
        return self._text[int(code)]

    def texts(self, codes: Codes) -> list[str]:
        """The strings behind an array of codes, in order."""
        return [self._text[code] for code in codes.tolist()]
