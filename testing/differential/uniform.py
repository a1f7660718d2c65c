"""Answers made uniform: what differs between two runs of a script is replaced by names."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from testing.differential.script import Script
from testing.differential.site import Answer, Site

IGNORED_HEADERS = frozenset({"connection", "content-length", "date", "keep-alive", "server", "transfer-encoding"})
"""Headers of the web server, not of the service."""
OPAQUE = frozenset(
    {
        "password",
        "private_key",
        "secret",
        "x-subject-token",
        "x-trans-id",
        "etag",
        "last-modified",
        "x-copied-from-last-modified",
        "direct_url",
        "locations",
    }
)
LONGEST = 600
"""Characters of a body that is not JSON."""
SHORTEST = 6
"""Length from which the value of a variable is replaced wherever it occurs."""
_PATTERNS = (
    (re.compile(r"req-[0-9a-f]{8}-[0-9a-f-]{27}"), "<request>"),
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b"), "<uuid>"),
    (re.compile(r"\b([0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})\b"), "<hex>"),
    (re.compile(r"\b[0-9a-f]{2}(:[0-9a-f]{2}){5}\b"), "<mac>"),
)
_ENUMERATION = re.compile(r"<\w+>(, ?<\w+>)+")
"""Replaced values in a row: services list them in any order."""
_TIME = re.compile(r"\b\d{4}-\d\d-\d\d([T ])\d\d:\d\d:\d\d(\.\d+)?")
_REPLACED = re.compile(r"<\w+>")
_TYPES = {str: "string", bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}


def uniform(answer: Answer, script: Script, site: Site, variables: Mapping[str, str]) -> dict[str, Any]:
    """Return the status, headers and body of an answer, without what is particular to this run."""
    names = {value: name for name, value in variables.items() if len(value) >= SHORTEST}
    known = sorted(names, key=len, reverse=True)
    finder = re.compile("|".join(re.escape(value) for value in known)) if known else None
    roots = sorted(site.roots.items(), key=lambda item: -len(item[0]))

    def text(value: str) -> str:
        for root, kind in roots:
            value = value.replace(root, f"<{kind}>")
        if finder:
            value = finder.sub(lambda found: f"<{names[found[0]]}>", value)
        for pattern, name in _PATTERNS:
            value = pattern.sub(name, value)
        value = _ENUMERATION.sub(lambda found: ",".join(sorted(found[0].replace(" ", "").split(","))), value)
        return _TIME.sub(lambda found: f"<time{found[1]}{'.' if found[2] else ''}>", value)

    def data(value: Any) -> Any:
        if isinstance(value, dict):
            return {text(name): data(inner) for name, inner in value.items()}
        if isinstance(value, list):
            return [data(inner) for inner in value]
        return text(value) if isinstance(value, str) else value

    meaningless = IGNORED_HEADERS if answer.content else IGNORED_HEADERS | {"content-type"}
    headers = {name: data(value) for name, value in answer.headers.items() if name not in meaningless}
    body = answer.body
    shown = {
        "status": answer.status,
        "headers": headers,
        "body": data(body[:LONGEST] if isinstance(body, str) else body),
    }
    made: dict[str, Any] = hidden(
        {name: value for name, value in shown.items() if value is not None}, OPAQUE | script.opaque
    )
    return made


def hidden(value: Any, opaque: frozenset[str], key: str = "") -> Any:
    """Replace the values of opaque keys by their types, and sort the lists."""
    if key in opaque and value is not None:
        return value if isinstance(value, str) and _REPLACED.fullmatch(value) else f"<{_TYPES[type(value)]}>"
    if isinstance(value, dict):
        return {name: hidden(inner, opaque, name) for name, inner in value.items()}
    if isinstance(value, list):
        return sorted((hidden(inner, opaque) for inner in value), key=lambda item: json.dumps(item, sort_keys=True))
    return value
