"""What the demo makes of the alerts that came; that they come is shown by test_demo."""

import pytest

from sentinel.demo.course import judge
from sentinel.demo.scenario import recorded_scenario

LATE = {"alertname": "NcclRankLate", "rank": "3", "tier": "P1"}
STALLED = {"alertname": "NcclCommunicatorStalled", "rank": "2", "tier": "P0"}


def alerts(*labels):
    return [
        {"status": status, "labels": each, "fingerprint": each["rank"]}
        for status in ("firing", "resolved")
        for each in labels
    ]


@pytest.mark.parametrize(("scenario", "labels"), [("late1ms", LATE), ("stall2", STALLED)])
def test_the_right_alert(scenario, labels):
    outcome = judge(recorded_scenario(scenario), alerts(labels), resolved=True)
    assert outcome.as_expected is True


@pytest.mark.parametrize(
    ("scenario", "labels"),
    [
        ("late1ms", [LATE | {"rank": "4"}]),
        ("late1ms", [LATE, LATE | {"rank": "4"}]),
        ("late1ms", [STALLED | {"rank": "3"}]),
        ("stall2", [STALLED | {"tier": "P1"}]),
        ("stall2", [STALLED, LATE]),
    ],
)
def test_another_alert_is_not_what_was_expected(scenario, labels):
    outcome = judge(recorded_scenario(scenario), alerts(*labels), resolved=True)
    assert outcome.as_expected is False
    assert labels[-1]["alertname"] in outcome.summary


def test_an_alert_that_is_not_resolved_is_not_what_was_expected():
    outcome = judge(recorded_scenario("late1ms"), alerts(LATE)[:1], resolved=False)
    assert outcome.as_expected is False
    assert "not resolved" in outcome.summary
