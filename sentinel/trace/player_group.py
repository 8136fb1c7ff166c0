"""All ranks of a recorded job, played together: one process each, as in the job."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from sentinel.errors import TraceError
from sentinel.trace.player_process import PlayerProcess
from sentinel.trace.script import compile_scripts
from sentinel.trace.step_range import StepRange
from sentinel.trace.trace import Trace

__all__ = ["PlayerGroup"]

# Time for every player to read a command before it counts: all of them, or the ranks would part.
_NOTICE_SECONDS = 1.0
_ANSWER_SECONDS = 60.0
_END_SECONDS = 10.0


class PlayerGroup:
    """Plays named segments of a trace through a plugin, over and over, on all ranks at once.

    `source_dir` is where the plugin puts its files (NCCL_SENTINEL_DIR), `work_dir` an existing folder for scripts and
    logs. `pace` says how much faster than recorded the host's time runs; durations stay as they were. Players get the
    caller's environment, then RANK, LOCAL_RANK, WORLD_SIZE and LOCAL_WORLD_SIZE as torchrun sets them, then
    `environment`.

    A context manager that stops on the way out. TraceError when the trace does not have the steps, or a player fails.
    """

    def __init__(
        self,
        trace: Trace,
        segments: Mapping[str, StepRange],
        *,
        plugin: Path,
        player: Path,
        source_dir: Path,
        work_dir: Path,
        pace: float = 1.0,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._trace = trace
        self._segments = dict(segments)
        self._options = ["--plugin", str(plugin), "--pace", str(pace)]
        self._player = player
        self._work_dir = work_dir
        self._environment = {**os.environ, "NCCL_SENTINEL_DIR": str(source_dir)}
        self._additional = dict(environment or {})
        self._processes: list[PlayerProcess] = []
        for name, steps in self._segments.items():
            steps.check(trace.steps, f"{trace.directory}, segment {name}")

    @property
    def pids(self) -> tuple[int, ...]:
        """The players' processes, by rank; empty before the start and after the stop."""
        return tuple(process.pid for process in self._processes)

    def start(self, segment: str) -> float:
        """Start all players with `segment`; returns the Unix time at which it begins, about now."""
        self._check_name(segment)
        if self._processes:
            raise TraceError("cannot start the players", why="they are running")
        scripts = compile_scripts(self._trace, self._segments, self._work_dir)
        try:
            for rank, script in enumerate(scripts):
                command = [str(self._player), "--script", str(script), "--segment", segment, *self._options]
                log = self._work_dir / f"player{rank:02d}.log"
                self._processes.append(PlayerProcess(rank, command, self._environment_of(rank), log))
            deadline = time.monotonic() + _ANSWER_SECONDS
            for process in self._processes:
                process.expect("ready", deadline)
            return self._agree("start {at}", "segment")
        except BaseException:
            self.stop()
            raise

    def switch(self, segment: str) -> float:
        """Go over to another segment at the end of an iteration; returns the Unix time at which it will begin.

        TraceError when the players do not all agree on that moment.
        """
        self._check_name(segment)
        if not self._processes:
            raise TraceError(f"cannot switch to segment {segment}", why="no player runs", hint="Call start first")
        return self._agree(f"switch {segment} {{at}}", "planned")

    def poll(self) -> None:
        """TraceError when a player has ended, with the last line that it wrote to its log."""
        for process in self._processes:
            process.check()

    def stop(self) -> None:
        """End all players: they close their communicators; those that do not end in time are killed. Idempotent."""
        processes, self._processes = self._processes, []
        for process in processes:
            process.ask_to_end()
        deadline = time.monotonic() + _END_SECONDS
        for process in processes:
            process.end(deadline)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    def _agree(self, command: str, answer: str) -> float:
        """Send a command with a moment to all, and make sure that all perform it at the same one."""
        at_ns = time.monotonic_ns() + round(_NOTICE_SECONDS * 1e9)
        for process in self._processes:
            process.send(command.format(at=at_ns))
        deadline = time.monotonic() + _ANSWER_SECONDS
        moments = {int(process.expect(answer, deadline)["at_ns"]) for process in self._processes}
        if len(moments) != 1:
            raise TraceError("cannot keep the players together", why=f"they named {len(moments)} different moments")
        return time.time() + (moments.pop() - time.monotonic_ns()) * 1e-9

    def _check_name(self, segment: str) -> None:
        if segment not in self._segments:
            names = ", ".join(self._segments)
            raise TraceError(
                f"cannot play segment {segment}", why="there is none of that name", hint=f"Allowed is {names}"
            )

    def _environment_of(self, rank: int) -> dict[str, str]:
        ranks, nodes = len(self._trace.ranks), self._trace.nnodes
        own = rank * nodes // ranks
        on_node = [other for other in range(ranks) if other * nodes // ranks == own]
        return {
            **self._environment,
            "RANK": str(rank),
            "LOCAL_RANK": str(on_node.index(rank)),
            "WORLD_SIZE": str(ranks),
            "LOCAL_WORLD_SIZE": str(len(on_node)),
            **self._additional,
        }
