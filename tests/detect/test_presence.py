"""When a communicator is over."""

from cluster.fabric import Ring

from sentinel.detect.presence import Presence
from sentinel.measure.membership import Membership

MEMBERSHIP = Ring(nranks=2).membership
(COMM,) = MEMBERSHIP.communicators
NOBODY = Membership({})


def test_who_is_gone_for_long_is_over_once() -> None:
    presence = Presence(60.0)
    assert presence.step(0.0, MEMBERSHIP) == set()
    assert presence.step(60.0, NOBODY) == set()
    assert presence.known(COMM)
    assert presence.step(61.0, NOBODY) == {COMM}
    assert not presence.known(COMM)
    assert presence.step(200.0, NOBODY) == set()


def test_who_pauses_is_not_over() -> None:
    presence = Presence(60.0)
    presence.step(0.0, MEMBERSHIP, {COMM})
    assert presence.step(100.0, MEMBERSHIP) == set()
    assert presence.step(161.0, NOBODY) == {COMM}


def test_nobody_knows_whose_series_these_were() -> None:
    presence = Presence(60.0)
    presence.step(0.0, NOBODY, {COMM})
    assert presence.step(60.0, NOBODY) == set()
    assert presence.step(61.0, NOBODY) == {COMM}


def test_series_that_outlive_what_is_known_of_their_members_are_over_twice() -> None:
    presence = Presence(60.0)
    presence.step(0.0, MEMBERSHIP, {COMM})
    assert presence.step(61.0, NOBODY, {COMM}) == {COMM}
    assert presence.step(121.0, NOBODY) == set()
    assert presence.step(122.0, NOBODY) == {COMM}
