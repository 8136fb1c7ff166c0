"""The processes of this node: finds their files, tells the living from the dead, remembers what outlasts a scrape."""

import logging
import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from nccl_exporter import budget, directory, header, lock
from nccl_exporter.errors import SourceError
from nccl_exporter.layout import FileState
from nccl_exporter.ledger import Ledger
from nccl_exporter.model import Communicator, Process
from nccl_exporter.reader import Reader

_log = logging.getLogger(__name__)

# Files opened in one scrape; a node runs one process a GPU.
SOURCES: Final = 256
# A dead process's file is removed once it was seen dead for this long.
DEAD_NS: Final = 300_000_000_000

Place = tuple[Path, str]
# Device and inode of the file, start and pid of the process: another process in the same file is another source.
Key = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Source:
    """The open file of a living process."""

    place: Place
    key: Key
    descriptor: int
    process: Process


@dataclass(slots=True)
class Findings:
    """What one look at the directories found; files by state (catalogue.SOURCE_STATES)."""

    states: Counter[str] = field(default_factory=Counter)
    unreadable: int = 0
    sources: list[Source] = field(default_factory=list)
    keys: set[Key] = field(default_factory=set)
    places: set[Place] = field(default_factory=set)


class Census:
    """Looks at the directories, once a scrape. Not for use by two threads at a time."""

    def __init__(
        self,
        directories: Sequence[Path],
        monotonic_ns: Callable[[], int],
        series_per_rank: int = budget.SERIES_PER_RANK,
    ) -> None:
        self._directories = tuple(dict.fromkeys(directories))
        self._series_per_rank = series_per_rank
        self._monotonic_ns = monotonic_ns
        self._readers: dict[Key, Reader] = {}
        self._dropped: Ledger[Key] = Ledger()
        self._dead_since: dict[Place, int] = {}
        self._complaints: dict[Place, set[str]] = {}
        self._directory_troubles: dict[Path, str] = {}
        self._live: dict[Key, Place] = {}
        self._live_places: set[Place] = set()
        self._read_to_the_end: set[Key] = set()
        self._ended_torn = self._ended_folded = 0
        self._ended_rejected: Counter[str] = Counter()
        self.sources_rejected: Counter[str] = Counter()

    @property
    def torn(self) -> int:
        """Rows that stayed torn, since the exporter started."""
        return self._ended_torn + sum(reader.torn for reader in self._readers.values())

    @property
    def rows_rejected(self) -> Counter[str]:
        """Rows left out, by reason, since the exporter started."""
        return sum((reader.rejected for reader in self._readers.values()), self._ended_rejected.copy())

    @property
    def folded(self) -> int:
        """Series folded into others, each once, since the exporter started."""
        return self._ended_folded + sum(reader.folded for reader in self._readers.values())

    @property
    def dropped(self) -> tuple[int, ...]:
        """What did not fit, in the order of layout.DROPPED, of every process seen, ended ones as well."""
        return self._dropped.total

    def take(self, stack: ExitStack) -> Findings:
        """Find the living processes, oldest first; their files stay open until `stack` is left."""
        findings = Findings()
        for path in self._directories:
            self._look_into(path, findings, stack)
        findings.sources.sort(key=lambda source: (source.process.start_monotonic_ns, source.place))
        self._forget(findings)
        return findings

    def read(self, source: Source) -> list[Communicator]:
        """The communicators of one process; none, and says why, when its file turns out to be bad."""
        return self._read(source.key, source.place, source.descriptor, source.process)

    def _read(self, key: Key, place: Place, descriptor: int, process: Process) -> list[Communicator]:
        reader = self._readers.get(key)
        if reader is None:
            reader = self._readers[key] = Reader(self._monotonic_ns, self._series_per_rank)
        found: list[Communicator] = []
        try:
            found = reader.communicators(descriptor, process.start_monotonic_ns)
        except SourceError as error:
            self._refuse(place, error)
        # The header was read first. What a slot that is used again has dropped moves from its rows to the header:
        # in this order it may be missed for one scrape, and is never counted twice.
        self._dropped.note(key, tuple(map(sum, zip(process.dropped, reader.dropped, strict=True))))
        return found

    def _look_into(self, path: Path, findings: Findings, stack: ExitStack) -> None:
        try:
            with directory.opened(path) as listing:
                self._directory_trouble(path, "")
                names = directory.file_names(listing)
                names.sort(key=lambda name: self._turn((path, name)))
                for name in names:
                    place = (path, name)
                    findings.places.add(place)
                    if len(findings.places) > SOURCES:
                        findings.states["capped"] += 1
                    else:
                        self._look_at(place, listing, findings, stack)
        except FileNotFoundError:
            self._directory_trouble(path, "does not exist yet: no job has started, or jobs write elsewhere")
        except OSError as error:
            findings.unreadable += 1
            self._directory_trouble(path, f"cannot be listed: {error.strerror}")

    def _turn(self, place: Place) -> int:
        """Who is looked at first when there are too many: the living, newcomers, and last what was of no use before."""
        if place in self._complaints or place in self._dead_since:
            return 2
        return 0 if place in self._live_places else 1

    def _look_at(self, place: Place, listing: int, findings: Findings, stack: ExitStack) -> None:
        try:
            descriptor, status = directory.open_file(listing, place[1])
        except FileNotFoundError:
            return
        except SourceError as error:
            findings.states["rejected"] += 1
            self._refuse(place, error)
            return
        stack.callback(os.close, descriptor)
        try:
            state, process = header.read(descriptor, status.st_size)
        except SourceError as error:
            findings.states["rejected"] += 1
            self._refuse(place, error)
            return
        if process is not None:
            key = (status.st_dev, status.st_ino, process.start_monotonic_ns, process.pid)
            if key in findings.keys:
                return  # the same file by another path
            findings.keys.add(key)
            if lock.is_held(descriptor):
                findings.states["live"] += 1
                findings.sources.append(Source(place, key, descriptor, process))
                return
            if key not in self._read_to_the_end:  # what was dropped since the last scrape outlives the process
                self._read_to_the_end.add(key)
                self._read(key, place, descriptor, process)
        elif lock.is_held(descriptor):
            findings.states["starting"] += 1
            return
        findings.states["finished" if state is FileState.FINISHED else "dead"] += 1
        now = self._monotonic_ns()
        if now - self._dead_since.setdefault(place, now) > DEAD_NS and directory.remove(listing, place[1], status):
            _log.info("removed the file of an ended process: %s", _shown(place))

    def _forget(self, findings: Findings) -> None:
        """Let go of what is no longer there, and add up what must not be forgotten."""
        live = {source.key: source.place for source in findings.sources}
        for source in findings.sources:
            if source.key not in self._live:
                process = source.process
                _log.info("source accepted: %s, pid %d on %r", _shown(source.place), process.pid, process.hostname)
                self._dead_since.pop(source.place, None)
        for key, place in self._live.items():
            if key not in live:
                _log.info("source ended: %s", _shown(place))
        self._live = live
        self._live_places = set(live.values())
        for key in self._readers.keys() - live.keys():
            reader = self._readers.pop(key)
            self._ended_torn += reader.torn
            self._ended_folded += reader.folded
            self._ended_rejected.update(reader.rejected)
        self._dropped.settle(findings.keys)
        self._read_to_the_end &= findings.keys
        self._dead_since = {place: since for place, since in self._dead_since.items() if place in findings.places}
        self._complaints = {place: said for place, said in self._complaints.items() if place in findings.places}

    def _refuse(self, place: Place, error: SourceError) -> None:
        said = self._complaints.setdefault(place, set())
        if error.reason not in said:
            said.add(error.reason)
            self.sources_rejected[error.reason] += 1
            _log.warning("source rejected: %s: %s", _shown(place), error.detail)

    def _directory_trouble(self, path: Path, trouble: str) -> None:
        if trouble != self._directory_troubles.get(path, ""):
            _log.warning("directory %s %s", path, trouble or "is there now")
        self._directory_troubles[path] = trouble


def _shown(place: Place) -> str:
    # The name is anybody's choice: repr keeps control characters out of the log.
    return repr(str(place[0] / place[1]))
