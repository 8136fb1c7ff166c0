"""What a section of the configuration says about reaching a server."""

from pathlib import Path
from typing import Annotated, Any, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_serializer, model_validator

__all__ = ["AccessSettings", "ServerUrl"]


def _server_url(text: str) -> str:
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        # The library's own words repeat a part of the address, which may be one of a password.
        raise ValueError("not a URL: its host or port is wrong") from None
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("write an address as in http://127.0.0.1:9090 or https://prometheus.example/prefix")
    if parts.username is not None or parts.password is not None:
        raise ValueError("no credentials in an address: use username and password_file, or bearer_token_file")
    if parts.query or parts.fragment:
        raise ValueError("an address ends with its path: no ? and no #")
    return text.rstrip("/")


ServerUrl = Annotated[str, AfterValidator(_server_url)]
"""An http or https address without credentials, query or trailing slash."""


class AccessSettings(BaseModel):
    """Credentials and TLS. Secrets are read from files, each time they are used, so that they can be rotated."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # Not shown in what is printed of the configuration: some services take their keys in headers all the same.
    headers: dict[str, str] = Field(
        default={}, description="Further HTTP headers, as a tenant's X-Scope-OrgID. No secrets: those come from files."
    )
    bearer_token_file: Path | None = Field(
        default=None, description="File with the token sent as Authorization: Bearer."
    )
    username: str | None = Field(default=None, description="User name for basic authentication.")
    password_file: Path | None = Field(default=None, description="File with the password that belongs to username.")
    ca_file: Path | None = Field(
        default=None, description="Certificate authorities to trust, PEM. Unset: those of the system."
    )
    cert_file: Path | None = Field(default=None, description="Client certificate, PEM.")
    key_file: Path | None = Field(default=None, description="Key of the client certificate, PEM.")

    @field_serializer("headers", when_used="json")
    def _hidden(self, headers: dict[str, str]) -> dict[str, str]:
        return dict.fromkeys(headers, "<not shown>")

    @model_validator(mode="after")
    def _belong_together(self) -> Self:
        if (self.username is None) != (self.password_file is None):
            raise ValueError("username and password_file belong together: set both or none")
        if (self.cert_file is None) != (self.key_file is None):
            raise ValueError("cert_file and key_file belong together: set both or none")
        if self.bearer_token_file is not None and self.username is not None:
            raise ValueError("set bearer_token_file, or username and password_file, not both")
        secret = [name for name in self.headers if name.lower() in {"authorization", "proxy-authorization", "cookie"}]
        if secret:
            raise ValueError(f"{secret[0]} is a secret: use bearer_token_file, or username and password_file")
        return self

    def files(self) -> dict[str, Path]:
        """Every file that is named, by its key."""
        named: dict[str, Any] = {
            key: getattr(self, key) for key in AccessSettings.model_fields if key.endswith("_file")
        }
        return {key: path for key, path in named.items() if path is not None}
