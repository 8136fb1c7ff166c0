import pytest
from nccl_exporter.address import parse_address
from nccl_exporter.errors import ExporterError


def test_parse() -> None:
    assert parse_address("127.0.0.1:9847") == ("127.0.0.1", 9847)


def test_parse_refuses_and_shows_an_example() -> None:
    with pytest.raises(ExporterError, match=r"not an address .*For example --web\.listen-address 127\.0\.0\.1:9847"):
        parse_address("9847")
