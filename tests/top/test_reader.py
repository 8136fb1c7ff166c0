from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from page.scenes import COMM, NOW, Scene
from page.served import serving
from servers.incidents import INCIDENT

from sentinel.errors import SourceError
from sentinel.page.facts import Facts
from sentinel.top.access import daemon_access
from sentinel.top.answers import Ranking, Story
from sentinel.top.client import DaemonClient
from sentinel.top.reader import Reader
from sentinel.top.seen import Wants

WANTS = Wants((COMM,), INCIDENT.id)


class Ticking(Scene):
    """A scene that looks again when it is told to."""

    tick = NOW

    def facts(self) -> Facts:
        return replace(super().facts(), last_tick=self.tick)


class Asked(DaemonClient):
    """Counts questions."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon_access(url=url))
        self.count: Counter[str] = Counter()

    def _document(self, kind: type, name: str, **parameters: str) -> object:
        self.count[name] += 1
        return super()._document(kind, name, **parameters)


@pytest.fixture
def scene(tmp_path: Path) -> Ticking:
    return Ticking(tmp_path, INCIDENT)


@pytest.fixture
def client(scene: Ticking) -> Iterator[Asked]:
    with serving(scene) as url, Asked(url) as asked:
        yield asked


def look(reader: Reader, wants: Wants = WANTS) -> None:
    reader.look()
    reader.complete(wants)


def test_the_status_each_time_and_the_rest_once_a_tick(scene: Ticking, client: Asked) -> None:
    reader = Reader(client, lambda: 7.0)
    for _ in range(3):
        look(reader)
    assert client.count == {"status": 3, "incidents": 1, "ranking": 1, "incident": 1}
    assert isinstance(reader.seen.rankings[COMM], Ranking)
    assert isinstance(reader.seen.stories[INCIDENT.id], Story)
    assert reader.seen.at == 7.0
    assert not reader.lacks(WANTS)
    scene.tick += 30.0
    reader.look()
    assert reader.lacks(WANTS) is False  # until the incidents are asked for it is as of the tick before
    reader.complete(WANTS)
    assert client.count == {"status": 4, "incidents": 2, "ranking": 2, "incident": 2}


def test_what_is_looked_at_next_is_asked_for_and_what_no_more_is_let_go_of(scene: Ticking, client: Asked) -> None:
    reader = Reader(client, lambda: 7.0)
    look(reader, Wants())
    assert reader.lacks(WANTS)
    reader.complete(WANTS)
    assert list(reader.seen.rankings) == [COMM]
    scene.tick += 30.0
    look(reader, Wants())
    assert (reader.seen.rankings, reader.seen.stories) == ({}, {})


def test_one_that_is_gone_keeps_nothing_else_from_being_asked_for(client: Asked) -> None:
    reader = Reader(client, lambda: 7.0)
    wants = Wants(("ff", COMM), "ff")
    look(reader, wants)
    assert reader.seen.rankings["ff"] == "there is no communicator ff"
    assert reader.seen.stories["ff"] == "there is no incident ff"
    assert isinstance(reader.seen.rankings[COMM], Ranking)
    assert not reader.lacks(wants)


def test_without_an_answer_what_was_known_stays(scene: Ticking) -> None:
    now = [1.0]
    with serving(scene) as url, Asked(url) as client:
        reader = Reader(client, lambda: now[0])
        look(reader)
        known = reader.seen
    now[0] = 50.0
    with pytest.raises(SourceError) as caught:
        reader.look()
    reader.fail(caught.value)
    assert reader.seen == replace(known, fault="Connection refused")
    assert not reader.lacks(Wants(("other",)))  # it is tried again with the next status
