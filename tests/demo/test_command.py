"""What `sentinel demo` refuses before it starts anything."""

import re
from pathlib import Path

import pytest

from sentinel.cli.demo import demo
from sentinel.demo.scenario import recorded_scenario
from sentinel.errors import SentinelError

NOWHERE = Path("/nowhere")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"scenario": "late2ms"}, "there is no scenario 'late2ms'"),
        ({"healthy": "1:2"}, "--healthy, --fault and --ops-per-step are about a trace of yours"),
        ({"trace": NOWHERE}, "--trace needs --healthy and --fault"),
        ({"trace": NOWHERE, "healthy": "1:2", "fault": "3:4"}, "No such file or directory"),
        ({"trace": NOWHERE, "healthy": "1-2", "fault": "3:4"}, "cannot read a range of steps (1-2)"),
        ({"trace": NOWHERE, "scenario": "stall2"}, "--scenario and --trace exclude each other"),
        (
            {"trace": recorded_scenario("stall2").trace_dir, "healthy": "8:29", "fault": "29:99"},
            "cannot take steps 29:99",
        ),
    ],
)
def test_wrong_usage(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    with pytest.raises(SentinelError, match=re.escape(message)) as caught:
        demo(**arguments)
    assert caught.value.exit_code == 2
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().out == ""
