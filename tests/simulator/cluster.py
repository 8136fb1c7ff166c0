"""A simulated job on a cluster, as the snapshots that the metrics store gives."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
from simulator.conditions import Conditions
from simulator.faults import Event, ExporterGone, JobGone, LateAtEachCollective, LateRank, RankGone, Slowdown, Stall
from simulator.layout import Layout
from simulator.noise import Noise, NoiseState, Normal
from simulator.pace import Pace
from simulator.placement import Placement
from simulator.program import Program
from simulator.regimes import (
    Checkpoint,
    CounterReset,
    Evaluation,
    NewCommunicator,
    PartialAnswer,
    Reprogrammed,
    Restart,
    ScrapesLost,
)
from simulator.sampling import Sampling
from simulator.scraper import Scraper
from simulator.step import Step
from simulator.training import Training
from simulator.view import View

from sentinel.model.snapshot import Snapshot
from sentinel.model.vocabulary import Vocabulary

E = TypeVar("E", bound=Event)

_LEAST_SECONDS = 1e-6  # moments closer than this are one


class Cluster:
    """Physical and seeded: ranks arrive, wait for the last, and leave. Nothing in it knows what a detector looks for.

        cluster = Cluster(fsdp(ranks=1024), noise=(Normal(0.02), Ar1(rho=0.9)), seed=1)
        cluster.add(LateRank(rank=3, cost_ratio=0.05, begin=600, end=1200))
        for snapshot in cluster.snapshots(ticks=60): ...

    Every machine is scraped once a tick, at one of `scrape_moments` moments that are spread over it. `warm_up_seconds`
    is what the first operation of a communicator takes longer; each later one half of the one before. Times of events
    are seconds from `start`, which is Unix time. `machines` are as many as the job needs, unless there are more.
    """

    def __init__(
        self,
        layout: Layout,
        noise: Sequence[Noise] = (Normal(0.02),),
        seed: int = 1,
        tick_seconds: float = 30.0,
        sampling: Sampling | None = None,
        scrape_moments: int = 1,
        warm_up_seconds: float = 0.07,
        start: float = 1_700_000_000.0,
        machines: int = 0,
    ) -> None:
        self.vocabulary = Vocabulary()
        self.tick_seconds = tick_seconds
        self.start = start
        self._random, slow, self._luck = (np.random.default_rng([seed, part]) for part in range(3))
        self._sampling = Sampling() if sampling is None else sampling
        self._scrape_moments = scrape_moments
        self._warm_up_seconds = warm_up_seconds
        self._events: list[Event] = []
        self._ticks = 0
        self._now = 0.0  # seconds from the start
        self._starts = 0
        self._machines = max(machines, layout.nodes)
        self._scraper = Scraper(self._machines, tick_seconds)
        self._noise = NoiseState(noise, slow, self._machines * layout.gpus_per_node)
        self._first = Placement.in_order(layout.nodes, layout.ranks, layout.gpus_per_node)
        self._begin(layout, self._first)

    def add(self, *events: Event) -> "Cluster":
        """Let something happen. Gives the cluster back."""
        self._events += events
        return self

    @property
    def time(self) -> float:
        """Unix time of the last snapshot."""
        return self.start + self._now

    @property
    def step_seconds(self) -> float:
        """How long a step takes now, on average."""
        return self._pace_now(self._now)[2]

    @property
    def healthy_step_seconds(self) -> float:
        """How long it takes while nothing is wrong."""
        return self._pace.healthy_seconds

    def lateness_seconds(self, fault: LateRank | LateAtEachCollective) -> float:
        """How late a late rank comes each time: more than it costs, by what the noise of the others hides."""
        conditions, _ = self._pace.under(self._layout, ((fault, 1.0),))
        return float((conditions.before_step + conditions.before_collective).max())

    def snapshots(self, ticks: int) -> Iterator[Snapshot]:
        """The next ticks."""
        for _ in range(ticks):
            yield self._tick()

    def _tick(self) -> Snapshot:
        begin, self._ticks = self._now, self._ticks + 1
        end = self._ticks * self.tick_seconds
        self._noise.advance(self._machines * self._layout.gpus_per_node)
        moments = [begin + self.tick_seconds * (n + 1) / self._scrape_moments for n in range(self._scrape_moments - 1)]
        moments.append(end)
        edges = {edge for event in self._events for edge in event.edges if begin < edge < end}
        self._happen(begin)
        for edge in sorted(edges.union(moments)):
            if edge - self._now > _LEAST_SECONDS:
                self._work(self._now, edge)
            self._now = edge
            self._happen(edge)
            if edge in moments:
                self._scrape(moments.index(edge))
        missing, warnings = np.zeros(self._machines, dtype=bool), []
        for event in self._active(PartialAnswer, end):
            missing |= self._luck.random(self._machines) < event.missing_ratio
            warnings.append(event.warning)
        return self._view.snapshot(self.time, self._training.layout, self._scraper, missing, tuple(warnings))

    def _happen(self, now: float) -> None:
        """What happens once, when it is time."""
        for event in list(self._events):
            if isinstance(event, Restart) and event.edges[1] <= now:
                layout = event.layout or self._layout
                machines = range(layout.nodes) if event.layout else self._placement.machine
                chosen = np.array(machines if event.machines is None else event.machines)
                if len(chosen) != layout.nodes or chosen.max() >= self._machines:
                    raise ValueError(f"{layout.nodes} of {self._machines} machines are needed, not {chosen.tolist()}")
                self._begin(layout, Placement(chosen, layout.ranks, layout.gpus_per_node))
                self._events.remove(event)
            elif isinstance(event, CounterReset) and event.begin <= now:
                self._training.ledger.reset(event.rank)
                self._events.remove(event)

    def _begin(self, layout: Layout, placement: Placement) -> None:
        """The job starts, for the first time or again."""
        self._starts += 1
        self._layout, self._placement = layout, placement
        self._layouts: dict[tuple[Event, ...], Layout] = {(): layout}
        self._pace = Pace(layout, placement, self._first, self._noise)
        self._view = View(self.vocabulary, layout, placement, self._starts)
        self._training = Training(layout, self._sampling, self._warm_up_seconds)
        self._scraper.forget(layout.ranks)

    def _work(self, begin: float, end: float) -> None:
        if self._is_down(begin):
            return
        layout, conditions, seconds = self._pace_now(begin, end)
        if layout is not self._training.layout:
            self._training.reprogram(layout)
        factor = self._noise.factor(begin) * self._slowdown(begin)
        step = Step(conditions, self._placement, self._noise, self._random, factor)
        stuck = self._ranks_of(Stall, begin)
        if stuck or self._active(Checkpoint, begin):
            if not self._training.is_stalled:
                self._training.finish_layer(step, conditions, seconds)
                if stuck:
                    self._training.stall(stuck, self.start + begin)
            return
        if self._training.is_stalled:
            self._training.go_on(self.start + begin)
        self._training.advance(step, conditions, (end - begin) / seconds, seconds)

    def _pace_now(self, begin: float, end: float | None = None) -> tuple[Layout, Conditions, float]:
        layout = self._layout_at(begin)
        middle = begin if end is None else 0.5 * (begin + end)
        active = tuple((fault, fault.strength(middle)) for fault in self._active(Slowdown, begin))
        conditions, seconds = self._pace.under(layout, active)
        return layout, conditions, seconds * self._noise.factor(begin) * self._slowdown(begin)

    def _layout_at(self, now: float) -> Layout:
        """The job with the communicators that it has and the step that it does."""
        changes: tuple[NewCommunicator | Reprogrammed, ...]
        changes = (*self._active(NewCommunicator, now), *self._active(Reprogrammed, now))
        if changes not in self._layouts:
            layout = self._layout
            for change in changes:
                if isinstance(change, NewCommunicator):
                    program = Program((*layout.program.blocks, change.block))
                    layout = replace(layout, kinds={**layout.kinds, change.kind.name: change.kind}, program=program)
                else:
                    layout = replace(layout, program=change.program(layout.program))
            self._layouts[changes] = layout
        return self._layouts[changes]

    def _slowdown(self, now: float) -> float:
        return float(np.prod([event.slowdown for event in self._active(Evaluation, now)]))

    def _scrape(self, moment: int) -> None:
        now = self._now
        asked = np.arange(self._machines) % self._scrape_moments == moment
        gone = np.zeros(self._machines, dtype=bool)
        gone[[event.node for event in self._active(ExporterGone, now)]] = True
        lost = np.zeros(self._machines, dtype=bool)
        for event in self._active(ScrapesLost, now):
            lost |= self._luck.random(self._machines) < event.ratio
        alive = np.full(self._layout.ranks, not self._is_down(now))
        alive[self._ranks_of(RankGone, now)] = False
        node_of = self._placement.node_of
        self._training.look(self.time)
        self._scraper.fail(asked & gone, node_of)
        self._scraper.scrape(self.time, self._training.ledger, asked & ~gone & ~lost, node_of, alive)

    def _is_down(self, now: float) -> bool:
        return bool(self._active(JobGone, now)) or any(
            event.begin <= now < event.edges[1] for event in self._events if isinstance(event, Restart)
        )

    def _ranks_of(self, kind: type[Stall], now: float) -> list[int]:
        return sorted({event.rank for event in self._active(kind, now) if event.rank < self._layout.ranks})

    def _active(self, kind: type[E], now: float) -> tuple[E, ...]:
        return tuple(event for event in self._events if isinstance(event, kind) and event.is_active(now))
