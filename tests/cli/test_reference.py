from pathlib import Path

from sentinel.cli.reference import command_reference

ROOT = Path(__file__).resolve().parents[2]


def test_the_documented_commands_are_those_of_help() -> None:
    assert (ROOT / "docs" / "commands.md").read_text() == command_reference(), (
        "run: python -m sentinel.cli.reference > docs/commands.md"
    )
