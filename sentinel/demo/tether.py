"""Run a program that ends when its parent does.

  python tether.py PARENT-PID PROGRAM ARGUMENT …

A program of its own because prctl has to be called in the child, between fork and exec, where a parent with threads
must not run Python.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # <sys/prctl.h>


def main() -> None:
    """Ask the kernel for SIGTERM at the parent's death, then become the program."""
    parent, program, *arguments = sys.argv[1:]
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != int(parent):  # it died before the kernel knew
        sys.exit(1)
    os.execv(program, [program, *arguments])  # noqa: S606  (the demo names the program)


if __name__ == "__main__":
    main()
