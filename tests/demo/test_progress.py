import io
import re

from rich.console import Console

from sentinel.demo.progress import Progress


def test_plain_lines_without_a_terminal():
    output = io.StringIO()
    progress = Progress(Console(file=output, width=40))
    with progress.step("Learning [steps 10:100]") as step:
        step.detail("not shown")
    progress.say("a long line is not broken, since people copy addresses from it")

    assert re.findall(r"^\[ *\d+\.\d s\] (.+)$", output.getvalue(), re.MULTILINE) == [
        "Learning [steps 10:100]",
        "a long line is not broken, since people copy addresses from it",
    ]
    assert "\x1b" not in output.getvalue()


def test_a_terminal_sees_what_is_waited_for():
    output = io.StringIO()
    progress = Progress(Console(file=output, width=100, force_terminal=True))
    with progress.step("Learning") as step:
        step.detail("3 of 22 scrapes")
    assert "3 of 22 scrapes" in output.getvalue()
