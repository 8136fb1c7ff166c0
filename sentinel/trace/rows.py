"""The lines of one rank's trace file, decoded and checked."""

import lzma
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, NoReturn

import orjson

from sentinel.errors import TraceError
from sentinel.trace.field import Field, Integer

__all__ = ["Row", "Rows", "read_rows"]

Row = dict[str, Any]


@dataclass(frozen=True)
class Rows:
    """Every row of a file, in order; row i is line i + 1."""

    path: Path
    rows: list[Row]

    def column(self, places: Sequence[int], field: Field) -> list[Any]:
        """The field's value in each of the rows at `places`, None where an optional field is absent.

        TraceError names the first line on which the value is missing or not what the field allows.
        """
        rows = self.rows
        if field.optional:
            values = [rows[place].get(field.name) for place in places]
            given = [value for value in values if value is not None]
        else:
            try:
                given = values = list(map(itemgetter(field.name), map(rows.__getitem__, places)))
            except KeyError:
                self._refuse(places, field)
        # The whole column at once first: a trace has millions of values, and all of them are good.
        if type(field) is Integer and given:
            good = set(map(type, given)) == {int} and field.least <= min(given) and max(given) <= field.most
        else:
            good = all(map(field.accepts, set(given))) if _hashable(given) else False
        if not good:
            self._refuse(places, field)
        return values

    def fail(self, place: int, what: str, why: str, hint: str = "") -> NoReturn:
        """Raise a TraceError about the row at `place`."""
        raise TraceError(what, where=f"{self.path}, line {place + 1}", why=why, hint=hint)

    def _refuse(self, places: Iterable[int], field: Field) -> NoReturn:
        for place in places:
            value = self.rows[place].get(field.name)
            if value is None and field.optional:
                continue
            if value is None or not field.accepts(value):
                why = "it is missing" if field.name not in self.rows[place] else f"it is {_shown(value)}"
                self.fail(place, f"cannot use field `{field.name}`", why, f"Allowed is {field.allowed()}")
        raise AssertionError(field.name)


def read_rows(path: Path) -> Rows:
    """Read an xz file of JSON objects, one a line. TraceError when it is not that."""
    try:
        lines = lzma.decompress(path.read_bytes()).splitlines()
    except OSError as error:
        raise TraceError("cannot read a trace", where=str(path), why=error.strerror or str(error)) from error
    except lzma.LZMAError as error:
        raise TraceError(
            "cannot unpack a trace", where=str(path), why=str(error), hint="The file must be a whole .xz file"
        ) from error
    try:
        rows = orjson.loads(b"[" + b",".join(lines) + b"]")
    except orjson.JSONDecodeError:
        rows = []
    if len(rows) != len(lines) or any(type(row) is not dict for row in rows):
        rows = _read_one_by_one(path, lines)
    if not rows:
        raise TraceError("cannot use a trace", where=str(path), why="it has no lines")
    return Rows(path, rows)


def _read_one_by_one(path: Path, lines: Sequence[bytes]) -> list[Row]:
    rows = []
    for number, line in enumerate(lines, 1):
        try:
            row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise TraceError("cannot decode a row", where=f"{path}, line {number}", why=str(error)) from error
        if not isinstance(row, dict):
            raise TraceError(
                "cannot use a row",
                where=f"{path}, line {number}",
                why=f"it is {_shown(row)}",
                hint="Each line holds one JSON object",
            )
        rows.append(row)
    return rows


def _hashable(values: Sequence[Any]) -> bool:
    return not set(map(type, values)) & {list, dict}


def _shown(value: Any) -> str:
    return orjson.dumps(value).decode()[:80]
