"""The files that a configuration names."""

from pathlib import Path

from sentinel.config.settings import Settings
from sentinel.errors import ConfigError

__all__ = ["check_files"]


def check_files(settings: Settings) -> None:
    """Whether every secret and certificate can be read now. ConfigError names all that cannot."""
    faults = [
        f"{section}.{key} = {str(path)!r}: {fault}"
        for section, access in (("prometheus", settings.prometheus), ("alertmanager", settings.alertmanager))
        for key, path in access.files().items()
        if (fault := _fault(path))
    ]
    if faults:
        raise ConfigError("the configuration names files that cannot be used", why="\n  " + "\n  ".join(faults))


def _fault(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        return error.strerror or str(error)
    return "" if data.strip() else "it is empty"
