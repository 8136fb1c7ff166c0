import pytest

from sentinel.demo.scenario import recorded_scenario, scenario_names
from sentinel.errors import ConfigError
from sentinel.trace import read_trace


def test_names():
    assert scenario_names() == ["late1ms", "healthy", "stall2", "mixchange"]


@pytest.mark.parametrize("name", scenario_names())
def test_its_steps_are_in_its_trace(name):
    scenario = recorded_scenario(name)
    trace = read_trace(scenario.trace_dir)
    scenario.healthy.check(trace.steps, name)
    scenario.fault.check(trace.steps, name)


def test_an_unknown_name_lists_what_there_is():
    with pytest.raises(ConfigError, match="late1ms, healthy, stall2, mixchange"):
        recorded_scenario("late2ms")
