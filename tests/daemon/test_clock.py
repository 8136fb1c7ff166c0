import pytest

from sentinel.daemon.clock import SteadyClock


class Machine:
    def __init__(self) -> None:
        self.wall, self.elapsed = 1_795_981_020.0, 7.0
        self.clock = SteadyClock(lambda: self.wall, lambda: self.elapsed)

    def passes(self, seconds: float, gained: float = 0.0) -> None:
        self.elapsed += seconds
        self.wall += seconds + gained


@pytest.fixture
def machine() -> Machine:
    return Machine()


def test_it_follows_a_clock_that_is_slewed(machine: Machine) -> None:
    start = machine.clock()
    for _ in range(100):
        machine.passes(30.0, 0.015)
        assert machine.clock() == pytest.approx(machine.wall)
    assert machine.clock() - start == pytest.approx(3001.5)
    assert machine.clock.stepped_to() is None


@pytest.mark.parametrize("gained", [3600.0, -3600.0, 5.0])
def test_it_goes_on_after_a_step_until_that_is_adopted(machine: Machine, gained: float) -> None:
    start = machine.clock()
    machine.passes(30.0, gained)
    assert machine.clock() - start == pytest.approx(30.0)
    assert machine.clock.stepped_to() == machine.wall
    machine.clock.adopt()
    assert machine.clock() == pytest.approx(machine.wall)
    assert machine.clock.stepped_to() is None


def test_a_step_that_is_undone_was_none(machine: Machine) -> None:
    start = machine.clock()
    machine.passes(30.0, 3600.0)
    machine.clock()
    machine.passes(30.0, -3600.0)
    assert machine.clock.stepped_to() is None
    assert machine.clock() - start == pytest.approx(60.0)


def test_it_is_no_earlier_than_what_has_been(machine: Machine) -> None:
    known = machine.wall + 600.0
    machine.clock.not_before(machine.wall - 600.0)
    assert machine.clock() == pytest.approx(machine.wall)
    machine.clock.not_before(known)
    machine.passes(30.0)
    assert machine.clock() == pytest.approx(known + 30.0)
    assert machine.clock.stepped_to() == machine.wall
