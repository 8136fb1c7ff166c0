"""Jobs as they are run: by their parallelism."""

import numpy as np
from simulator.layout import Kind, Layout
from simulator.program import Block, Collective, Pass, Phase, Program

_COMMUNICATION_RATIO = 0.3  # of a step; the rest is compute


def fsdp(ranks: int = 64, layers: int = 8, step_seconds: float = 3.0) -> Layout:
    """Fully sharded data parallel: one communicator of everybody.

    Forward gathers the parameters of each layer; backward gathers them again and scatters gradients; small
    all-reduces (norm, loss) end the step.
    """
    share = step_seconds / (3 * layers)
    times = (share * _COMMUNICATION_RATIO, share * (1 - _COMMUNICATION_RATIO))
    gather = Collective("world", "AllGather", 1 << 26, *times)
    scatter = Collective("world", "ReduceScatter", 1 << 26, *times)
    norm = Collective("world", "AllReduce", 8, 0.0005, 0.001, "TREE", "LL")
    blocks = (Block((gather,), layers), Block((gather, scatter), layers), Block((norm,), 4))
    return Layout(ranks, _kinds(ranks, "world"), Program(blocks), np.zeros(ranks, dtype=np.int64))


def replicated(ranks: int = 64, layers: int = 8, step_seconds: float = 3.0) -> Layout:
    """Data parallel: everybody all-reduces gradients, in buckets of two sizes."""
    share = step_seconds / layers
    transfer, compute = share * _COMMUNICATION_RATIO / 2, share * (1 - _COMMUNICATION_RATIO) / 2
    layer = tuple(Collective("world", "AllReduce", size, transfer, compute) for size in (1 << 24, 1 << 25))
    return Layout(ranks, _kinds(ranks, "world"), Program((Block(layer, layers),)), np.zeros(ranks, dtype=np.int64))


def two_level(ranks: int = 64, layers: int = 8, step_seconds: float = 3.0) -> Layout:
    """Sharded inside each node, replicated between nodes."""
    share = step_seconds / layers
    compute, transfer = share * (1 - _COMMUNICATION_RATIO) / 2, share * _COMMUNICATION_RATIO
    layer: tuple[Phase, ...] = (
        Collective("node", "AllGather", 1 << 24, transfer * 0.2, compute),
        Collective("node", "ReduceScatter", 1 << 24, transfer * 0.2, compute),
        Collective("world", "AllReduce", 1 << 25, transfer * 0.6),
    )
    kinds = _kinds(ranks, "world", "node")
    return Layout(ranks, kinds, Program((Block(layer, layers),)), np.zeros(ranks, dtype=np.int64))


def hybrid(ranks: int = 64, layers: int = 8, step_seconds: float = 3.0) -> Layout:
    """Hybrid sharding: sharded inside pairs of nodes, replicated between the pairs.

    Each node's ranks are in one communicator of its pair and in one with their like of every second node. The step ends
    with a small all-reduce of everybody (the gradient's norm).
    """
    share = step_seconds / layers
    compute, transfer = share * (1 - _COMMUNICATION_RATIO) / 2, share * _COMMUNICATION_RATIO
    layer: tuple[Phase, ...] = (
        Collective("pair", "AllGather", 1 << 26, transfer * 0.3, compute),
        Collective("pair", "ReduceScatter", 1 << 26, transfer * 0.3, compute),
        Collective("replica", "AllReduce", 1 << 25, transfer * 0.4),
    )
    norm = Collective("world", "AllReduce", 8, 0.0005, 0.001, "TREE", "LL")
    kinds = _kinds(ranks, "world", "pair", "replica")
    program = Program((Block((*layer * layers, norm)),))
    return Layout(ranks, kinds, program, np.zeros(ranks, dtype=np.int64))


def pipeline(stages: int = 4, replicas: int = 16, microbatches: int = 4, step_seconds: float = 3.0) -> Layout:
    """Stages of `replicas` ranks each: rank r of a stage sends to rank r of the next. Gradients inside each stage.

    The step ends with a small all-reduce of everybody (the gradient's norm).
    """
    ranks = stages * replicas
    grid = np.arange(ranks).reshape(stages, replicas)
    turns = microbatches + stages - 1  # of the pipeline, its filling included
    share = 0.8 * step_seconds / (3 * turns)
    move = {"size": 1 << 23, "transfer_seconds": 0.1 * share, "microbatches": microbatches}
    phases: tuple[Phase, ...] = (
        Pass("pipeline", compute_seconds=0.9 * share, **move),  # type: ignore[arg-type]
        Pass("pipeline", compute_seconds=1.9 * share, backward=True, **move),  # type: ignore[arg-type]
        Collective("stage", "AllReduce", 1 << 28, 0.19 * step_seconds),
        Collective("world", "AllReduce", 8, 0.0005, 0.001, "TREE", "LL"),
    )
    kinds = {
        "stage": Kind("stage", grid, comm_name="dp"),
        "pipeline": Kind("pipeline", grid.T.copy(), comm_name="pp"),
        **_kinds(ranks, "world"),
    }
    return Layout(ranks, kinds, Program((Block(phases),)), np.repeat(np.arange(stages), replicas))


def four_communicators(ranks: int = 64, step_seconds: float = 3.0) -> Layout:
    """Each rank in four communicators with eight cells each: as many series as a large job has for each rank."""
    ops = ("AllGather", "ReduceScatter", "AllReduce", "AllToAll")
    share = step_seconds / 32
    phases: list[Phase] = []
    for kind in ("tensor", "context", "data", "world"):
        for size in (1 << 16, 1 << 24):
            times = (share * _COMMUNICATION_RATIO, share * (1 - _COMMUNICATION_RATIO))
            phases += [Collective(kind, op, size, *times) for op in ops]
    kinds = _kinds(ranks, "tensor", "context", "data", "world")
    return Layout(ranks, kinds, Program((Block(tuple(phases)),)), np.zeros(ranks, dtype=np.int64))


def _kinds(ranks: int, *names: str) -> dict[str, Kind]:
    everybody = np.arange(ranks)
    shapes = {
        "world": (1, ranks, ""),
        "node": (-1, 8, ""),
        "pair": (-1, 16, "shard"),
        "tensor": (-1, 8, "tp"),
        "context": (-1, 4, "cp"),
    }
    kinds = {}
    for name in names:
        if name == "data":  # one rank of each node
            kinds[name] = Kind(name, everybody.reshape(-1, min(8, ranks)).T.copy(), "dp")
        elif name == "replica":  # one rank of each pair of nodes
            kinds[name] = Kind(name, everybody.reshape(-1, 16).T.copy(), "replicate")
        else:
            count, nranks, comm_name = shapes[name]
            kinds[name] = Kind(name, everybody.reshape(count, min(nranks, ranks)), comm_name)
    return kinds
