"""The environment as a source of settings: `SENTINEL_SECTION__KEY`."""

import json
import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from sentinel.config.keys import Key, section_of

__all__ = ["PREFIX", "EnvironmentSource", "value_of", "variable_name"]

PREFIX = "SENTINEL_"
_DELIMITER = "__"
# Kubernetes gives every pod variables named after its services; a service called "sentinel" is no typo of ours.
_KUBERNETES = re.compile(
    r"SENTINEL_(?:[A-Z0-9_]+_)?(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT(?:_\d+_(?:TCP|UDP|SCTP).*)?)"
)


def variable_name(key: Key) -> str:
    """The variable that sets a key."""
    return PREFIX + _DELIMITER.join(key).upper()


class EnvironmentSource(PydanticBaseSettingsSource):
    """Reads every variable that begins with `SENTINEL_`; one that names no key is kept, so that validation refuses it.

    pydantic-settings' own source looks for the names it knows, so a misspelt one would pass in silence.
    """

    def __init__(self, settings_cls: type[BaseSettings], environment: Mapping[str, str]) -> None:
        super().__init__(settings_cls)
        self._environment = environment

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:  # noqa: ARG002
        """One section; required by the base class."""
        return self().get(field_name), field_name, False

    def __call__(self) -> dict[str, Any]:
        """The variables as nested tables."""
        tables: dict[str, Any] = {}
        for name, text in self._environment.items():
            if not name.startswith(PREFIX) or _KUBERNETES.fullmatch(name):
                continue
            key = tuple(name.removeprefix(PREFIX).lower().split(_DELIMITER))
            _put(tables, key, value_of(self.settings_cls, key, text))
        return tables


def _put(tables: dict[str, Any], key: Key, value: Any) -> None:
    for part in key[:-1]:
        inner = tables.setdefault(part, {})
        if not isinstance(inner, dict):  # SENTINEL_A=… and SENTINEL_A__B=… at once: the deeper one is refused by name
            tables[_DELIMITER.join(key)] = value
            return
        tables = inner
    tables[key[-1]] = value


def value_of(model: type[BaseModel], key: Key, text: str) -> Any:
    """Lists and tables from JSON or, for a list, from text with commas; the rest as text, which pydantic converts."""
    field = None
    for part in key:
        field = model.model_fields.get(part)
        if field is None:
            return text
        model = section_of(field.annotation) or model
    if text.lstrip().startswith(("[", "{")):
        try:
            return json.loads(text)
        except ValueError:
            return text
    if isinstance(field, FieldInfo) and getattr(field.annotation, "__origin__", None) is tuple:
        return [part.strip() for part in text.split(",") if part.strip()]
    return text
