"""Text from elsewhere on a terminal."""

__all__ = ["plain"]


def plain(text: str) -> str:
    """Names come from jobs and servers: what would move a terminal's cursor is left out."""
    return "".join(character for character in text if character.isprintable())
