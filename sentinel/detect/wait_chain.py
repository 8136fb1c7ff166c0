"""Not every late rank is guilty: whom it waited for, whom that one waited for, and so on to the root."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sentinel.config.detection_wait_chain import WaitChainSettings
from sentinel.detect.late_rank import LateSeries
from sentinel.detect.wait_graph import Node, WaitGraph
from sentinel.detect.wait_history import WaitHistory
from sentinel.measure.processes import Process, WaitLayout
from sentinel.measure.waits import Waits

__all__ = ["Chain", "Standing", "WaitChain"]

# A wait of less than this share of what it has to explain is noise.
_NOISE_SHARE = 0.1
# Who was a victim stays one down to this part of the share that makes one, and who was accused becomes one only when
# this part of what is left is explained as well: no one changes sides with every tick.
_HYSTERESIS = 0.5


class Standing(StrEnum):
    """What its chain makes of a late rank."""

    ROOT = "root"  # waits for nobody
    VICTIM = "victim"  # of a root that is called late, or slow, itself
    HELD = "held"  # its root is not called, yet
    UNRESOLVED = "unresolved"  # nor has it been for `hold_ticks`


@dataclass(frozen=True)
class Chain:
    """A late process, and those that it waits for: `path` begins with its own, and ends with the root.

    `path` is empty for a root. `share_ratio` says how much of its lateness its waiting explains. In a `cycle` each
    waits for the next and there is no root; `path` then ends where it came round.
    """

    process: Process
    standing: Standing
    share_ratio: float
    path: tuple[Node, ...] = ()
    cycle: bool = False


@dataclass(frozen=True)
class _Link:
    """What a process waits for most, and how much of what it has to explain its waits are."""

    share_ratio: float
    target: Node | None
    ratio: float  # seconds per second for the target
    comm: int  # with whose members it was compared


class WaitChain:
    """Follows late ranks to their roots, tick by tick."""

    def __init__(self, settings: WaitChainSettings, min_ticks: int) -> None:
        """`min_ticks`: ticks with data that a wait needs before its own history is used."""
        self._settings = settings
        self._history = WaitHistory(min_ticks)
        self._standing: dict[Process, Standing] = {}
        self._waited: dict[Process, int] = {}  # ticks for which a victim's root was not called

    def step(
        self,
        waits: Waits,
        layout: WaitLayout,
        late: Sequence[LateSeries],
        fit: Collection[int],
        slow: Collection[int] = (),
    ) -> Mapping[Process, Chain]:
        """What becomes of the late ranks of this tick.

        fit: communicators that may be learnt from. slow: communicators that another verdict calls slow as a whole.
        """
        if not self._settings.enabled:
            return {}
        levels = self._history.step(waits, np.isin(waits.comm, np.fromiter(fit, dtype=np.int64)))
        graph = WaitGraph(waits, levels, layout, slow)
        lates: dict[Process, list[LateSeries]] = defaultdict(list)
        for one in late:
            process = graph.process(one.comm, one.rank)
            if process is not None:
                lates[process].append(one)
        links = {process: self._link(process, series, graph) for process, series in lates.items()}
        # A root that nobody hears of stays one: those that wait for it cannot be its successors.
        silent = {process: each for process, each in self._standing.items() if graph.is_silent(process)}
        roots = {process for process, link in links.items() if link.target is None}
        roots |= {process for process, standing in silent.items() if standing is Standing.ROOT}
        chains = {process: self._follow(process, links, graph, roots, slow) for process in links}
        self._standing = {**silent, **{process: chain.standing for process, chain in chains.items()}}
        self._waited = {process: count for process, count in self._waited.items() if process in chains}
        return chains

    def forget(self, comms: Collection[int]) -> None:
        """These communicators are over."""
        self._history.forget(comms)

    def _link(self, process: Process, series: Sequence[LateSeries], graph: WaitGraph) -> _Link:
        """Whom a late process waits for: nobody, if in any communicator most of its lateness is its own."""
        links = []
        for one in series:
            need = graph.lateness(one.comm, one.rank) or one.cost_ratio
            links.append((need, self._longest(process, one.comm, need, graph)))
        least = min((link for _, link in links), key=lambda link: link.share_ratio)
        if least.share_ratio < self._needed(process):
            return _Link(least.share_ratio, None, 0.0, least.comm)
        return max(links, key=lambda each: each[0])[1]

    def _longest(self, process: Process, comm: int, need: float, graph: WaitGraph) -> _Link:
        waits = graph.waits(process, comm, _NOISE_SHARE * need)
        if not waits or need <= 0:
            return _Link(0.0, None, 0.0, comm)
        target = max(waits, key=lambda node: (waits[node], str(node)))
        return _Link(min(1.0, sum(waits.values()) / need), target, waits[target], comm)

    def _needed(self, process: Process) -> float:
        share, before = self._settings.min_share_ratio, self._standing.get(process)
        if before is None:
            return share
        return 1.0 - _HYSTERESIS * (1.0 - share) if before is Standing.ROOT else _HYSTERESIS * share

    def _follow(
        self,
        process: Process,
        links: Mapping[Process, _Link],
        graph: WaitGraph,
        roots: Collection[Process],
        slow: Collection[int],
    ) -> Chain:
        first = link = links[process]
        if link.target is None:
            self._waited.pop(process, None)
            return Chain(process, Standing.ROOT, first.share_ratio)
        path: list[Node] = []
        cycle = False
        while link.target is not None:
            node = link.target
            cycle = node == process or node in path
            path.append(node)
            if cycle or isinstance(node, int):
                break
            link = links[node] if node in links else self._onward(node, link, graph)
        end = path[-1]
        called = not cycle and (end in slow if isinstance(end, int) else end in roots)
        return Chain(process, self._stand(process, called), first.share_ratio, tuple(path), cycle)

    def _onward(self, process: Process, link: _Link, graph: WaitGraph) -> _Link:
        """What a process that is not called late waits for, if that explains why it was waited for."""
        comm = graph.like(process, link.comm)
        if comm is None:
            return _Link(0.0, None, 0.0, link.comm)
        onward = self._longest(process, comm, link.ratio, graph)
        return onward if onward.share_ratio >= self._settings.min_share_ratio else _Link(0.0, None, 0.0, comm)

    def _stand(self, process: Process, called: bool) -> Standing:
        if called:
            self._waited.pop(process, None)
            return Standing.VICTIM
        # A cycle names nobody either: which of its waits is the smallest is decided by noise.
        self._waited[process] = self._waited.get(process, 0) + 1
        return Standing.HELD if self._waited[process] <= self._settings.hold_ticks else Standing.UNRESOLVED
