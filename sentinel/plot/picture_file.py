"""A figure as a file: whole or not at all."""

import os
import secrets
from pathlib import Path
from typing import Protocol

from sentinel.errors import ConfigError

__all__ = ["FORMATS", "Figure", "check_picture_path", "write_picture"]

FORMATS = (".png", ".svg", ".pdf")
_DOTS_PER_INCH = 120


class Figure(Protocol):
    """What can be saved: matplotlib's Figure."""

    def savefig(self, fname: object, /, *, format: str, dpi: int) -> None:  # noqa: A002 (its name there)
        """Write to an open file."""
        ...


def check_picture_path(path: Path) -> None:
    """ConfigError when no picture can be written there: said before anything is read for it."""
    if path.suffix.lower() not in FORMATS:
        why = f"{path.suffix or 'a name without suffix'} is no picture that can be drawn"
        raise ConfigError("cannot draw", where=str(path), why=why, hint=f"Use one of {', '.join(FORMATS)}")
    directory = path.resolve().parent
    try:
        if path.is_dir():
            raise ConfigError("cannot draw", where=str(path), why="it is a directory")
        if not directory.is_dir():
            raise ConfigError("cannot draw", where=str(path), why=f"no directory {directory}")
    except OSError as error:
        raise ConfigError("cannot draw", where=str(path), why=str(error.strerror or error)) from error
    if not os.access(directory, os.W_OK | os.X_OK):
        raise ConfigError("cannot draw", where=str(path), why=f"this user may not write to {directory}")


def write_picture(figure: Figure, path: Path) -> None:
    """Write the figure as its suffix says; a file that is there is replaced at the end. ConfigError."""
    target = path.resolve()
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        try:
            with draft.open("xb") as file:
                figure.savefig(file, format=target.suffix.lower().removeprefix("."), dpi=_DOTS_PER_INCH)
            draft.replace(target)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as error:
        raise ConfigError("cannot draw", where=str(path), why=str(error.strerror or error)) from error
