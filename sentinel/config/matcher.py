"""Label matchers, written and meant as Alertmanager's."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator

__all__ = ["MAX_MATCHED_CHARACTERS", "Matcher", "MatcherText", "parse_matcher"]

MAX_MATCHED_CHARACTERS = 256
"""Longer values match no pattern: what a pattern of ours takes to read must not be up to who writes the value."""

_MATCHER = re.compile(r"\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*(=~|!~|!=|=)\s*(.*?)\s*", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", '"': '"', "\\": "\\"}


@dataclass(frozen=True)
class Matcher:
    """`operator` is =, !=, =~ or !~. A label that is not there is empty; a pattern matches the whole value."""

    name: str
    operator: str
    value: str
    pattern: re.Pattern[str] | None

    def matches(self, labels: Mapping[str, str]) -> bool:
        """Whether these labels are meant. Neither =~ nor !~ takes a value of more than `MAX_MATCHED_CHARACTERS`."""
        value = labels.get(self.name, "")
        if self.pattern is None:
            return (value == self.value) == (self.operator == "=")
        if len(value) > MAX_MATCHED_CHARACTERS:
            return False
        return (self.pattern.fullmatch(value) is not None) == (self.operator == "=~")


def parse_matcher(text: str) -> Matcher:
    """From `name="value"`; quotes may be left out. ValueError says what is wrong."""
    found = _MATCHER.fullmatch(text)
    if found is None:
        raise ValueError('write a matcher as in alertname=~"Node.*": a label, one of = != =~ !~, and a value')
    name, operator, value = found.groups()
    if value.startswith('"'):
        value = _unquoted(value)
    elif '"' in value:
        raise ValueError(f"the value of {name} has a quote inside: quote all of it")
    pattern = None
    if operator in ("=~", "!~"):
        try:
            pattern = re.compile(value, re.DOTALL)
        except re.error as error:
            raise ValueError(f"not a pattern: {error}") from None
    return Matcher(name, operator, value, pattern)


def _unquoted(text: str) -> str:
    inner = text[1:-1]
    # A quote that ends the value early, or is itself escaped.
    if len(text) < 2 or not re.fullmatch(r'(?:[^"\\]|\\.)*', inner, re.DOTALL) or not text.endswith('"'):
        raise ValueError("the value's quotes do not close")
    return _ESCAPED.sub(lambda escape: _ESCAPES.get(escape[1], escape[0]), inner)


def _checked(text: str) -> str:
    parse_matcher(text)
    return text


MatcherText = Annotated[str, AfterValidator(_checked)]
"""One matcher as text that `parse_matcher` takes."""
