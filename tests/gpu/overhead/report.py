"""The page about what the plugin costs, from a measurement's raw lines.

PYTHONPATH=tests python -m gpu.overhead.report docs/measurements/overhead-h200.jsonl --out docs/overhead.md
"""

import argparse
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from gpu.overhead.ratios import (
    CONFIDENCE,
    NONE,
    RESAMPLES,
    Interval,
    median_interval,
    noise_ratios,
    variant_ratios,
    verdict,
)
from gpu.overhead.raw import Measurement

TITLES: Final = {
    "all_reduce_64k": "All-reduces of 64 KiB, back to back",
    "all_reduce_1m": "All-reduces of 1 MiB, back to back",
    "step": "A training-like step",
    "graph_64k": "All-reduces of 64 KiB in a CUDA graph, replayed",
}
# What the plugin may cost as it is shipped.
BARS: Final = {"all_reduce_64k": 0.05, "all_reduce_1m": 0.05, "step": 0.005}
SETTINGS: Final = {
    NONE: "no plugin",
    "default": "as shipped",
    "ungoverned": "`NCCL_SENTINEL_BUDGET=off`",
    "off": "`NCCL_SENTINEL_SAMPLE=off`",
    "all": "`NCCL_SENTINEL_SAMPLE=all`, `BUDGET=off`",
}
DIGITS: Final = 2

TEMPLATE: Final = Path(__file__).with_name("template.md")
VALUES: Final = {
    "zeros": """The matrices hold zeros: random
  numbers take a GPU to its power limit, where its clock wanders. Products of zeros are faster, which makes the plugin's
  share of the step larger.""",
    "random": "The matrices hold random numbers.",
}


def page(measurement: Measurement, raw: str) -> str:
    """The page in Markdown; `raw` is the link to the numbers. Raises ValueError where there are too few rounds."""
    machine = measurement.machine
    command = ["PYTHONPATH=tests python -m gpu.overhead.run --plugin $(sentinel plugin-path)"]
    command += [f"--other {name}=SO" for name in _others(measurement)]
    command += ["--values random"] if machine["values"] == "random" else []
    command += [f"\\\n  --date {machine['date']} --out overhead.jsonl"]
    sections = ("".join(f"{line}\n" for line in _section(measurement, name)) for name in measurement.workloads())
    facts = {
        **machine,
        "raw": raw,
        "sections": "\n".join(sections),
        "rounds": len(noise_ratios(measurement.runs(measurement.workloads()[-1]))),
        "confidence": CONFIDENCE,
        "resamples": RESAMPLES,
        "values": VALUES[machine["values"]],
        "command": " ".join(command),
    }
    return TEMPLATE.read_text().format(**facts)


def _section(measurement: Measurement, workload: str) -> Iterator[str]:
    yield f"## {TITLES[workload]}"
    unit, scale = ("ms a step", 1e3) if workload == "step" else ("us", 1.0)
    yield f"| variant | {unit} | ratio | 95% interval | by means | costs | measured | callbacks | bar |"
    yield "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"
    runs, means = measurement.runs(workload), measurement.runs(workload, "mean_us")
    none_us = measurement.median_us(workload, NONE)
    noise, noise_by_means = noise_ratios(runs), median_interval(noise_ratios(means))
    yield _row(SETTINGS[NONE], f"{none_us / scale:.{DIGITS}f}")
    for variant in [
        *(name for name in ("off", "default", "ungoverned", "all") if name in measurement.variants()),
        *_others(measurement),
    ]:
        interval = median_interval(variant_ratios(runs, variant))
        bar = BARS.get(workload) if variant == "default" else None
        yield _row(
            SETTINGS.get(variant, f"{variant} ({measurement.plugin(variant)})"),
            f"{measurement.median_us(workload, variant) / scale:.{DIGITS}f}",
            f"{interval.median:.4f}",
            _between(interval),
            f"{median_interval(variant_ratios(means, variant)).median:.4f}",
            f"{(interval.median - 1) * none_us:+.2f} us",
            *_counted(measurement.counts(workload, variant)),
            f"≤ {bar:.1%}: {verdict(interval, bar)}" if bar is not None else "",
        )
    floor = median_interval(noise)
    yield _row("noise floor", "", f"{floor.median:.4f}", _between(floor), f"{noise_by_means.median:.4f}")
    yield ""
    yield f"Two runs without a plugin in one round were {min(noise):.4f} to {max(noise):.4f} apart."


def _row(*cells: str) -> str:
    padded = [*cells, *[""] * (9 - len(cells))]
    return f"| {' | '.join(padded)} |"


def _between(interval: Interval) -> str:
    return f"{interval.low:.4f}–{interval.high:.4f}"


def _counted(counts: dict[str, float]) -> tuple[str, str]:
    if not counts.get("started"):
        return "", ""
    refused = f", {counts['refused']:.0f} refused" if counts["refused"] else ""
    return (
        f"{counts['measured'] / counts['started']:.2%}{refused}",
        f"{1e6 * counts['callback_seconds'] / counts['started']:.2f} us",
    )


def _others(measurement: Measurement) -> list[str]:
    return [name for name in measurement.variants() if name not in SETTINGS]


def main() -> int:
    """Write the page. Exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("raw", type=Path)
    parser.add_argument("--out", type=Path, help="default: stdout")
    options = parser.parse_args()
    raw = os.path.relpath(options.raw.resolve(), options.out.resolve().parent if options.out else None)
    text = page(Measurement.load(options.raw), raw)
    if options.out:
        options.out.write_text(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
