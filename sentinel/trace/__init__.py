"""Recorded traces of NCCL's profiler callbacks, and their replay through a real plugin in real time."""

from sentinel.trace.player_group import PlayerGroup
from sentinel.trace.script import compile_scripts
from sentinel.trace.step_range import StepRange
from sentinel.trace.trace import Trace, read_trace

__all__ = ["PlayerGroup", "StepRange", "Trace", "compile_scripts", "read_trace"]
