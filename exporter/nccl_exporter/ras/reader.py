# SPDX-License-Identifier: Apache-2.0
"""Asks RAS again and again beside the scrapes, and tells each scrape what it last said."""

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Self

from nccl_endpoint.address import Address

from nccl_exporter.model import Communicator, Process
from nccl_exporter.ras import answer, evidence, match
from nccl_exporter.ras.answer import Identity, RasCommunicator
from nccl_exporter.ras.client import Limits, RasError, ask
from nccl_exporter.ras.host import local_hosts
from nccl_exporter.ras.match import LocalCommunicator, Roster
from nccl_exporter.ras.status import RasStatus

_log = logging.getLogger(__name__)

INTERVAL_SECONDS: Final = 15.0
# What RAS said longer ago is not published.
OLDEST_SECONDS: Final = 60.0
# Without a scrape for this long nobody asks RAS either: an answer costs the whole job.
IDLE_SECONDS: Final = 300.0


@dataclass(frozen=True, slots=True)
class _Scrape:
    at: float
    communicators: Mapping[int, LocalCommunicator]


@dataclass(frozen=True, slots=True)
class _Answer:
    """One answer, made ready off the scrape's path; `scrape` is the last one before the question."""

    at: float
    roster: Roster
    behind: Mapping[Identity, frozenset[int]]
    scrape: _Scrape


class RasReader:
    """Call it with what this node has; it gives what RAS says about that. Never waits; may be called by any thread."""

    def __init__(
        self,
        address: Address,
        limits: Limits | None = None,
        interval_seconds: float = INTERVAL_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._address = address
        self._limits = limits or Limits()
        self._interval_seconds = interval_seconds
        self._clock = clock
        self._lock = threading.Lock()
        self._wanted = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="ras", daemon=True)
        self._scrape = _Scrape(0.0, {})
        self._answer: _Answer | None = None
        self._published: dict[int, tuple[float, list[RasStatus]]] = {}
        self._before: dict[Identity, tuple[float, evidence.Counts]] = {}
        self._trouble = ""
        self.queries = 0
        self.failures: Counter[str] = Counter()
        self.left_out: Counter[str] = Counter()
        self.capped = 0

    def __enter__(self) -> Self:
        """Start to ask, once there is something to ask about."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Ask no more; a query that is going on is waited for."""
        self._closed.set()
        self._wanted.set()
        self._thread.join()

    def __call__(self, pairs: Sequence[tuple[Process, Communicator]]) -> list[RasStatus]:
        """What RAS last said about these communicators, not longer ago than OLDEST_SECONDS."""
        ours = match.gather(pairs)
        with self._lock:
            now = self._clock()
            self._scrape = _Scrape(now, ours)
            if ours:
                self._wanted.set()
            else:
                self._wanted.clear()
            if self._answer is not None:
                self._take(self._answer, now, ours)
                self._answer = None
            self._published = {
                comm_id: (at, statuses)
                for comm_id, (at, statuses) in self._published.items()
                if comm_id in ours and now - at <= OLDEST_SECONDS
            }
            return [status for _, statuses in self._published.values() for status in statuses]

    def _take(self, new: _Answer, now: float, ours: Mapping[int, LocalCommunicator]) -> None:
        if now - new.at > OLDEST_SECONDS:
            return
        span = now - new.scrape.at
        share = (new.at - new.scrape.at) / span if span > 0 else 1.0
        then = [match.between(new.scrape.communicators.get(local.id), local, share) for local in ours.values()]
        matching = new.roster.match(then)
        self.left_out["not_found"] += matching.not_found
        self.left_out["ambiguous"] += matching.ambiguous
        for comm_id, theirs in matching.found.items():
            statuses, excess = evidence.publish(comm_id, theirs, new.behind[theirs.identity], ours[comm_id].pids)
            self.capped += excess
            self._published[comm_id] = (new.at, statuses)

    def _run(self) -> None:
        while self._wanted.wait() and not self._closed.is_set():
            with self._lock:
                scrape = self._scrape
                if self._clock() - scrape.at > IDLE_SECONDS:
                    self._wanted.clear()
                    continue
            self._query(scrape)
            self._closed.wait(self._interval_seconds)

    def _query(self, scrape: _Scrape) -> None:
        at = self._clock()
        new, trouble, reason = None, "", ""
        try:
            new = self._understand(at, answer.parse(ask(self._address, self._limits)), scrape)
        except RasError as error:
            trouble, reason = str(error), error.reason
        except Exception:
            # Evidence is not worth an exporter that stopped asking in silence.
            _log.exception("RAS at %s: its answer could not be used", self._address)
            trouble = reason = "malformed"
        with self._lock:
            self.queries += 1
            if reason:
                self.failures[reason] += 1
            else:
                self._answer = new
        if trouble != self._trouble:
            _log.info("RAS at %s %s", self._address, f"gives no answer: {trouble}" if trouble else "answers")
        self._trouble = trouble

    def _understand(self, at: float, communicators: Sequence[RasCommunicator], scrape: _Scrape) -> _Answer:
        self._before = {key: value for key, value in self._before.items() if at - value[0] <= OLDEST_SECONDS}
        behind = {}
        for communicator in communicators:
            _, before = self._before.get(communicator.identity, (0.0, None))
            behind[communicator.identity] = evidence.behind(communicator, before)
            self._before[communicator.identity] = (at, evidence.counts(communicator))
        hosts = local_hosts(rank.host for communicator in communicators for rank in communicator.ranks.values())
        return _Answer(at, Roster(communicators, hosts), behind, scrape)
