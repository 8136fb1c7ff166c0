"""Secrets that a server repeats, and text that a terminal would obey."""

import base64

from sentinel.transport.redaction import Redaction, one_line


def test_a_token_is_taken_out_wherever_it_stands() -> None:
    redact = Redaction("Bearer s3same", {})
    assert redact("bad token 's3same' (Bearer s3same)") == "bad token '<redacted>' (Bearer <redacted>)"


def test_a_password_is_known_in_clear_and_encoded() -> None:
    pair = base64.b64encode(b"ali:s3same").decode()
    redact = Redaction(f"Basic {pair}", {})
    assert redact(f"{pair} is ali:s3same, and s3same is wrong") == "<redacted> is <redacted>, and <redacted> is wrong"


def test_headers_that_may_be_keys_are_taken_out_and_short_words_are_not() -> None:
    redact = Redaction("Bearer abc", {"X-Api-Key": "k" * 32, "X-Scope-OrgID": "team"})
    assert redact(f"team abc {'k' * 32}") == "team abc <redacted>"


def test_one_line() -> None:
    assert one_line("a\n\tb\x1b[2J\x00 c") == "a b [2J c"
    assert one_line("x" * 10_000_000, 10) == "x" * 10
    assert one_line("") == ""
