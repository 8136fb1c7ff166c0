import io

from rich.console import Console

from sentinel.demo.report import print_alerts

LINK = "http://127.0.0.1:9090/graph?g0.expr=" + "x" * 200
ALERT = {
    "status": "firing",
    "labels": {"alertname": "NcclRankLate", "rank": "3", "tier": "P1"},
    "annotations": {"summary": "Rank 3 [of 8] is late"},
    "startsAt": "2026-11-29T20:00:00Z",
    "endsAt": "0001-01-01T00:00:00Z",
    "generatorURL": LINK,
    "fingerprint": "1f",
}


def printed(alerts):
    output = io.StringIO()
    print_alerts(Console(file=output, width=60), alerts)
    return output.getvalue()


def test_shows_everything_that_was_delivered():
    text = printed([ALERT])
    assert text.startswith("NcclRankLate\n")
    assert "rank           3\n" in text
    assert "tier           P1\n" in text
    assert "summary        Rank 3 [of 8] is late\n" in text
    assert "startsAt       2026-11-29T20:00:00Z\n" in text
    assert "resolved       not yet\n" in text


def test_does_not_break_a_link():
    assert LINK in printed([ALERT])


def test_an_alert_and_its_resolution_are_shown_as_one():
    text = printed([ALERT, ALERT, ALERT | {"status": "resolved", "endsAt": "2026-11-29T20:01:00Z"}])
    assert text.count("NcclRankLate") == 1
    assert "resolved       2026-11-29T20:01:00Z\n" in text
