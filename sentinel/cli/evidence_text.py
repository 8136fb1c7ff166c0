"""Evidence for people, whatever a verdict puts into it: numbers with units, ranks as ranges, lists as tables."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from sentinel.cli.cell_text import cell_text
from sentinel.model.quantity import format_quantity

__all__ = ["evidence_lines", "named_value", "table_lines"]

_MOST_ITEMS = 12  # of a list on one screen; --json has all
_CELL = ("op", "size_bytes", "algo", "proto")
_HEADERS = {
    "operations": "COUNT",
    "duration_seconds": "ITS OWN",
    "peers_duration_seconds": "PEERS'",
    "lateness_seconds": "LATE BY",
    "baseline_lateness_seconds": "NORMALLY",
    "baseline_spread_seconds": "SPREAD",
}


def evidence_lines(evidence: Mapping[str, Any], indent: str = "") -> Iterator[str]:
    """Every key in its order; what is None or empty is left out."""
    shown = list(evidence.items())[: _MOST_ITEMS if indent else None]
    for key, value in shown:
        name = key.replace("_", " ")
        if value is None or value in ("", [], {}):
            continue
        if isinstance(value, Mapping):
            yield f"{indent}{name}"
            yield from evidence_lines(value, indent + "  ")
        elif _is_table(value):
            yield f"{indent}{name}"
            yield from table_lines(value, indent + "  ")
        else:
            yield indent + ": ".join(named_value(key, value))
    if len(shown) < len(evidence):
        yield f"{indent}… and {len(evidence) - len(shown)} more (--json)"


def named_value(key: str, value: Any) -> tuple[str, str]:
    """A key and its value in words; of a list what fits on a line."""
    if isinstance(value, bool):
        return key.replace("_", " "), "yes" if value else "no"
    if isinstance(value, list | tuple):
        numbers = all(isinstance(each, int) and not isinstance(each, bool) for each in value)
        parts = _ranges(value) if numbers else [format_quantity(key, each)[1] for each in value]
        more = len(parts) - _MOST_ITEMS
        return key.replace("_", " "), ", ".join(parts[:_MOST_ITEMS]) + (f" … and {more} more (--json)" * (more > 0))
    return format_quantity(key, value)


def table_lines(rows: Sequence[Mapping[str, Any]], indent: str = "") -> Iterator[str]:
    """A row each, a column for every key that any of them has; what names a cell is one column."""
    shown = rows[:_MOST_ITEMS]
    keys = list(dict.fromkeys(key for row in shown for key in row))
    cells = "op" in keys
    keys = [key for key in keys if not (cells and key in _CELL)]
    table = [["CELL"] * cells + [_HEADERS.get(key, named_value(key, _first(shown, key))[0].upper()) for key in keys]]
    for row in shown:
        cell = [cell_text(*(str(row.get(name) or "") for name in _CELL))] * cells
        table.append(cell + [_entry(key, row.get(key)) for key in keys])
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    for line in table:
        yield indent + "  ".join(f"{text:<{width}}" for text, width in zip(line, widths, strict=True)).rstrip()
    if len(shown) < len(rows):
        yield f"{indent}… and {len(rows) - len(shown)} more (--json)"


def _entry(key: str, value: Any) -> str:
    return "-" if value is None else named_value(key, value)[1]


def _first(rows: Sequence[Mapping[str, Any]], key: str) -> Any:
    return next((row[key] for row in rows if row.get(key) is not None), None)


def _is_table(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(each, Mapping) for each in value)


def _ranges(numbers: Sequence[int]) -> list[str]:
    """`[0, 1, 2, 5]` as `0-2` and `5`; of numbers that do not grow, each."""
    if not numbers or any(later <= earlier for earlier, later in pairwise(numbers)):
        return [str(number) for number in numbers]
    starts = [0, *(place for place in range(1, len(numbers)) if numbers[place] != numbers[place - 1] + 1)]
    runs = [numbers[start:end] for start, end in zip(starts, [*starts[1:], len(numbers)], strict=True)]
    return [str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
