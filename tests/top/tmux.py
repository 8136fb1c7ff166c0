"""A terminal with a shell in it, driven by tmux."""

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from servers.process import find_program, wait_until

PROMPT = "shell> "


class Terminal:
    """What somebody sees and types."""

    def __init__(self, socket: Path) -> None:
        self._command = [find_program("tmux"), "-S", str(socket), "-f", os.devnull]

    def tmux(self, *arguments: str) -> str:
        return subprocess.run([*self._command, *arguments], check=True, capture_output=True, text=True).stdout

    def run(self, line: str) -> None:
        """Give the shell a command."""
        self.tmux("send-keys", "-l", line)
        self.press("Enter")

    def press(self, *keys: str) -> None:
        """By tmux's names: `Enter`, `Escape`, `C-c`, `j`."""
        self.tmux("send-keys", *keys)

    def resize(self, width: int, height: int) -> None:
        self.tmux("resize-window", "-x", str(width), "-y", str(height))

    def lines(self) -> list[str]:
        return self.tmux("capture-pane", "-p").split("\n")[:-1]

    def text(self) -> str:
        return "\n".join(self.lines())

    def coloured(self) -> str:
        """With the escape sequences of colours and of bold."""
        return self.tmux("capture-pane", "-p", "-e")

    def cursor_is_visible(self) -> bool:
        return self.tmux("display-message", "-p", "#{cursor_flag}").strip() == "1"

    def is_alternate(self) -> bool:
        """Whether a program has taken the screen, and will give it back."""
        return self.tmux("display-message", "-p", "#{alternate_on}").strip() == "1"

    def wait_for(self, text: str, seconds: float = 30.0) -> None:
        try:
            wait_until(lambda: text in self.text(), f"{text!r} is on the screen", seconds)
        except TimeoutError as error:
            raise TimeoutError(f"{error}; there is:\n{self.text()}") from None


@contextmanager
def terminal(width: int = 80, height: int = 24, **environment: str) -> Iterator[Terminal]:
    with tempfile.TemporaryDirectory(prefix="tmux") as folder:  # a socket's path must be short
        found = Terminal(Path(folder) / "socket")
        names = {"LC_ALL": "C.UTF-8", "PS1": PROMPT, **environment}
        shell = ["env", "-u", "NO_COLOR", *(f"{name}={value}" for name, value in names.items()), "bash", "--norc"]
        found.tmux("new-session", "-d", "-x", str(width), "-y", str(height), *shell)
        try:
            found.wait_for(PROMPT.strip())
            yield found
        finally:
            found.tmux("kill-server")
