"""A small training-like job on real GPUs, with one rank that falls asleep before each step for a while.

Run by torchrun, any number of ranks over any number of GPUs (several ranks share a GPU through MPS). Ranks 2h and
2h + 1 claim to be host h, so that NCCL uses NVLink inside a "host" and sockets between them. Each step: a matrix
product, an AllGather and a small AllReduce over half of the ranks, a ReduceScatter and a small AllReduce over all.
Rank 0 writes the Unix times at which the phases began to --phases.
"""

import argparse
import json
import os
import time
from pathlib import Path

import torch
import torch.distributed as dist

MIB = 1 << 20


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--late-rank", type=int, default=3)
    parser.add_argument("--sleep-ms", type=float, default=1.0, help="how long the late rank sleeps before each step")
    parser.add_argument("--healthy-seconds", type=float, default=60.0)
    parser.add_argument("--late-seconds", type=float, default=40.0)
    parser.add_argument("--after-seconds", type=float, default=20.0)
    parser.add_argument("--phases", type=Path, required=True)
    return parser.parse_args()


def main() -> None:
    """Run the phases."""
    options = parse()
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    os.environ["NCCL_HOSTID"] = f"host{rank // 2}"
    device = torch.device("cuda", rank % torch.cuda.device_count())
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    halves = [dist.new_group(list(range(half * world // 2, (half + 1) * world // 2))) for half in (0, 1)]
    half = halves[rank * 2 // world]

    matrix = torch.randn(2048, 2048, device=device, dtype=torch.bfloat16)
    shard = torch.randn(MIB // 8, device=device)
    whole = torch.empty(shard.numel() * world, device=device)
    small = torch.ones(1024, device=device)

    def step(sleep_seconds: float) -> None:
        if sleep_seconds:
            time.sleep(sleep_seconds)
        torch.mm(matrix, matrix)
        dist.all_gather_into_tensor(whole, shard)
        dist.all_reduce(small, group=half)
        dist.reduce_scatter_tensor(shard, whole)
        dist.all_reduce(small)
        small.fill_(1.0)
        torch.cuda.synchronize()

    for _ in range(50):
        step(0.0)
    begin = time.monotonic()
    for _ in range(200):
        step(0.0)
    # Every rank has to run the same steps: rank 0's step time decides for all.
    step_seconds = torch.tensor([(time.monotonic() - begin) / 200], device=device)
    dist.broadcast(step_seconds, 0)
    seconds = float(step_seconds)
    sleep_seconds = options.sleep_ms / 1e3

    phases = {}
    plan = (
        ("healthy", options.healthy_seconds / seconds, 0.0),
        ("late", options.late_seconds / (seconds + sleep_seconds), sleep_seconds),
        ("after", options.after_seconds / seconds, 0.0),
    )
    for name, steps, sleep in plan:
        dist.barrier()
        phases[name] = time.time()
        begin = time.monotonic()
        for _ in range(round(steps)):
            step(sleep if rank == options.late_rank else 0.0)
        phases[f"{name}_step_seconds"] = (time.monotonic() - begin) / round(steps)
    dist.barrier()
    phases["end"] = time.time()
    if rank == 0:
        phases |= {"nccl_version": list(torch.cuda.nccl.version()), "gpus": torch.cuda.device_count(), "ranks": world}
        options.phases.write_text(json.dumps(phases, indent=1))
        print(json.dumps(phases), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
