"""What NVIDIA Inspector would have written of a recorded job, and Prometheus scraped: a text with timestamps.

    python tests/inspector/record.py sentinel/demo/traces/late1ms | xz -9 > tests/inspector/late1ms.om.xz

It follows what is known of the Inspector's Prometheus output: a file for each GPU, written anew at each dump, with the
means of the operations that were completed since the dump before. Execution time: arithmetic mean of whole
microseconds. Bus bandwidth in GB/s: geometric mean of each operation's. Messages in ranges of one unit (`256-257KB`).
Six digits. No communicator's id, no rank, no count. None of its code is used.

A dump holds `--steps` consecutive steps of the recording, each step once; dumps are 30 s apart and scraped every 15 s.
GPUs dump at their own moments, so that windows are not aligned: rank r's are r steps behind, modulo a dump.
"""

import argparse
import json
import lzma
import math
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ELEMENT_BYTES = {"ncclInt8": 1, "ncclBfloat16": 2, "ncclFloat16": 2, "ncclFloat32": 4}
DUMP_SECONDS, SCRAPE_SECONDS, START = 30, 15, 1_700_000_010
JOB = "4711"
METRICS = ("nccl_collective_exec_time_microseconds", "nccl_bus_bandwidth_gbs")


def operations(path: Path) -> Iterator[tuple[dict[str, int], dict[str, str], int]]:
    """Each collective in order: its communicator's `init`, its own row, and its duration in microseconds."""
    inits, starts, times = {}, {}, defaultdict(list)
    for line in lzma.decompress(path.read_bytes()).splitlines():
        row = json.loads(line)
        if row["k"] == "init":
            inits[row["comm"]] = row
        elif row["k"] == "start":
            starts[row["id"]] = row
            if row["type"] == "KernelCh":
                times[row["parent"]].append(row["ptimer"])
        elif row["k"] == "state" and row["type"] == "KernelCh":
            times[starts[row["id"]]["parent"]].append(row["ptimer"])
    for number, row in starts.items():
        if row["type"] == "Coll":
            yield inits[row["comm"]], row, max(1, (max(times[number]) - min(times[number])) // 1000)


def size_range(size: int) -> str:
    unit = 0
    while size >= 1024 and unit < 4:
        size, unit = size // 1024, unit + 1
    return f"{size}-{size + 1}{('B', 'KB', 'MB', 'GB', 'TB')[unit]}"


def bus_bandwidth(op: str, message_bytes: int, ranks: int, microseconds: int) -> float:
    factor = 2 * (ranks - 1) / ranks if op == "AllReduce" else ranks - 1
    return message_bytes * factor / microseconds / 1e3


def dump(rank: int, nodes: int, ranks: int, rows: list) -> Iterator[tuple[str, str, float]]:
    """Metric, labels and value of what one GPU's file has after a dump of these operations."""
    buckets = defaultdict(list)
    for init, row, microseconds in rows:
        message_bytes = row["count"] * ELEMENT_BYTES[row["dtype"]]
        labels = {
            "version": "v5.1",
            "slurm_job_id": JOB,
            "node": f"host{rank * nodes // ranks}",
            "gpu": f"GPU{rank % (ranks // nodes)}",
            "comm_name": init["name"] or "unknown",
            "n_nodes": str(init["nnodes"]),
            "nranks": str(init["nranks"]),
            "collective": row["func"],
            "message_size": size_range(message_bytes),
            "algo_proto": f"{row['algo']}_{row['proto']}",
        }
        text = ",".join(f'{name}="{value}"' for name, value in labels.items())
        bandwidth = bus_bandwidth(row["func"], message_bytes, init["nranks"], microseconds)
        buckets[text].append((microseconds, bandwidth))
    for labels, measured in buckets.items():
        yield METRICS[0], labels, sum(time for time, _ in measured) / len(measured)
        yield METRICS[1], labels, math.exp(sum(math.log(bandwidth) for _, bandwidth in measured) / len(measured))


def record(directory: Path, ops_per_step: int, first_step: int, steps: int) -> str:
    """OpenMetrics text of every scrape."""
    files = sorted(directory.glob("rank*.jsonl.xz"))
    samples: dict[str, list[str]] = {metric: [] for metric in METRICS}
    for rank, path in enumerate(files):
        known = list(operations(path))
        nodes = max(init["nnodes"] for init, _, _ in known)
        begin = first_step + rank % steps
        for number in range((len(known) // ops_per_step - begin) // steps):
            chosen = known[(begin + number * steps) * ops_per_step : (begin + (number + 1) * steps) * ops_per_step]
            for metric, labels, value in dump(rank, nodes, len(files), chosen):
                for scrape in range(0, DUMP_SECONDS, SCRAPE_SECONDS):
                    time = START + number * DUMP_SECONDS + scrape
                    samples[metric].append(f"{metric}{{{labels}}} {value:.6g} {time}")
    return (
        "".join(f"# TYPE {metric} gauge\n" + "\n".join(lines) + "\n" for metric, lines in samples.items()) + "# EOF\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--ops-per-step", type=int, default=4)
    parser.add_argument("--first-step", type=int, default=10)
    parser.add_argument("--steps", type=int, default=6)
    given = parser.parse_args()
    sys.stdout.write(record(given.directory, given.ops_per_step, given.first_step, given.steps))


if __name__ == "__main__":
    main()
