"""URLs in requests, which may be broken."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

_NOTHING = urlsplit("")


def split_url(url: str) -> SplitResult:
    """Return the parts of a URL; all of them are empty if it cannot be parsed."""
    try:
        return urlsplit(url)
    except ValueError:
        return _NOTHING
