"""The exporter's pages."""

import pytest
from nccl_endpoint.page import Request
from nccl_exporter.site import TEXT_FORMAT, site


@pytest.mark.parametrize(
    ("path", "content_type", "part"),
    [
        ("/metrics", TEXT_FORMAT, "nccl_a 1\n"),
        ("/-/healthy", "text/plain; charset=utf-8", "nccl-exporter is healthy.\n"),
        ("/", "text/html; charset=utf-8", '<a href="/metrics">'),
    ],
)
def test_pages(path: str, content_type: str, part: str) -> None:
    answer = site(lambda: "nccl_a 1\n").get[path](Request("", b""))
    assert (answer.status, answer.content_type) == (200, content_type)
    assert part in answer.text


def test_nothing_is_taken() -> None:
    assert site(lambda: "").post == {}
