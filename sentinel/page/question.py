"""What is asked of the API: the parameters of an address."""

from collections.abc import Collection
from typing import Final
from urllib.parse import parse_qs

__all__ = ["SPANS", "BadQuestionError", "Question"]

SPANS: Final = ("ticks", "bins")
"""`ticks`: the last hour, tick by tick. `bins`: all that is kept, in bins of five minutes."""

_MOST_CHARACTERS: Final = 200


class BadQuestionError(ValueError):
    """A parameter is missing, or not one of those that are allowed."""


class Question:
    """The parameters of one request. BadQuestionError for what cannot be read."""

    def __init__(self, query: str) -> None:
        try:
            self._fields = parse_qs(query, max_num_fields=8, keep_blank_values=True)
        except ValueError:
            raise BadQuestionError("too many parameters") from None

    def text(self, name: str) -> str:
        """A parameter that there has to be, once."""
        values = self._fields.get(name, [])
        if len(values) != 1 or not 0 < len(values[0]) <= _MOST_CHARACTERS:
            raise BadQuestionError(f"{name} has to be given, once")
        return values[0]

    def choice(self, name: str, allowed: Collection[str], default: str) -> str:
        """One of a few words."""
        value = self.text(name) if name in self._fields else default
        if value not in allowed:
            raise BadQuestionError(f"{name} is one of {', '.join(allowed)}")
        return value

    @property
    def ticks(self) -> bool:
        """Whether the parameter `span` asks for ticks."""
        return self.choice("span", SPANS, "bins") == "ticks"
