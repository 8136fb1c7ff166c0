"""Do both ranks time the same operations, under NCCL itself? Needs two GPUs and an installed nccl_exporter.

    PYTHONPATH=tests python -m gpu.sampling --plugin SO

Prints what was counted by communicator and rank. Exits 0 when the ranks agree, nothing was lost, at most one operation
of each was refused, quick communicators were sampled and the slow one was timed whole.
"""

import argparse
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from gpu.pair.counts import Counts, Files, Place
from gpu.pair.processes import RANKS, Pair, PairError

SECONDS: Final = 60.0
FIRST: Final = 2_000  # all-reduces on the first communicator; after every third of them one on the second
SECOND: Final = FIRST // 3
SLOW: Final = 100  # on the third, fewer than 40 a second


def problems(counts: Mapping[Place, Counts]) -> list[str]:
    """What is wrong with the counts of the whole job; empty when nothing is."""
    found = []
    communicators: dict[str, dict[int, Counts]] = defaultdict(dict)
    for (communicator, rank), count in counts.items():
        communicators[communicator][rank] = count
        # A stream that rested for long may learn too late that its next operation was chosen.
        if count.refused > 1 or count.open:
            found.append(f"{communicator} rank {rank}: {count.refused} refused, {count.open} open or dropped")
    for communicator, ranks in communicators.items():
        if len(ranks) != RANKS:
            found.append(f"{communicator}: ranks {sorted(ranks)}")
        if len({(count.started, count.measured, count.skipped) for count in ranks.values()}) > 1:
            found.append(f"{communicator}: the ranks did not time the same operations")
        for rank, count in ranks.items():
            if count.started == SLOW and count.measured + count.refused != SLOW:
                found.append(f"{communicator} rank {rank}: slow, and not timed whole")
            if count.started != SLOW and not 0 < count.measured < count.started / 2:
                found.append(f"{communicator} rank {rank}: {count.measured} of {count.started} timed: not sampled")
    started = Counter(count.started for count in counts.values())
    if started != dict.fromkeys((FIRST, SECOND, SLOW), RANKS):
        found.append(f"launched {FIRST}, {SECOND} and {SLOW} on each rank, counted {dict(started)}")
    return found


def main() -> int:
    """Run it. Exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plugin", type=Path, required=True, help="libnccl-profiler-sentinel.so")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sampling-", dir="/dev/shm"))
    source = folder / "source"
    source.mkdir()
    environment = {"NCCL_PROFILER_PLUGIN": str(options.plugin.resolve(strict=True)), "NCCL_SENTINEL_DIR": str(source)}
    files = Files(source)
    if files.trouble:
        print(f"sampling: {files.trouble}", file=sys.stderr)
        return 2
    try:
        with Pair("gpu.sampling_job", environment, folder) as pair:
            plugins = pair.plugins()
            for request in (f"interleaved {FIRST}", f"slow {SLOW}"):
                pair.ask(request, SECONDS)
            counts = files.read()
    except PairError as error:
        print(f"sampling: {error}", file=sys.stderr)
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"NCCL loaded {plugins}")
    for (communicator, rank), count in sorted(counts.items(), key=lambda item: (-item[1].started, item[0])):
        print(
            f"{communicator} rank {rank}: {count.started} started, {count.measured} measured, "
            f"{count.skipped} skipped, {count.refused} refused"
        )
    found = problems(counts)
    for problem in found:
        print(f"sampling: {problem}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
