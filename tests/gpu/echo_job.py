"""A job without a GPU: says what it is asked, or fails as it is told."""

import os
import time
from pathlib import Path
from typing import Any


def start(rank: int, folder: Path) -> "EchoJob":
    """Called in the rank's process."""
    return EchoJob(rank, folder)


class EchoJob:
    """A rank that ends in the way it is asked to."""

    def __init__(self, rank: int, folder: Path) -> None:
        self._rank = rank
        self._folder = folder

    def facts(self) -> dict[str, Any]:
        return {"rank": self._rank, "pid": os.getpid()}

    def answer(self, request: str) -> str | None:
        if self._rank == 1 and request == "fail":
            raise ValueError("as it was told")
        if self._rank == 1 and request == "die":
            os._exit(3)
        if self._rank == 1 and request == "hang":
            time.sleep(3600)
        if request == "log":
            log = os.environ["NCCL_DEBUG_FILE"].replace("%p", str(os.getpid()))
            loaded = "h:7:7 [0] NCCL INFO PROFILER/Plugin: Loaded Sentinel (v5)\n" if self._rank == 1 else ""
            Path(log).write_text(f"{loaded}h:7:7 [0] NCCL INFO ncclCommInitRank - Init COMPLETE\n")
        return os.environ.get(request)

    def close(self) -> None:
        (self._folder / f"closed-{self._rank}").touch()
