"""The next page of a list, in any of the services' formats."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qsl, urlsplit


def next_page(body: object, key: str | None = None) -> str | None:
    """Return the link to the next page; None for the last one.

    `key` is the list's key in the body. Without it, the links of any list in the body are used.
    """
    if not isinstance(body, dict):
        return None
    keys = [f"{key}_links"] if key is not None else [name for name in body if str(name).endswith("_links")]
    links = next(filter(None, map(body.get, keys)), None) or body.get("links")
    if isinstance(links, list):
        return next((link["href"] for link in links if link.get("rel") == "next"), None)
    following = links.get("next") if isinstance(links, dict) else body.get("next")
    return following if isinstance(following, str) and following else None


def query_of(link: str) -> dict[str, object]:
    """Return the query of a link; its host is ignored, since services behind proxies do not know their own name."""
    query: dict[str, Any] = {}
    for name, value in parse_qsl(urlsplit(link).query, keep_blank_values=True):
        query.setdefault(name, []).append(value)
    return query
