"""A source without a server."""

from collections.abc import Iterable, Iterator

from sentinel.errors import SourceError
from sentinel.model.snapshot import Snapshot


class MemorySource:
    """Gives recorded snapshots by their time. While `down`, every read fails; `asked` keeps what was read."""

    def __init__(self, snapshots: Iterable[Snapshot]) -> None:
        self._snapshots = {round(snapshot.time * 1000): snapshot for snapshot in snapshots}
        self.down = False
        self.asked: list[float] = []

    def snapshot(self, at: float) -> Snapshot:
        if self.down:
            raise SourceError("cannot query Prometheus", where="http://memory", why="it is down")
        self.asked.append(at)
        return self._snapshots[round(at * 1000)]

    def snapshots(self, start: float, end: float, step: float) -> Iterator[Snapshot]:
        count = round((end - start) / step) + 1
        for index in range(count):
            yield self.snapshot(start + index * step)
