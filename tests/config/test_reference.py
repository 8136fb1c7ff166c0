import re
from pathlib import Path

from sentinel.config.keys import leaves
from sentinel.config.loader import load
from sentinel.config.reference import default_toml, key_table
from sentinel.config.settings import Settings

ROOT = Path(__file__).resolve().parents[2]


def test_the_shipped_file_is_what_the_models_say() -> None:
    assert (ROOT / "config" / "sentinel.toml").read_text() == default_toml(), (
        "run: python -m sentinel.config.reference toml > config/sentinel.toml"
    )


def test_the_shipped_file_changes_nothing() -> None:
    assert load(ROOT / "config" / "sentinel.toml", {}).model_dump() == Settings().model_dump()


def test_the_shipped_file_names_every_key() -> None:
    named = re.findall(r"^(?:# )?(\w+) =", default_toml(), re.MULTILINE)
    assert sorted(named) == sorted(key[-1] for key, _ in leaves(Settings))


def test_the_documented_table_is_what_the_models_say() -> None:
    assert (ROOT / "docs" / "configuration.md").read_text() == key_table(), (
        "run: python -m sentinel.config.reference markdown > docs/configuration.md"
    )


def test_every_key_is_described() -> None:
    assert [".".join(key) for key, field in leaves(Settings) if not field.description] == []
