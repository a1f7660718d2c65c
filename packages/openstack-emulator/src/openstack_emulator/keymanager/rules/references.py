"""References: the URLs by which clients name objects."""

from __future__ import annotations


def reference(base: str, collection: str, key: str) -> str:
    """The URL of an object, by which clients refer to it."""
    return f"{base}/v1/{collection}/{key}"


def key_in(url: object) -> str:
    """The ID in a reference; "" in what is none."""
    return url.rstrip("/").rpartition("/")[2] if isinstance(url, str) else ""
