"""What the demo says while it runs: a spinner with elapsed time on a terminal, plain lines elsewhere."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.markup import escape
from rich.progress import Progress as Spinner
from rich.progress import SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

__all__ = ["Progress", "Step"]


class Step:
    """A step that is going on; `detail` shows what it waits for."""

    def __init__(self, spinner: Spinner | None = None, task: TaskID | None = None) -> None:
        self._spinner = spinner
        self._task = task

    def detail(self, text: str) -> None:
        """Show how far it is; only a terminal does."""
        if self._spinner is not None and self._task is not None:
            self._spinner.update(self._task, description=escape(text))


class Progress:
    """Steps of a demo, each with the seconds since the demo began."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._began = time.monotonic()

    @property
    def elapsed_seconds(self) -> float:
        """Since the demo began."""
        return time.monotonic() - self._began

    def say(self, text: str) -> None:
        """One line."""
        self._console.print(
            f"[dim]\\[{self.elapsed_seconds:5.1f} s][/dim] {escape(text)}", soft_wrap=True, highlight=False
        )

    @contextmanager
    def step(self, text: str) -> Iterator[Step]:
        """Say that something has begun; on a terminal, show it until the block ends."""
        self.say(text)
        if not self._console.is_terminal:
            yield Step()
            return
        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Spinner(*columns, console=self._console, transient=True) as spinner:
            yield Step(spinner, spinner.add_task("waiting", total=None))
