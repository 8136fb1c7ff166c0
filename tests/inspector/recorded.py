"""The recorded text, moved in time."""

import lzma
import re
from pathlib import Path

from inspector.record import DUMP_SECONDS, SCRAPE_SECONDS, START

RECORDED = Path(__file__).parent / "late1ms.om.xz"
DUMPS = 31
FAULT_STEP, FIRST_STEP, STEPS = 100, 10, 6
# The first dump that holds a step with the fault is that of the rank that is furthest behind.
FAULT = START + (FAULT_STEP - FIRST_STEP - (STEPS - 1)) // STEPS * DUMP_SECONDS
END = START + DUMPS * DUMP_SECONDS - SCRAPE_SECONDS
CULPRIT = ("host1", "1")  # of rank 3, which sleeps 1 ms before each step


def text(later_seconds: int = 0, keep: str = "") -> str:
    """All scrapes, `later_seconds` later; of the lines with a value only those in which `keep` is found."""
    lines = lzma.decompress(RECORDED.read_bytes()).decode().splitlines()
    moved = (
        line if line.startswith("#") else re.sub(r"\d+$", lambda at: str(int(at[0]) + later_seconds), line)
        for line in lines
        if line.startswith("#") or keep in line
    )
    return "\n".join(moved) + "\n"
