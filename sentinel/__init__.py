"""nccl-sentinel: finds the slow rank in NCCL training jobs and names it."""

from importlib.metadata import version

__version__ = version("nccl-sentinel")
