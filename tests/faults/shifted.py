"""`sentinel run` on a machine whose clock is behind: `python shifted.py CONFIG SECONDS`."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from servers.daemon import Daemon

from sentinel.cli.options import read_settings
from sentinel.config.files import check_files
from sentinel.config.settings import Settings
from sentinel.daemon.service import run_forever


@contextmanager
def shifted_daemon(config: Path, now: float) -> Iterator[Daemon]:
    """It is `now` (Unix seconds) when it starts."""
    log = config.with_suffix(".log")
    with log.open("ab") as stderr:
        process = subprocess.Popen(
            [sys.executable, __file__, str(config), str(time.time() - now)],
            stderr=stderr,
            env={**os.environ, "PYTHONPATH": str(Path(__file__).resolve().parents[1])},
        )
    try:
        yield Daemon(process, log)
    finally:
        process.kill()
        process.wait()


def main() -> None:
    config, behind_seconds = Path(sys.argv[1]), float(sys.argv[2])

    def read() -> Settings:
        settings = read_settings(config, None)
        check_files(settings)
        return settings

    run_forever(read(), read, lambda: time.time() - behind_seconds)


if __name__ == "__main__":
    main()
