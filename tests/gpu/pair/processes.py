"""Two fresh processes, one a GPU, that answer requests; everything has a deadline.

NCCL looks at NCCL_PROFILER_PLUGIN once in a process, so every variant needs new ones. They are forked from one process
that has imported PyTorch and touched no GPU: the import would take longer than the measurement. START_METHOD=spawn in
the environment starts them from nothing instead.
"""

import importlib
import multiprocessing
import os
import re
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Protocol, Self

RANKS: Final = 2
START_SECONDS: Final = 180.0
END_SECONDS: Final = 30.0
_PLUGIN: Final = re.compile(r"PROFILER/Plugin: [Ll]oaded (.+?)\.?$", re.MULTILINE)


class PairError(Exception):
    """A rank failed, died or did not answer in time."""


class Job(Protocol):
    """What a job's module gives back from `start(rank, folder)`."""

    def facts(self) -> dict[str, Any]:
        """Said once, when the rank is ready."""

    def answer(self, request: str) -> Any:
        """Do what is asked; both ranks are asked the same."""

    def close(self) -> None:
        """The end, in order."""


@dataclass(frozen=True, slots=True)
class _Failure:
    text: str


def _serve(job: str, rank: int, environment: Mapping[str, str], folder: Path, connection: Connection) -> None:
    for name in list(os.environ):
        if name == "NCCL_PROFILER_PLUGIN" or name.startswith("NCCL_SENTINEL_"):
            del os.environ[name]
    os.environ |= {**environment, "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(RANKS)}
    try:
        worker: Job = importlib.import_module(job).start(rank, folder)
        connection.send(worker.facts())
        while (request := connection.recv()) is not None:
            connection.send(worker.answer(request))
        worker.close()
        connection.send(None)
    except EOFError:
        pass  # nobody asks any more
    except Exception:
        connection.send(_Failure(traceback.format_exc()))


class Pair:
    """The two processes of `job`, a module with a function `start`.

    They are starting when this returns; entering it waits until they are `ready`. `facts` is what each said then.
    """

    def __init__(self, job: str, environment: Mapping[str, str], folder: Path) -> None:
        context = multiprocessing.get_context(os.environ.get("START_METHOD", "forkserver"))
        context.set_forkserver_preload(["torch", "torch.distributed", job])
        self._folder = folder
        log = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT", "NCCL_DEBUG_FILE": str(folder / "nccl.%p.log")}
        self._connections: list[Connection] = []
        self._processes = []
        self.facts: list[Any] = []
        try:
            for rank in range(RANKS):
                ours, theirs = context.Pipe()
                arguments = (job, rank, {**environment, **log}, folder, theirs)
                process = context.Process(target=_serve, args=arguments, daemon=True)
                process.start()
                theirs.close()
                self._connections.append(ours)
                self._processes.append(process)
        except BaseException:
            self._kill()
            raise

    def ready(self) -> None:
        """Wait until both are. Raises PairError, and ends both, where one is not."""
        try:
            self.facts = self._answers("start", START_SECONDS)
        except BaseException:
            self._kill()
            raise

    def __enter__(self) -> Self:
        self.ready()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.ask(None, END_SECONDS)
                for process in self._processes:
                    process.join(END_SECONDS)
        finally:
            self._kill()

    def ask(self, request: str | None, seconds: float) -> list[Any]:
        """Each rank's answer. Raises PairError."""
        for connection in self._connections:
            connection.send(request)
        return self._answers(request or "close", seconds)

    def plugins(self) -> list[str]:
        """The profiler plugin that NCCL said it loaded, by rank; empty where it loaded none."""
        found = []
        for process in self._processes:
            log = self._folder / f"nccl.{process.pid}.log"
            text = log.read_text(errors="replace") if log.exists() else ""
            if "Init COMPLETE" not in text:
                raise PairError(f"{log} does not say that a communicator was opened")
            names = _PLUGIN.findall(text)
            found.append(names[0] if names else "")
        return found

    def _answers(self, what: str, seconds: float) -> list[Any]:
        answers: dict[int, Any] = {}
        deadline = time.monotonic() + seconds
        while len(answers) < RANKS:
            waiting = {self._connections[rank]: rank for rank in range(RANKS) if rank not in answers}
            ready = wait(list(waiting), timeout=max(0.0, deadline - time.monotonic()))
            if not ready:
                raise PairError(f"{what}: rank {min(waiting.values())} gave no answer in {seconds:.0f} s")
            for connection in ready:
                rank = waiting[connection]  # type: ignore[index]
                try:
                    answer = self._connections[rank].recv()
                except EOFError as error:
                    raise PairError(f"{what}: rank {rank} died") from error
                if isinstance(answer, _Failure):
                    raise PairError(f"{what}: rank {rank} failed\n{answer.text}")
                answers[rank] = answer
        return [answers[rank] for rank in range(RANKS)]

    def _kill(self) -> None:
        for process in self._processes:
            process.kill()  # of no effect on one that has ended
            process.join(END_SECONDS)
        for connection in self._connections:
            connection.close()
