"""The lines of the benchmark's table: nanoseconds by plugin, and whether they pass the bar."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from play import EMPTY, Played
from timing import Timing, together

OURS = "sentinel"
SHARES = {"median": 0.5, "p99": 0.99, "p99.9": 0.999}
KINDS = (
    *("Coll start", "P2p start"),
    *(f"{kind} {what}" for kind in ("KernelCh", "ProxyStep") for what in ("start", "state", "stop")),
)
# Nanoseconds for (setting, row, statistic).
BARS = {
    ("everything on", "any callback", "median"): 30.0,
    ("everything on", "any callback", "p99.9"): 1000.0,
    ("skipped by sampling", "any callback", "median"): 15.0,
    ("skipped by sampling", "Coll start", "median"): 15.0,
}


@dataclass(frozen=True)
class Row:
    """One line: nanoseconds by statistic for each plugin, the harness's cost taken off, and the number of samples."""

    trace: str
    setting: str
    callback: str
    plugins: dict[str, dict[str, float]]
    verdict: str


def rows_of(trace: str, played: Played, settings: Sequence[tuple[str, bool]]) -> Iterator[Row]:
    """Lines for each setting: its title, and whether it is about the operations that sampling skipped."""
    for setting, skipped in settings:
        found = {
            plugin: _callbacks(timings, skipped=skipped and plugin != EMPTY)
            for plugin, timings in played.timings.items()
        }
        for callback in ("any callback", *KINDS, "whole launch"):
            if all(callback not in rows for plugin, rows in found.items() if plugin != EMPTY):
                continue
            plugins = {
                plugin: _statistics(rows[callback], played, is_net=callback == "whole launch")
                for plugin, rows in found.items()
                if callback in rows and (plugin, callback) != (EMPTY, "whole launch")
            }
            yield Row(trace, setting, callback, plugins, _verdict(setting, callback, plugins.get(OURS, {})))


def _callbacks(timings: dict[str, Timing], *, skipped: bool) -> dict[str, Timing]:
    chosen = {
        kind.removesuffix(", skipped"): timing
        for kind, timing in timings.items()
        if kind.endswith(", skipped") == skipped
    }
    launch = chosen.pop("launch", None)
    rows = {"any callback": together(chosen.values())} if chosen else {}
    rows |= {kind: chosen[kind] for kind in KINDS if kind in chosen}
    return rows | ({"whole launch": launch} if launch else {})


def _statistics(timing: Timing, played: Played, *, is_net: bool) -> dict[str, float]:
    cost, step = (0.0, 1) if is_net else (played.harness_ticks, played.step_ticks)
    ticks = dict(zip(SHARES, timing.quantiles(SHARES.values(), step), strict=True)) | {"mean": timing.mean}
    return {name: (each - cost) * played.ns_per_tick for name, each in ticks.items()} | {"number": timing.number}


def _verdict(setting: str, callback: str, statistics: dict[str, float]) -> str:
    bars = {name: bar for (*key, name), bar in BARS.items() if key == [setting, callback] and name in statistics}
    if not bars:
        return ""
    said = [f"{name} <= {bar:g} {'PASS' if statistics[name] <= bar else 'MISSED'}" for name, bar in bars.items()]
    return ", ".join(said)


def write_table(rows: Sequence[Row], plugins: Sequence[str]) -> Iterator[str]:
    """The lines as text. Of the plugin that does nothing only the noise is shown: its p99.9."""
    others = [plugin for plugin in plugins if plugin != EMPTY]
    columns = ("number", *SHARES, "mean")
    yield f"{'':24}{'empty':>9}" + "".join(f"  {plugin:^{9 * len(columns) - 2}}" for plugin in others)
    yield f"{'ns per callback':24}{'p99.9':>9}" + "".join(f"{name:>9}" for _ in others for name in columns) + "  bar"
    before = None
    for row in rows:
        if before != (before := (row.trace, row.setting)):
            yield f"{row.trace}: {row.setting}"
        noise = row.plugins.get(EMPTY)
        line = f"  {row.callback:22}" + (f"{noise['p99.9']:9.1f}" if noise else f"{'':9}")
        for plugin in others:
            values = row.plugins.get(plugin)
            line += "".join(f"{values[name]:9.{int(name != 'number')}f}" if values else f"{'-':>9}" for name in columns)
        yield (line + f"  {row.verdict}").rstrip()
