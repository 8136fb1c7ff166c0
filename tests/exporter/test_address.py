import pytest
from nccl_exporter.address import Address
from nccl_exporter.errors import ExporterError


@pytest.mark.parametrize(
    ("given", "address"),
    [
        (":9847", ("", 9847)),
        ("127.0.0.1:0", ("127.0.0.1", 0)),
        ("localhost:80", ("localhost", 80)),
        ("[::]:9847", ("::", 9847)),
        ("[::1]:1", ("::1", 1)),
    ],
)
def test_parse(given: str, address: tuple[str, int]) -> None:
    parsed = Address.parse(given)
    assert parsed == address
    assert str(parsed) == given


@pytest.mark.parametrize("given", ["", "9847", "host", "host:", ":65536", "::1:80", "[nonsense]:80", "a b:80", "h:-1"])
def test_parse_refuses_and_shows_an_example(given: str) -> None:
    with pytest.raises(ExporterError, match=r"not an address .*For example --web\.listen-address 127\.0\.0\.1:9847"):
        Address.parse(given)
