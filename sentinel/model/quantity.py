"""Numbers of evidence as people read them. The key's last word is the unit: `lateness_seconds`, `cost_ratio`."""

from typing import Any

__all__ = ["format_quantity", "format_seconds"]

_SECONDS = ((1e-6, 1e9, "ns"), (1e-3, 1e6, "us"), (1.0, 1e3, "ms"))
_BYTES = ("B", "KiB", "MiB", "GiB", "TiB")


def format_quantity(key: str, value: Any) -> tuple[str, str]:
    """Name and value in words: `("lateness_seconds", 0.00104)` gives `("lateness", "1.04 ms")`."""
    name, _, unit = key.rpartition("_")
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if number and name:
        if unit == "seconds":
            return name.replace("_", " "), format_seconds(value)
        if unit == "ratio":
            return name.replace("_", " "), f"{value * 100:.3g}%"
        if unit == "bytes":
            return name.replace("_", " "), _format_bytes(value)
    if unit == "bytes" and isinstance(value, str) and value.isdecimal():  # a size class is a label, so text
        return name.replace("_", " "), _format_bytes(int(value))
    return key.replace("_", " "), f"{value:.4g}" if isinstance(value, float) else str(value)


def format_seconds(seconds: float) -> str:
    """Three digits and the unit that suits them: `20 us`, `1.04 ms`, `25 s`, `3.5 min`."""
    size = abs(seconds)
    if size == 0.0:
        return "0 s"
    for limit, factor, unit in _SECONDS:
        if size < limit:
            return f"{seconds * factor:.3g} {unit}"
    if size < 120.0:
        return f"{seconds:.3g} s"
    if size < 7200.0:
        return f"{seconds / 60.0:.3g} min"
    return f"{seconds / 3600.0:.3g} h"


def _format_bytes(size: float) -> str:
    unit = 0
    while abs(size) >= 1024.0 and unit < len(_BYTES) - 1:
        size /= 1024.0
        unit += 1
    return f"{size:.4g} {_BYTES[unit]}"
