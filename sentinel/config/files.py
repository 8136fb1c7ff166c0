"""The files that a configuration names."""

import os
import stat
from pathlib import Path

from nccl_endpoint.configuration import load
from nccl_endpoint.document import Watch
from nccl_endpoint.errors import WebConfigError

from sentinel.config.settings import Settings
from sentinel.errors import ConfigError

__all__ = ["check_files", "directory_fault"]


def check_files(settings: Settings) -> None:
    """Whether secrets and certificates can be read, and the state directory written. ConfigError names all faults."""
    faults = [
        f"{section}.{key} = {str(path)!r}: {fault}"
        for section, access in (("prometheus", settings.prometheus), ("alertmanager", settings.alertmanager))
        for key, path in access.files().items()
        if (fault := _fault(path))
    ]
    if fault := directory_fault(settings.state.directory):
        faults.append(f"state.directory = {str(settings.state.directory)!r}: {fault}")
    if settings.web.config_file is not None:
        try:
            load(settings.web.config_file, Watch())
        except WebConfigError as error:
            faults.append(f"web.config_file: {error}")
    if faults:
        raise ConfigError("the configuration names files that cannot be used", why="\n  " + "\n  ".join(faults))


def directory_fault(path: Path) -> str:
    """Why a directory cannot be written or made; nothing is."""
    try:
        is_directory = stat.S_ISDIR(path.stat().st_mode)
    except FileNotFoundError:
        if not path.parent.is_dir():
            return f"there is no directory {path.parent}"
        return "" if os.access(path.parent, os.W_OK | os.X_OK) else "it is not there, and this user may not make it"
    except OSError as error:
        return error.strerror or str(error)
    if not is_directory:
        return "it is no directory"
    return "" if os.access(path, os.W_OK | os.X_OK) else "this user may not write there"


def _fault(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        return error.strerror or str(error)
    return "" if data.strip() else "it is empty"
