import pytest

from sentinel.errors import TraceError
from sentinel.trace import StepRange


def test_parses_what_it_prints() -> None:
    assert StepRange(10, 100) == StepRange.parse("10:100")
    assert str(StepRange(10, 100)) == "10:100"


@pytest.mark.parametrize(
    "text", ["", "10", ":", "10:", "-1:5", "1:2:3", "a:b", "\u0661:\u0662", "1:99999999999999999999"]
)
def test_refuses_what_is_no_range(text: str) -> None:
    with pytest.raises(TraceError, match="as in 10:100"):
        StepRange.parse(text)


@pytest.mark.parametrize(
    ("steps", "why"), [(StepRange(0, 61), "60 steps"), (StepRange(5, 5), "empty"), (StepRange(-1, 5), "60 steps")]
)
def test_refuses_steps_that_are_not_there(steps: StepRange, why: str) -> None:
    with pytest.raises(TraceError, match=rf"segment x.*{why}.*LAST <= 60"):
        steps.check(60, "segment x")
