"""What NVIDIA Inspector's labels say."""

import re

__all__ = ["algorithm_and_protocol", "gpu_number", "lower_bound_bytes", "named"]

_SIZE = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)(?:-\d{1,6}(?:\.\d{1,3})?)?(B|KB|MB|GB|TB)")
_UNITS = {"B": 0, "KB": 1, "MB": 2, "GB": 3, "TB": 4}
_GPU = re.compile(r"GPU(\d{1,4})")
_NOBODY = "unknown"  # what it writes where NCCL or the environment gives nothing


def lower_bound_bytes(message_size: str) -> int | None:
    """Of `4-5MB`: 4 × 2^20. Units go up by 1024. None for what is no size."""
    found = _SIZE.fullmatch(message_size)
    return None if found is None else int(float(found[1]) * 1024 ** _UNITS[found[2]])


def gpu_number(gpu: str) -> str:
    """`GPU3` as nccl-exporter says it, `3`; anything else as it is."""
    found = _GPU.fullmatch(gpu)
    return found[1] if found else named(gpu)


def algorithm_and_protocol(algo_proto: str) -> tuple[str, str]:
    """Of `NVLS_TREE_SIMPLE`: `NVLS_TREE` and `SIMPLE`."""
    algo, _, proto = algo_proto.rpartition("_")
    return named(algo), named(proto)


def named(text: str) -> str:
    """The text, empty where it says that nothing is known."""
    return "" if text == _NOBODY else text
