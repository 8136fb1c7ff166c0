"""Matchers, as Alertmanager reads them."""

import pytest

from sentinel.config.matcher import MAX_MATCHED_CHARACTERS, parse_matcher

LABELS = {"alertname": "NodeDown", "node": "n1", "empty": ""}


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ('alertname="NodeDown"', True),
        ("alertname=NodeDown", True),
        (" alertname = NodeDown ", True),
        ('alertname="Node"', False),
        ('alertname!="Node"', True),
        ('alertname=~"Node.*"', True),
        ('alertname=~"Node"', False),  # the whole value
        ('alertname=~"Node|Rack"', False),
        ('alertname!~"Node"', True),
        ('alertname!~"Node.*|Rack.*"', False),
        ('other=""', True),  # what is not there is empty
        ('other!=""', False),
        ('other=~".+"', False),
        ('other!~".+"', True),
        ("empty=", True),
        ('node=~"n1|n2"', True),
    ],
)
def test_semantics(text: str, matches: bool) -> None:
    assert parse_matcher(text).matches(LABELS) == matches


def test_escapes() -> None:
    assert parse_matcher(r'a="x\"y\\z\n"').value == 'x"y\\z\n'
    assert parse_matcher(r'a=~"n\d+"').value == r"n\d+"
    assert parse_matcher('a=~".+"').matches({"a": "two\nlines"})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "write a matcher as in"),
        ("alertname", "write a matcher as in"),
        ("1a=b", "write a matcher as in"),
        ('a="b', "quotes do not close"),
        ('a="b"c"', "quotes do not close"),
        ('a="', "quotes do not close"),
        (r'a="b\"', "quotes do not close"),
        ('a=b"c', "quote all of it"),
        ('a=~"("', "not a pattern"),
        ('a!~"*"', "not a pattern"),
    ],
)
def test_what_is_none(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_matcher(text)


def test_a_long_value_matches_no_pattern() -> None:
    for length, matches in ((MAX_MATCHED_CHARACTERS, True), (MAX_MATCHED_CHARACTERS + 1, False)):
        labels = {"a": "x" * length}
        assert parse_matcher('a=~"x+"').matches(labels) == matches
        assert parse_matcher('a!~"y"').matches(labels) == matches
        assert parse_matcher(f'a="{"x" * length}"').matches(labels)
