"""Finding the resource that has an object, in all stacks of the project."""

from __future__ import annotations

from urllib.parse import parse_qs, urlencode, urlsplit

from stoker.console.exchange import Exchange
from stoker.console.gateway import Answer

_PAGE = 100
_KINDS = {
    "text": "anything",
    "id": "the ID of an object",
    "name": "a name",
    "address": "an IP address",
}


def show(exchange: Exchange) -> None:
    """Show the form, and with search terms in the URL, the resources that have such objects."""
    kind = exchange.query("kind") if exchange.query("kind") in _KINDS else "text"
    search_text, type_name, marker = (exchange.query(name).strip() for name in ("wanted", "type", "marker"))
    page: Answer = {"resources": [], "unsearchable": 0, "most_counted": 0}
    if search_text or type_name:
        query = {kind: search_text or None, "type": type_name or None, "limit": _PAGE, "marker": marker or None}
        page = exchange.api.get("/resources", query)
    search = {"kind": kind, "wanted": search_text, "type": type_name}
    following = next((link["href"] for link in page.get("links", ()) if link["rel"] == "next"), "")
    exchange.show(
        "find.html",
        resources=[{**resource, "within": _within(resource)} for resource in page["resources"]],
        unsearchable=page["unsearchable"],
        is_more=page["unsearchable"] >= page["most_counted"],
        kinds=_KINDS,
        kind=kind,
        wanted=search_text,
        type=type_name,
        asked=bool(search_text or type_name),
        first=urlencode(search) if marker else "",
        following=urlencode({**search, "marker": _marker(following)}) if following else "",
    )


def _within(resource: Answer) -> Answer:
    """Return the name, as part of a URL, and the ID of the stack with the resource itself, which may be nested."""
    *_, name, identifier, _resources, _name = next(
        link["href"].split("/") for link in resource["links"] if link["rel"] == "self"
    )
    return {"name": name, "id": identifier}


def _marker(url: str) -> str:
    return parse_qs(urlsplit(url).query).get("marker", [""])[-1]
