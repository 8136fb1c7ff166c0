"""The files of the page, as they are served: read once, compressed once, under an address of their content."""

import gzip
import hashlib
from collections.abc import Mapping
from importlib.resources import files
from typing import Final

from nccl_endpoint.page import HTML, Answer

from sentinel.page.answer import SECURITY_HEADERS

__all__ = ["static_answers"]

_TYPES: Final = {
    ".html": HTML,
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
}
_FOLDERS: Final = ("", "vendor/")
# Their address changes with their content.
_FOREVER: Final = ("Cache-Control", "public, max-age=31536000, immutable")
_ALWAYS_NEW: Final = ("Cache-Control", "no-cache")
_INDEX: Final = "index.html"


def static_answers() -> Mapping[str, Answer]:
    """By path: the page itself at `/`, everything else below `/static/` and a digest of it all."""
    texts = _texts()
    digest = hashlib.sha256("\0".join(f"{name}\0{text}" for name, text in sorted(texts.items())).encode())
    base = f"/static/{digest.hexdigest()[:16]}/"
    answers = {base + name: _answer(name, text, _FOREVER) for name, text in texts.items() if name != _INDEX}
    answers["/"] = _answer(_INDEX, texts[_INDEX].replace("{{static}}", base), _ALWAYS_NEW)
    return answers


def _texts() -> dict[str, str]:
    root = files(__package__) / "static"
    found = {}
    for folder in _FOLDERS:
        for file in root.joinpath(folder).iterdir():
            if file.is_file() and any(file.name.endswith(suffix) for suffix in _TYPES):
                found[folder + file.name] = file.read_text(encoding="utf-8")
    return found


def _answer(name: str, text: str, caching: tuple[str, str]) -> Answer:
    kind = _TYPES[name[name.rindex(".") :]]
    return Answer(text, kind, headers=(*SECURITY_HEADERS, caching), gzipped=gzip.compress(text.encode(), mtime=0))
