import pytest

from sentinel.cli.output import print_table


def test_a_table_does_not_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("JOB", "NODE"), [("\x1b[2Jllama\n", "n\r1"), ("[red]x[/red]", "n2")])
    printed = capsys.readouterr().out
    assert not set(printed) & {"\x1b", "\r"}
    assert len(printed.splitlines()) == 3
    assert "[red]x[/red]" in printed
