"""What is free again is the machine's: measured in a process of its own, whose heap is as new."""

import platform
import subprocess
import sys

import pytest

MANY = """
import threading
from pathlib import Path
import numpy as np
from sentinel.daemon.heap import give_back, share_heap

def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 >> 20

kept, turn, all_done = [], threading.Lock(), threading.Barrier(8)

def work():
    with turn:
        allocate()
    all_done.wait()  # threads that come after each other would have one heap anyway

def allocate():
    arrays = [np.ones(100_000, dtype=np.uint8) for _ in range(600)]  # too small for pages of their own
    kept.append(np.ones(100_000, dtype=np.uint8))  # and what comes after a gap keeps it

share_heap()
before = resident()
threads = [threading.Thread(target=work) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
held = resident()
give_back()
print(held - before, resident() - before)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library keeps its heap as it likes")
def test_threads_share_a_heap_and_its_gaps_are_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", MANY], capture_output=True, text=True, check=True)
    held, kept = map(int, done.stdout.split())
    assert 40 < held < 120  # MiB: one thread's, not all eight threads'
    assert kept < 20
