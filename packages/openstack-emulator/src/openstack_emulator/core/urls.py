"""URLs in requests, which may be broken."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

_NOTHING = urlsplit("")


def split_url(url: str) -> SplitResult:
    """Return the parts of a URL; all of them are empty if it cannot be parsed."""
    try:
        return urlsplit(url)
    except ValueError:
        return _NOTHING


def is_local(authority: str) -> bool:
    """Return whether `host[:port]` names this machine."""
    host = split_url(f"//{authority}").hostname or ""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
