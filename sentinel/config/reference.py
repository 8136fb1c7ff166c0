"""The configuration's documentation, from the models: the commented default file and the table of keys.

`python -m sentinel.config.reference toml` prints config/sentinel.toml, `… markdown` prints docs/configuration.md.
"""

import json
import sys
import textwrap
from collections.abc import Iterator
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

from pydantic import BaseModel, ByteSize
from pydantic.fields import FieldInfo

from sentinel.config.environment import variable_name
from sentinel.config.keys import Key, leaves, section_of
from sentinel.config.loader import DEFAULT_PATH
from sentinel.config.settings import Settings
from sentinel.model.duration import format_duration

__all__ = ["default_toml", "key_table"]

_WIDTH = 100
_KINDS: dict[type, str] = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    str: "text",
    timedelta: "duration",
    Path: "path",
    ByteSize: "size",
    dict: "table",
    tuple: "list",
}
_HEAD = f"""\
# Configuration of nccl-sentinel, with its defaults: a key that is left out has the value that stands here.
# Read from {DEFAULT_PATH}, or from the file that --config names. The environment goes over it
# (SENTINEL_SCHEDULE__TICK=10s), and flags over both (--set schedule.tick=10s).
# Durations are written as 500ms, 30s, 5m, 1h30m, 7d; sizes as 512KiB, 1GiB. `sentinel check-config` checks it.
"""


_MARKDOWN_HEAD = f"""\
One TOML file: `{DEFAULT_PATH}`, or the one that `--config` names. The environment goes over the file,
`--set` over both. `config/sentinel.toml` is the file with all defaults. An unknown key, in the file or in the
environment, is refused: `sentinel check-config` says which, where, and what is allowed. SIGHUP makes the daemon read
the file again; one with faults is refused, and the old configuration stays.

Durations are written as `500ms`, `30s`, `5m`, `1h30m`, `7d`; sizes as `512KiB`, `1GiB`. In the environment a list is
written with commas, a table as JSON. Secrets are only read from files, anew at each use.
"""


def default_toml() -> str:
    """The commented default file."""
    return _HEAD + "".join(_toml_lines(Settings, ()))


def key_table() -> str:
    """docs/configuration.md."""
    lines = [
        "# Configuration",
        "",
        *_MARKDOWN_HEAD.splitlines(),
    ]
    section: Key | None = None
    for key, field in _in_sections():
        if key[:-1] != section:
            section = key[:-1]
            lines += ["", f"## [{'.'.join(section)}]", "", _doc(_model_at(section)), ""]
            lines += ["| key | kind | default | meaning | environment |", "| --- | --- | --- | --- | --- |"]
        default = f"`{_literal(field.default)}`" if field.default is not None else "unset"
        cells = (f"`{key[-1]}`", _kind(field.annotation), default, _meaning(field), f"`{variable_name(key)}`")
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def _toml_lines(model: type[BaseModel], path: Key) -> Iterator[str]:
    if path:
        yield "\n"
        yield from _comment(_doc(model))
        yield f"[{'.'.join(path)}]\n"
    tables = []
    for name, field in sorted(model.model_fields.items(), key=lambda item: _inherited(model, item[0])):
        section = section_of(field.annotation)
        if section is not None:
            tables.append((section, (*path, name)))
            continue
        yield "\n" if path else ""
        yield from _comment(_meaning(field))
        value = "" if field.default is None else f" {_literal(field.default)}"
        # A default that comes from elsewhere (json_schema_extra says whence) would be overridden by standing here.
        yield f"{'' if value and not field.json_schema_extra else '# '}{name} ={value}\n"
    for section, inner in tables:
        yield from _toml_lines(section, inner)


def _in_sections() -> list[tuple[Key, FieldInfo]]:
    """All keys, a section's together, in the order of the sections."""
    found = list(leaves(Settings))
    sections = list(dict.fromkeys(key[:-1] for key, _ in found))
    sections.sort(key=lambda section: (list(Settings.model_fields).index(section[0]), len(section)))
    return sorted(
        found, key=lambda leaf: (sections.index(leaf[0][:-1]), _inherited(_model_at(leaf[0][:-1]), leaf[0][-1]))
    )


def _inherited(model: type[BaseModel], name: str) -> bool:
    """What a section shares with others (credentials, TLS) stands behind what is its own."""
    return name not in model.__annotations__


def _comment(text: str) -> Iterator[str]:
    yield from (f"# {line}\n" for line in textwrap.wrap(text, _WIDTH, break_on_hyphens=False, break_long_words=False))


def _doc(model: type[BaseModel]) -> str:
    return (model.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")


def _meaning(field: FieldInfo) -> str:
    return field.description or ""


def _model_at(path: Key) -> type[BaseModel]:
    model: type[BaseModel] = Settings
    for name in path:
        model = section_of(model.model_fields[name].annotation) or model
    return model


def _literal(value: Any) -> str:
    """A default as TOML."""
    if isinstance(value, timedelta):
        return f'"{format_duration(value)}"'
    if isinstance(value, ByteSize):
        return f'"{value.human_readable(separator="").replace(".0", "")}"'
    if isinstance(value, Path):
        return json.dumps(str(value))
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_literal(each)}" for key, each in value.items()) + " }" if value else "{}"
    if isinstance(value, tuple):
        return json.dumps(list(value))
    return json.dumps(value)


def _kind(annotation: Any) -> str:
    if get_origin(annotation) in (Union, UnionType):
        annotation = next(each for each in get_args(annotation) if each is not type(None))
    while hasattr(annotation, "__metadata__"):  # Annotated
        annotation = get_args(annotation)[0]
    annotation = get_origin(annotation) or annotation
    if isinstance(annotation, type) and issubclass(annotation, StrEnum):
        return " or ".join(f"`{each.value}`" for each in annotation)
    return _KINDS[annotation]


if __name__ == "__main__":
    sys.stdout.write(default_toml() if sys.argv[1:] == ["toml"] else key_table())
