"""From a file, the environment and flags to the configuration, or to an error that says all that is wrong."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_settings import BaseSettings, InitSettingsSource, PydanticBaseSettingsSource

from sentinel.config.environment import EnvironmentSource
from sentinel.config.faults import Layer, explain
from sentinel.config.settings import Settings
from sentinel.errors import ConfigError

__all__ = ["DEFAULT_PATH", "load"]

DEFAULT_PATH = Path("/etc/nccl-sentinel/sentinel.toml")


def load(
    path: Path | None,
    environment: Mapping[str, str],
    flags: Mapping[str, Any] | None = None,
    default: Path = DEFAULT_PATH,
) -> Settings:
    """The configuration. `flags` are nested tables like the file's, and win over everything.

    A file that was named must exist; the `default` one may be missing. ConfigError lists every fault.
    """
    file = _read(path or default, required=path is not None)
    variables = EnvironmentSource(Settings, environment)()
    # systemd names the state directory it has made for the unit; only an explicit setting overrides it.
    directory = environment.get("STATE_DIRECTORY", "").split(":")[0]
    unit = {"state": {"directory": directory}} if directory else {}
    layers = (
        Layer("--set", flags or {}),
        Layer("environment", variables),
        Layer(str(path or default), file),
        Layer("STATE_DIRECTORY", unit),
    )

    class Layered(Settings):
        """Settings that are read from these layers; pydantic-settings asks the class for its sources."""

        @classmethod
        def settings_customise_sources(
            cls,
            settings_cls: type[BaseSettings],
            init_settings: PydanticBaseSettingsSource,  # noqa: ARG003 (pydantic-settings passes all by name)
            env_settings: PydanticBaseSettingsSource,  # noqa: ARG003
            dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003
            file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
        ) -> tuple[PydanticBaseSettingsSource, ...]:
            return tuple(InitSettingsSource(settings_cls, dict(layer.tables)) for layer in layers)

    try:
        return Layered()
    except ValidationError as error:
        raise explain(error, Settings, layers) from None


def _read(path: Path, *, required: bool) -> dict[str, Any]:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        if required:
            raise ConfigError("no configuration file", where=str(path), why="there is no such file") from None
        return {}
    except OSError as error:
        raise ConfigError("cannot read the configuration", where=str(path), why=error.strerror or str(error)) from error
    if not data.strip():  # as it is for a moment while something writes it
        raise ConfigError("the configuration is empty", where=str(path))
    try:
        return tomllib.loads(data.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError("the configuration is not TOML", where=str(path), why=str(error)) from None
