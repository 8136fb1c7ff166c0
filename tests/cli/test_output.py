import pytest

from sentinel.cli.output import print_table, progress_bar


def test_a_table_does_not_move_the_cursor(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("JOB", "NODE"), [("\x1b[2Jllama\n", "n\r1"), ("[red]x[/red]", "n2")])
    printed = capsys.readouterr().out
    assert not set(printed) & {"\x1b", "\r"}
    assert len(printed.splitlines()) == 3
    assert "[red]x[/red]" in printed


def test_progress_is_lines_where_no_terminal_watches(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    with progress_bar("Learning", lambda: now[0]) as progress:
        for done in range(101):
            progress(done, 400)
            now[0] += 0.5
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.splitlines() == [
        "Learning: 4 of 400 (1%)",
        "Learning: 34 of 400 (8%)",
        "Learning: 64 of 400 (16%)",
        "Learning: 94 of 400 (24%)",
    ]
