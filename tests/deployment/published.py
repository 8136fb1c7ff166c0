"""The metrics of the exporter and of the daemon, by name."""

from nccl_exporter import catalogue as exporter

from sentinel.web import catalogue as daemon

_PUBLISHED = {family.name: set(family.labels) for family in (*exporter.CATALOGUE, *daemon.CATALOGUE)}


def published(name: str) -> set[str] | None:
    """The labels of a metric, None for one that nobody publishes."""
    for suffix in ("", "_bucket", "_sum", "_count"):
        if name.endswith(suffix) and (labels := _PUBLISHED.get(name.removesuffix(suffix))) is not None:
            return labels | ({"le"} if suffix == "_bucket" else set())
    return None
