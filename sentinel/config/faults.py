"""What is wrong with a configuration, so that a person can mend it."""

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from sentinel.config.environment import variable_name
from sentinel.config.keys import field_at, leaves
from sentinel.errors import ConfigError

__all__ = ["Layer", "explain", "without_credentials"]

# A list in a variable is parted at its commas, and so is a password with one: what stands in place of a port.
_NO_PORT = re.compile(r"(//[^/:\s]*:)(?!\d+(?:/|$))[^/\s]+")


@dataclass(frozen=True)
class Layer:
    """Values from one place. `name` is a file's path, `environment` or `--set`; `tables` are nested by section."""

    name: str
    tables: Mapping[str, Any]


def explain(error: ValidationError, model: type[BaseModel], layers: Sequence[Layer]) -> ConfigError:
    """Every fault, each on a line: where it stands, its key, its value, and what is allowed.

    `layers` are in order of precedence, the strongest first.
    """
    lines = sorted({_line(fault, model, layers) for fault in error.errors()})
    where = ", ".join(layer.name for layer in layers if layer.tables)
    count = "1 fault" if len(lines) == 1 else f"{len(lines)} faults"
    return ConfigError(f"the configuration has {count}", where=where, why="\n  " + "\n  ".join(lines))


def _line(fault: Any, model: type[BaseModel], layers: Sequence[Layer]) -> str:
    location = tuple(part for part in fault["loc"] if part != "[key]")
    holders = [layer.name for layer in layers if _holds(layer.tables, location)]
    variable = holders[:1] == ["environment"]
    inner = fault["input"]
    while variable and fault["type"] == "extra_forbidden" and isinstance(inner, dict) and inner:
        # A variable is one whole name: say it all, not only the table that does not exist.
        part, inner = next(iter(inner.items()))
        location = (*location, part)
    key = ".".join(str(part) for part in location)
    table = isinstance(inner, BaseModel | dict)
    if variable and not table:
        holders[0] = variable_name(tuple(str(part) for part in location if not isinstance(part, int)))
    # A fault between the keys of a table may have its causes in several places.
    place = f"{', '.join(holders if table else holders[:1])}: " if holders else ""
    if fault["type"] == "extra_forbidden":
        return f"{place}{key}: no such key. {_nearest(location, model, variable=variable)}"
    # A header may be a key of some service, though it should not be.
    hidden = table or "headers" in location
    shown = "" if hidden else f" = {_shown(fault['input'])!r}"
    message = fault["msg"][:1].lower() + fault["msg"][1:]
    message = message.removeprefix("value error, ")
    return f"{place}{key}{shown}: {message}{_allowed(location, model)}"


def without_credentials(text: str) -> str:
    """A text that may hold an address, fit to be shown: of what stands before the last @ only the scheme is."""
    before, at, after = text.rpartition("@")
    if not at:
        return _NO_PORT.sub(r"\1...", text)
    scheme = before[: before.find("//") + 2] if "//" in before else ""
    return f"{scheme}...@{after}"


def _shown(value: Any) -> Any:
    if isinstance(value, str):
        return without_credentials(value)
    if isinstance(value, list):
        return [_shown(each) for each in value]
    return value


def _holds(tables: Any, location: Sequence[Any]) -> bool:
    for part in location:
        if isinstance(part, int):
            return isinstance(tables, Sequence) and part < len(tables)
        if not isinstance(tables, Mapping) or part not in tables:
            return False
        tables = tables[part]
    return True


def _nearest(location: Sequence[Any], model: type[BaseModel], *, variable: bool) -> str:
    """Near misses among all keys and the tables beside this one, else what the table takes."""
    prefix, table, _ = field_at(model, location)
    siblings = [(*prefix, name) for name in table.model_fields]
    known = {_plain(key): key for key in [*siblings, *(key for key, _ in leaves(model))]}
    wanted = _plain(tuple(str(part) for part in location))
    close = [known[plain] for plain in difflib.get_close_matches(wanted, known, n=2, cutoff=0.75)]
    close = close or [key for key in known.values() if key[-1] == location[-1]][:3]
    names = [variable_name(key) if variable else ".".join(key) for key in close or siblings]
    return f"Did you mean {' or '.join(names)}?" if close else f"Allowed are {', '.join(names)}."


def _plain(key: Sequence[str]) -> str:
    return "_".join(key)


def _allowed(location: Sequence[Any], model: type[BaseModel]) -> str:
    *_, field = field_at(model, location)
    if field is None or not field.description:
        return ""
    return f" ({field.description})"
