# SPDX-License-Identifier: Apache-2.0
"""The YAML of a web configuration file: strict about keys and types, and aware of the files that it names."""

import os
import re
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

import yaml

from nccl_endpoint.errors import WebConfigError

_BYTES: Final = 1 << 20
# What Go's time.ParseDuration takes, as far as it makes sense here.
_DURATION: Final = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|us|µs|ns|s|m|h))+")
_PART: Final = re.compile(r"([0-9.]+)(ms|us|µs|ns|s|m|h)")
_SECONDS: Final = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}

Stamp = tuple[int, int, int, int] | None


class Watch:
    """The files that a configuration was made of, as they were just before they were opened."""

    def __init__(self) -> None:
        self._stamps: dict[Path, Stamp] = {}

    def add(self, path: Path) -> None:
        """Remember a file that is about to be read."""
        self._stamps.setdefault(path, _stamp(path))

    def changed(self) -> bool:
        """Whether any of them is another one now, came or went."""
        return any(_stamp(path) != stamp for path, stamp in self._stamps.items())


def _stamp(path: Path) -> Stamp:
    try:
        status = os.stat(path)  # noqa: PTH116 (Path.stat is three times as slow, and this is asked at each request)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


class _Loader(yaml.SafeLoader):
    """YAML without keys that are given twice: the second would win in silence."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for index, (key, (where, _)) in enumerate(zip(keys, node.value, strict=True)):
            if key in keys[:index]:
                raise yaml.constructor.ConstructorError(None, None, f"{key!r} is given twice", where.start_mark)
        return super().construct_mapping(node, deep)


class Section:
    """One mapping of the file. Every getter raises WebConfigError for a value of another type."""

    def __init__(self, file: Path, name: str, values: Mapping[object, object], known: Sequence[str] = ()) -> None:
        self.file = file
        self._name = name
        self._values = values
        for key in values:
            if known and key not in known:
                raise self.refused(key, "there is no such key", f"Allowed here: {', '.join(known)}")

    @classmethod
    def read(cls, file: Path, watch: Watch, known: Sequence[str]) -> Self:
        """The whole file; raises WebConfigError when it cannot be read or is no mapping."""
        watch.add(file)
        try:
            with file.open("rb") as stream:
                raw = stream.read(_BYTES + 1)
        except OSError as error:
            raise WebConfigError(file, why=error.strerror or str(error)) from error
        if len(raw) > _BYTES:
            raise WebConfigError(file, why=f"it has more than {_BYTES} bytes")
        try:
            values = yaml.load(raw, _Loader)  # noqa: S506 (a SafeLoader)
        except yaml.MarkedYAMLError as error:
            line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
            raise WebConfigError(file, why=f"not YAML{line}: {error.problem}") from error
        except (yaml.YAMLError, RecursionError, TypeError, ValueError) as error:
            raise WebConfigError(file, why="not YAML") from error
        if not isinstance(values, dict | None):
            raise WebConfigError(file, why="expected keys and values", hint=f"Allowed: {', '.join(known)}")
        return cls(file, "", values or {}, known)

    def __bool__(self) -> bool:
        return bool(self._values)

    def __contains__(self, key: str) -> bool:
        return self._values.get(key) is not None

    def refused(self, key: object, why: str, hint: str = "") -> WebConfigError:
        """The error that says that this key's value cannot be taken."""
        return WebConfigError(self.file, f"{self._name}.{key}" if self._name else str(key), why=why, hint=hint)

    def section(self, key: str, known: Sequence[str] = ()) -> "Section":
        """A mapping inside; empty when it is not there."""
        value = self._get(key, dict, "keys and values", {})
        return Section(self.file, f"{self._name}.{key}" if self._name else key, value, known)

    def text(self, key: str) -> str:
        """A string; empty when it is not there."""
        value: str = self._get(key, str, "a string", "")
        return value

    def choice(self, key: str, allowed: Sequence[str], default: str) -> str:
        """One of the strings allowed."""
        value = self.text(key) or default
        if value not in allowed:
            raise self.refused(key, f"{value!r} is not one of the values allowed", f"Allowed: {', '.join(allowed)}")
        return value

    def boolean(self, key: str, default: bool) -> bool:
        """True or false."""
        value: bool = self._get(key, bool, "true or false", default)
        return value

    def integer(self, key: str, default: int) -> int:
        """A whole number."""
        value = self._get(key, int, "a whole number", default)
        if isinstance(value, bool):
            raise self.refused(key, "expected a whole number")
        return int(value)

    def texts(self, key: str) -> list[str]:
        """A list of strings; empty when it is not there."""
        value = self._get(key, list, "a list of strings", [])
        if not all(isinstance(one, str) for one in value):
            raise self.refused(key, "expected a list of strings")
        return list(value)

    def items(self) -> list[tuple[str, str]]:
        """All keys and values, which have to be strings."""
        for key, value in self._values.items():
            if not isinstance(key, str) or not isinstance(value, str):
                raise self.refused(key, "expected a string for a string", "Put it in quotes")
        return [(str(key), str(value)) for key, value in self._values.items()]

    def seconds(self, key: str) -> float:
        """A duration as Go writes it (500ms, 1m30s); 0 when it is not there."""
        value = self._values.get(key)
        if value is None or value == 0:
            return 0.0
        if not isinstance(value, str) or not _DURATION.fullmatch(value):
            raise self.refused(key, "expected a duration", "For example 500ms, 1s or 1m30s")
        return sum(float(number) * _SECONDS[unit] for number, unit in _PART.findall(value))

    def path(self, key: str, watch: Watch) -> Path | None:
        """A file that can be read, relative to this one; raises WebConfigError when it cannot."""
        name = self.text(key)
        if not name:
            return None
        path = self.file.parent / name
        watch.add(path)
        try:
            with path.open("rb") as stream:
                stream.read(1)
        except OSError as error:
            raise self.refused(key, f"{path}: {error.strerror or error}") from error
        return path

    def _get(self, key: str, kind: type, expected: str, default: Any) -> Any:
        value = self._values.get(key)
        if value is None:
            return default
        if not isinstance(value, kind):
            raise self.refused(key, f"expected {expected}")
        return value
