import pytest
from pydantic import ValidationError

from sentinel.config.web import WebSettings


@pytest.mark.parametrize("address", [":9848", "127.0.0.1:0", "[::1]:9848", "host:1"])
def test_addresses(address: str) -> None:
    assert WebSettings(listen_address=address).listen_address == address


@pytest.mark.parametrize("address", ["", "9848", "::1:9848", "host:99999", "http://host:1"])
def test_what_is_no_address_is_refused_with_an_example(address: str) -> None:
    with pytest.raises(ValidationError, match=r"expected HOST:PORT, .*as in 127\.0\.0\.1:9848"):
        WebSettings(listen_address=address)


def test_sizes_and_durations_are_written_as_everywhere() -> None:
    settings = WebSettings.model_validate({"max_webhook_body": "64KiB", "max_context_age": "1h30m"})
    assert settings.max_webhook_body == 65_536
    assert settings.max_context_age.total_seconds() == 5400.0
