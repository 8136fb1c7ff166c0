from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentinel.page.question import BadQuestionError, Question


def test_parameters() -> None:
    question = Question("comm=aa&span=ticks")
    assert (question.text("comm"), question.ticks, question.choice("quantity", ("a", "b"), "b")) == ("aa", True, "b")
    assert not Question("").ticks


@pytest.mark.parametrize("query", ["", "comm=", "comm=a&comm=b", "comm=" + "a" * 201])
def test_what_there_has_to_be(query: str) -> None:
    with pytest.raises(BadQuestionError, match="comm has to be given, once"):
        Question(query).text("comm")


def test_what_is_not_allowed() -> None:
    with pytest.raises(BadQuestionError, match="span is one of ticks, bins"):
        _ = Question("span=year").ticks
    with pytest.raises(BadQuestionError, match="too many"):
        Question("&".join(f"a{number}=1" for number in range(20)))


@given(st.text())
def test_any_text_is_read_or_refused(query: str) -> None:
    with suppress(BadQuestionError):
        Question(query).text("comm")
