"""Label values, checked against the metric contract and turned into codes."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from sentinel.model.vocabulary import Vocabulary

__all__ = ["INVALID", "LabelReader", "LabelSet"]

INVALID = -2
_COMM = re.compile(r"[0-9a-fA-F]{16}")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_SIZE = re.compile(r"0|[1-9][0-9]{0,19}|other")
_MAX_LENGTH = 1024

LabelSet = tuple[str, ...]
"""Names of labels, in the order of a table's columns."""


class LabelReader:
    """Checks each distinct value once: a million series share a few thousand values."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        # `algo` and `proto` may be empty, which Prometheus stores as no label at all; so may everything descriptive.
        self._rules: dict[str, Callable[[str], int]] = {
            "comm": lambda text: self._word(text, _COMM),
            "rank": _number,
            "peer": _number_or_unknown,
            "op": lambda text: self._word(text, None) if text else INVALID,
            "size": lambda text: self._word(text, _SIZE),
            "global_rank": _number_or_unknown,
            "nranks": _number_or_unknown,
            "nnodes": _number_or_unknown,
        }
        self._known: dict[str, dict[str, int]] = {}

    def columns(self, names: LabelSet) -> Callable[[Mapping[str, Any]], tuple[int, ...] | None]:
        """A function from a series' labels to one number per name, or None when a label breaks the contract."""
        readers = [(name, self._known.setdefault(name, {}), self._rules.get(name, self._any)) for name in names]

        def read(metric: Mapping[str, Any]) -> tuple[int, ...] | None:
            codes = []
            for name, known, rule in readers:
                text = metric.get(name, "")
                try:
                    code = known[text]
                except KeyError:
                    # What is refused, or stands for nothing, is not remembered: there is no end to it.
                    code = rule(text) if isinstance(text, str) and len(text) <= _MAX_LENGTH else INVALID
                    if code >= 0:
                        known[text] = code
                except TypeError:  # not text at all
                    return None
                if code == INVALID:
                    return None
                codes.append(code)
            return tuple(codes)

        return read

    def _any(self, text: str) -> int:
        return self._word(text, None)

    def _word(self, text: str, pattern: re.Pattern[str] | None) -> int:
        if pattern and not pattern.fullmatch(text):
            return INVALID
        return self._vocabulary.code(text)


def _number(text: str) -> int:
    return int(text) if _NUMBER.fullmatch(text) else INVALID


def _number_or_unknown(text: str) -> int:
    return int(text) if _NUMBER.fullmatch(text) else -1
