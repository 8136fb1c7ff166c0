import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from nccl_exporter.collector import Collector


def test_node_of_eight_processes_is_read_in_milliseconds(make_file: Callable[..., Any], source_dir: Path) -> None:
    """4,000 series: about 6 ms alone on a core; the bound leaves room for a busy machine."""
    for process in range(8):
        file = make_file(str(process + 1), pid=process + 1)
        for slot in range(4):
            row = file.communicator(slot, comm=slot, rank=process, nranks=8)
            for index in range(4):
                file.operation(row, index, name=f"Operation{index}", started=9, operations=9, buckets=[1] * 12)
            for index in range(16):
                file.cell(row, index, power=index, operations=9, log_microseconds=1.0)
    collector = Collector([source_dir])
    seconds = []
    for _ in range(20):
        start = time.perf_counter()
        text = collector.collect()
        seconds.append(time.perf_counter() - start)
    assert text.count("\n") > 4000
    assert min(seconds) < 0.025
