"""A backtest that was cut short, in a file: its whole state, so that nothing has to be guessed or warmed up again."""

import hashlib
import os
import pickle
import platform
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sentinel import __version__
from sentinel.config.files import directory_fault
from sentinel.config.settings import Settings
from sentinel.daemon.backtest import Replayed
from sentinel.errors import StateError
from sentinel.source.opening import Memory
from sentinel.state.work_file import WorkFile, key_of

__all__ = ["Checkpoint", "check_owner", "checkpoint_key", "load_checkpoint", "save_checkpoint"]


def checkpoint_key(settings: Settings, baseline: bytes | None, start: float) -> bytes:
    """All that decides what a backtest from `start` (Unix seconds) says until any moment.

    `baseline` is the stored one that it begins with.
    """
    decisive = {
        "versions": [__version__, platform.python_version(), np.__version__],
        "headers": settings.prometheus.headers,
        "settings": settings.model_dump(mode="json", include={"prometheus", "schedule", "detection"}),
        "baseline": None if baseline is None else hashlib.sha256(baseline).hexdigest(),
        "start": start,
    }
    return key_of(decisive)


def check_owner(path: Path) -> None:
    """StateError where others could have written it, or put something beside it: what is read from it is run."""
    place = path.resolve()
    if fault := directory_fault(place.parent):
        raise StateError("no place for the checkpoint", where=str(place.parent), why=fault)
    for each in (place.parent, place):
        try:
            there = each.stat()
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StateError("cannot read the checkpoint", where=str(each), why=str(error.strerror)) from error
        if there.st_uid not in {0, os.geteuid()} or there.st_mode & 0o022:
            hint = "Name a file in a directory that only you may write."
            raise StateError("the checkpoint is not trusted", where=str(each), why="others may write it", hint=hint)


@dataclass(frozen=True)
class Checkpoint:
    """What was replayed, and what its source remembers."""

    replayed: Replayed
    memory: Memory


def load_checkpoint(work: WorkFile, ends: Collection[float]) -> Checkpoint | None:
    """What the file has, if it is of one of these moments (Unix seconds), and can be read. StateError."""
    pieces = work.pieces()
    if not pieces:
        return None
    try:
        kept = pickle.loads(work.head(max(pieces.values())))  # noqa: S301 (check_owner)
    except Exception:
        return None
    return kept if isinstance(kept, Checkpoint) and kept.replayed.until in ends else None


def save_checkpoint(work: WorkFile, checkpoint: Checkpoint) -> None:
    """Keep this one instead of the last. StateError."""
    identity = f"{checkpoint.replayed.until:.3f}".encode()
    work.add(identity, pickle.dumps(checkpoint, protocol=pickle.HIGHEST_PROTOCOL), ())
    work.keep({identity})
