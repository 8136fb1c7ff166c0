"""nccl_exporter: serves what the profiler plugin counted in the training processes of this node to Prometheus."""

from importlib.metadata import version

__version__ = version("nccl-sentinel")
