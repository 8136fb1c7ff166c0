"""One rank of the measured job: four workloads, each timed by CUDA events around batches of operations.

The small all-reduces go to NCCL directly: a framework's own time per call would hide the plugin's. The training-like
step goes through torch.distributed, as FSDP does: gather each layer's weights, multiply, scatter its gradients.
"""

import os
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median
from typing import Any, Final

import torch
import torch.distributed as dist
from gpu.pair.rank import RANKS, Rank

KIB: Final = 1 << 10
MIB: Final = 1 << 20
# A sampling period is 64 operations: a batch is whole periods, so every batch has its share of timed operations.
PERIOD: Final = 64

LAYERS: Final = 4
WIDTH: Final = 4096  # a layer's weights, WIDTH × WIDTH in bf16, are 32 MiB
TOKENS: Final = 24_576  # a product of TOKENS × WIDTH × WIDTH takes about 1.1 ms on an H200; a step has 12

GRAPH_OPERATIONS: Final = 10


def start(rank: int, folder: Path) -> "OverheadJob":
    """Called in the rank's process."""
    return OverheadJob(Rank(rank, folder))


class OverheadJob:
    """A rank, its communicators and what it can be asked to run."""

    def __init__(self, rank: Rank) -> None:
        self._rank = rank
        dist.init_process_group(
            "nccl",
            store=dist.PrefixStore("world", rank.store),
            rank=rank.rank,
            world_size=RANKS,
            device_id=rank.device,
            timeout=timedelta(seconds=60),
        )
        self._communicator = rank.communicator()
        self._training_step: _TrainingStep | None = None
        _bind(rank.rank)
        self._workloads: dict[str, Callable[[], dict[str, float]]] = {
            "all_reduce_64k": lambda: self._all_reduce(64 * KIB, operations=10 * PERIOD, batches=12),
            "all_reduce_1m": lambda: self._all_reduce(MIB, operations=5 * PERIOD, batches=12),
            "step": self._step,
            "graph_64k": self._graph,
        }

    def facts(self) -> dict[str, Any]:
        return self._rank.facts()

    def answer(self, request: str) -> dict[str, float]:
        with torch.cuda.stream(self._rank.stream):
            return self._workloads[request]()

    def close(self) -> None:
        self._rank.close()
        dist.destroy_process_group()

    def _all_reduce(self, size_bytes: int, operations: int, batches: int) -> dict[str, float]:
        buffer, address = self._rank.zeros(size_bytes)
        all_reduce, stream, floats = self._communicator.all_reduce, self._rank.stream_handle, buffer.numel()

        def batch() -> None:
            for _ in range(operations):
                all_reduce(address, floats, stream)

        return _timed(batch, operations, batches, warm_up=3)

    def _step(self) -> dict[str, float]:
        self._training_step = step = self._training_step or _TrainingStep(self._rank.device)

        def batch() -> None:
            for _ in range(2):
                step.run()

        return _timed(batch, operations=2, batches=5, warm_up=1)

    def _graph(self) -> dict[str, float]:
        buffer, address = self._rank.zeros(64 * KIB)
        all_reduce, stream, floats = self._communicator.all_reduce, self._rank.stream_handle, buffer.numel()
        graph = torch.cuda.CUDAGraph()
        # PyTorch's watchdog thread may ask CUDA something meanwhile.
        with torch.cuda.graph(graph, stream=self._rank.stream, capture_error_mode="thread_local"):
            for _ in range(GRAPH_OPERATIONS):
                all_reduce(address, floats, stream)

        def batch() -> None:
            for _ in range(PERIOD):
                graph.replay()

        times = _timed(batch, operations=PERIOD * GRAPH_OPERATIONS, batches=24, warm_up=4)
        graph.reset()  # NCCL wants graphs to go before their communicator
        return times


def _bind(rank: int) -> None:
    """Keep this thread, which launches, on one core: the same one in every variant, another for each rank.

    The process's other threads, NCCL's among them, were started before and stay where the machine lets them run.
    """
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[len(cores) * (2 * rank + 1) // (2 * RANKS)]})


class _TrainingStep:
    """Forward and backward of a few linear layers whose weights are sharded, all on one stream."""

    def __init__(self, device: torch.device) -> None:
        # Zeros unless told otherwise: random numbers take the GPU to its power limit, where its clock wanders. Products
        # of zeros are faster, which makes the plugin's share of the step larger.
        fill = torch.randn if os.environ.get("OVERHEAD_VALUES") == "random" else torch.zeros
        like: dict[str, Any] = {"device": device, "dtype": torch.bfloat16}
        self._shards = [fill(WIDTH * WIDTH // RANKS, **like) / WIDTH**0.5 for _ in range(LAYERS)]
        self._shard_gradients = [torch.zeros_like(shard) for shard in self._shards]
        self._weights = torch.zeros(WIDTH, WIDTH, **like)
        self._weight_gradients = torch.zeros(WIDTH, WIDTH, **like)
        self._inputs = fill(TOKENS, WIDTH, **like)
        self._outputs = torch.zeros(TOKENS, WIDTH, **like)
        self._input_gradients = torch.zeros(TOKENS, WIDTH, **like)

    def run(self) -> None:
        """Enqueue one step."""
        for shard in self._shards:
            dist.all_gather_into_tensor(self._weights.view(-1), shard)
            torch.mm(self._inputs, self._weights, out=self._outputs)
        for shard, gradient in zip(reversed(self._shards), reversed(self._shard_gradients), strict=True):
            dist.all_gather_into_tensor(self._weights.view(-1), shard)
            torch.mm(self._outputs, self._weights.t(), out=self._input_gradients)
            torch.mm(self._inputs.t(), self._outputs, out=self._weight_gradients)
            dist.reduce_scatter_tensor(gradient, self._weight_gradients.view(-1))


def _timed(batch: Callable[[], None], operations: int, batches: int, warm_up: int) -> dict[str, float]:
    """Microseconds per operation: over all batches, and in the median batch. The warm-up's batches are not timed."""
    events = [torch.cuda.Event(enable_timing=True) for _ in range(batches + 1)]
    for _ in range(warm_up):
        batch()
    events[0].record()
    for event in events[1:]:
        batch()
        event.record()
    torch.cuda.synchronize()
    times = [1e3 * begin.elapsed_time(end) / operations for begin, end in pairwise(events)]
    return {"median_us": median(times), "mean_us": fmean(times), "least_us": min(times), "batches": batches}
