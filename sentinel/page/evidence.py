"""Evidence in words: numbers with units, and what is a list of things as a table."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeGuard

from sentinel.model.place_rank import known_ranks
from sentinel.model.quantity import format_quantity

__all__ = ["evidence_parts", "victim_ranks"]

_MOST_ITEMS: Final = 64  # of a list, or of a table's rows
_MOST_DEPTH: Final = 4


def evidence_parts(evidence: Mapping[str, Any]) -> list[dict[str, Any]]:
    """In its order: `name` with `value`, or a table with `columns` and `rows`. All are text; what is empty is left out.

    What is in a mapping has its name before its own. Numbers that stand for places are no ranks, and left out as well.
    """
    return list(_parts(evidence, "", _MOST_DEPTH))


def victim_ranks(evidence: Mapping[str, Any]) -> list[int]:
    """Who waits in a stall, or is late because of a late rank, as far as it is named."""
    because = evidence.get("late_because_of_it")
    named = because.get("first_ranks") if isinstance(because, Mapping) else evidence.get("waiting_ranks")
    return list(known_ranks(named)) if _are_numbers(named) else []


def _parts(evidence: Mapping[str, Any], prefix: str, depth: int) -> Iterator[dict[str, Any]]:
    for key, value in list(evidence.items())[: 4 * _MOST_ITEMS]:
        name, value = f"{prefix}{key}", _told(key, value)
        if value is None or value in ("", [], {}):
            continue
        if isinstance(value, Mapping) and depth:
            yield from _parts(value, f"{key.replace('_', ' ')}: ", depth - 1)
        elif isinstance(value, list | tuple) and all(isinstance(each, Mapping) for each in value):
            yield _table(name.replace("_", " "), value)
        else:
            words, text = _worded(key, value)
            yield {"name": prefix + words, "value": text}


def _table(name: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    keys = list(dict.fromkeys(key for row in rows[:_MOST_ITEMS] for key in row))
    columns = [next((_worded(key, row[key])[0] for row in rows if row.get(key) is not None), key) for key in keys]
    cells = [[(key, _told(key, row.get(key))) for key in keys] for row in rows[:_MOST_ITEMS]]
    body = [["–" if value is None else _worded(key, value)[1] for key, value in row] for row in cells]
    return {"name": name, "columns": columns, "rows": body, "left_out": max(0, len(rows) - _MOST_ITEMS)}


def _told(key: str, value: Any) -> Any:
    if key.endswith("ranks") and _are_numbers(value):
        return list(known_ranks(value))
    if key.endswith("rank") and isinstance(value, int) and not known_ranks((value,)):
        return None
    return value


def _are_numbers(value: Any) -> TypeGuard[Sequence[int]]:
    return isinstance(value, list | tuple) and all(isinstance(each, int) for each in value)


def _worded(key: str, value: Any) -> tuple[str, str]:
    if isinstance(value, bool):
        return key.replace("_", " "), "yes" if value else "no"
    if isinstance(value, list | tuple):
        more = len(value) - _MOST_ITEMS
        text = ", ".join(format_quantity(key, each)[1] for each in value[:_MOST_ITEMS])
        return format_quantity(key, value[0])[0] if value else key, text + (f" … and {more} more" if more > 0 else "")
    return format_quantity(key, value)
