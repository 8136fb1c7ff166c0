"""A job of eight GPUs as NVIDIA Inspector would write it, with a fault from some dump on. Seeded."""

import numpy as np
from inspector.record import DUMP_SECONDS, METRICS, SCRAPE_SECONDS, START

RANKS, NODES = 8, 4
CELLS = (("AllReduce", 1000.0, "4-5MB", 4 << 20, 2 * 7 / 8), ("AllGather", 400.0, "1-2MB", 1 << 20, 7.0))


def text(dumps: int, fault: int, slower_ratio: float = 1.0, late_rank: int | None = None, sends: bool = False) -> str:
    """OpenMetrics text; from dump `fault` on transfers take `slower_ratio` times as long, and one GPU is 10% late."""
    random = np.random.default_rng(1)
    samples: dict[str, list[str]] = {metric: [] for metric in METRICS}
    for number in range(dumps):
        for op, usual, size, message_bytes, factor in CELLS:
            faulty = number >= fault
            transfer = usual * (1 + 0.02 * random.normal()) * (slower_ratio if faulty else 1.0)
            arrival = random.normal(0, 4.0, RANKS)  # of the means of many operations
            if faulty and late_rank is not None:
                arrival[late_rank] += 0.1 * usual
            for rank, microseconds in enumerate(arrival.max() - arrival + transfer):
                labels = (
                    f'slurm_job_id="1",node="h{rank * NODES // RANKS}",gpu="GPU{rank % 2}",comm_name="dp",'
                    f'n_nodes="{NODES}",nranks="{RANKS}",collective="{op}",message_size="{size}",algo_proto="RING_LL"'
                )
                values = (microseconds, message_bytes * factor / microseconds / 1e3)
                for metric, value in zip(METRICS, values, strict=True):
                    for scrape in range(0, DUMP_SECONDS, SCRAPE_SECONDS):
                        time = START + number * DUMP_SECONDS + scrape
                        samples[metric].append(f"{metric}{{{labels}}} {value:.6g} {time}")
    if sends:
        metric = "nccl_p2p_exec_time_microseconds"
        labels = 'slurm_job_id="1",node="h0",gpu="GPU0",comm_name="pp",p2p_operation="Send",message_size="1-2MB"'
        samples[metric] = [f"{metric}{{{labels}}} 9 {START + n * DUMP_SECONDS}" for n in range(dumps)]
    return (
        "".join(f"# TYPE {metric} gauge\n" + "\n".join(lines) + "\n" for metric, lines in samples.items()) + "# EOF\n"
    )
