# SPDX-License-Identifier: Apache-2.0
"""What the exporter counts beside the mapped files: who was not let in, and how RAS answered."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from nccl_exporter import catalogue
from nccl_exporter.catalogue import Family

Sample = tuple[Family, tuple[str, ...], float]


@dataclass(frozen=True, slots=True)
class ServiceCounts:
    """Since the exporter started; what is not there is 0. Reasons are those of the catalogue."""

    web_refused: Mapping[str, int] = field(default_factory=dict)
    web_reload_succeeded: bool = True
    ras_queries: int = 0
    ras_failures: Mapping[str, int] = field(default_factory=dict)
    ras_left_out: Mapping[str, int] = field(default_factory=dict)
    ras_capped: int = 0

    def samples(self) -> Iterator[Sample]:
        """For the page: every reason, so that each series is there from the start."""
        for reason in catalogue.WEB_REFUSALS:
            yield catalogue.WEB_REFUSED, (reason,), self.web_refused.get(reason, 0)
        yield catalogue.WEB_RELOAD, (), int(self.web_reload_succeeded)
        yield catalogue.RAS_QUERIES, (), self.ras_queries
        for reason in catalogue.RAS_FAILURE_REASONS:
            yield catalogue.RAS_FAILURES, (reason,), self.ras_failures.get(reason, 0)
        for reason in catalogue.RAS_LEFT_OUT_REASONS:
            yield catalogue.RAS_LEFT_OUT, (reason,), self.ras_left_out.get(reason, 0)
        yield catalogue.RAS_CAPPED, (), self.ras_capped
