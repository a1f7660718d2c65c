"""URLs of objects in responses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from string import punctuation
from urllib.parse import parse_qsl, quote, urlencode

_REMEMBERED = 4096
"""Number of cached URL-quoted parts: a list contains the same stack many times."""


@dataclass(frozen=True)
class Links:
    """Builds URLs below `base`, the URL with which the client reached the service (`http://host:8004`)."""

    base: str

    def stack(self, project_id: str, name: str, stack_id: str, tail: str = "") -> str:
        """Return a stack's URL, or with `tail` (`/events`) that of one of its collections."""
        return _stack(self.base, project_id, name, stack_id) + tail


def resource_url(stack: str, name: str) -> str:
    """Return the URL of a resource, below that of its stack."""
    return f"{stack}/resources/{_part(name)}"


def event_url(resource: str, event_id: str) -> str:
    """Return the URL of an event, below that of its resource."""
    return f"{resource}/events/{_part(event_id)}"


def link(href: str, rel: str = "self") -> dict[str, str]:
    """Return a link for a response."""
    return {"href": href, "rel": rel}


def with_query(url: str, query_string: str) -> str:
    """Return a URL with the query of a request, in which only what no URL may contain is quoted (RFC 3986)."""
    return f"{url}?{quote(query_string, safe=punctuation)}" if query_string else url


def next_page(url: str, query_string: str, marker: str) -> str:
    """Return the URL of the page after the object `marker`, for a request with this URL and query."""
    parameters = [(name, value) for name, value in parse_qsl(query_string) if name != "marker"]
    return f"{url}?{urlencode([*parameters, ('marker', marker)])}"


@lru_cache(_REMEMBERED)
def _stack(base: str, project_id: str, name: str, stack_id: str) -> str:
    return f"{base}/v1/{_part(project_id)}/stacks/{_part(name)}/{_part(stack_id)}"


@lru_cache(_REMEMBERED)
def _part(text: str) -> str:
    return quote(text, safe="")
