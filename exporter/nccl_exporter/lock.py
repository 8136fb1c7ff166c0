"""Whether the process that writes a file is alive: it holds a POSIX record lock on the file for as long as it lives.

The kernel drops such a lock when its process ends, however it ends, and answers across PID namespaces. The lock is
only asked about, never taken: the question changes nothing.
"""

import fcntl
import struct
from typing import Final

# struct flock on x86-64 Linux: l_type, l_whence, l_start, l_len, l_pid.
_FLOCK: Final = struct.Struct("hh4xqqi4x")
# A read lock would be stopped by a writer's lock alone: another reader's lock does not make a dead process look alive.
_QUESTION: Final = _FLOCK.pack(fcntl.F_RDLCK, 0, 0, 0, 0)


def is_held(descriptor: int) -> bool:
    """Whether another process holds a write lock on any part of the file."""
    answer = fcntl.fcntl(descriptor, fcntl.F_GETLK, _QUESTION)
    return bool(_FLOCK.unpack(answer)[0] == fcntl.F_WRLCK)
