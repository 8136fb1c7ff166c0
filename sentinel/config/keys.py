"""The keys that the models know, by their path."""

from collections.abc import Iterator, Sequence
from typing import Any, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

__all__ = ["Key", "field_at", "leaves", "section_of"]

Key = tuple[str, ...]


def section_of(annotation: Any) -> type[BaseModel] | None:
    """The model behind a field that is a table of its own, else None."""
    return annotation if isinstance(annotation, type) and issubclass(annotation, BaseModel) else None


def _element_of(annotation: Any) -> type[BaseModel] | None:
    """The model of each table in a field that is a list of tables, else None."""
    return section_of(get_args(annotation)[0]) if get_origin(annotation) is tuple else None


def leaves(model: type[BaseModel], prefix: Key = ()) -> Iterator[tuple[Key, FieldInfo]]:
    """Every key that takes a value, depth first, in the order of the models; tables themselves are left out."""
    for name, field in model.model_fields.items():
        section = section_of(field.annotation)
        if section is None:
            yield (*prefix, name), field
        else:
            yield from leaves(section, (*prefix, name))


def field_at(model: type[BaseModel], key: Sequence[Any]) -> tuple[Key, type[BaseModel], FieldInfo | None]:
    """The innermost table on the way to `key` and its path, and the field that the way ends at (None if none).

    A table in a list of tables is told by its number, as in ("detection", "jobs", 0, "job_id").
    """
    path: Key = ()
    rest = list(key)
    while rest:
        name, *rest = rest
        field = model.model_fields.get(str(name))
        section = section_of(field.annotation) if field else None
        element = _element_of(field.annotation) if field else None
        if section is not None:
            model, path = section, (*path, str(name))
        elif element is not None and rest and isinstance(rest[0], int):
            model, path, rest = element, (*path, str(name), str(rest[0])), rest[1:]
        else:
            return path, model, field
    return path, model, None
