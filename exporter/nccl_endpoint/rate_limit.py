# SPDX-License-Identifier: Apache-2.0
"""Section `rate_limit`: a token bucket over all requests."""

import threading
import time
from collections.abc import Callable
from typing import Final

from nccl_endpoint.document import Section

KEYS: Final = ("interval", "burst")


class RateLimit:
    """Lets one request through every `interval_seconds`, and up to `burst` at once; for many threads."""

    def __init__(self, interval_seconds: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.interval_seconds = interval_seconds
        self._burst = burst
        self._clock = clock
        self._tokens = float(burst)
        self._at = clock()
        self._lock = threading.Lock()

    def allow(self) -> bool:
        """Whether there is a token for one more; takes it."""
        with self._lock:
            now = self._clock()
            self._tokens = min(self._burst, self._tokens + (now - self._at) / self.interval_seconds)
            self._at = now
            if self._tokens < 1:
                return False
            self._tokens -= 1
            return True


def read(section: Section) -> RateLimit | None:
    """None when there is no interval; raises WebConfigError."""
    interval, burst = section.seconds("interval"), section.integer("burst", 0)
    if interval == 0:
        return None
    if burst < 1:
        raise section.refused("burst", f"with {burst} no request would ever be answered", "1 or more")
    return RateLimit(interval, burst)
