"""Render responses: as XML like AWS, or as JSON.

A response consists of maps, lists, strings, numbers, booleans, `Entries` and `JsonText`; None values are omitted. In
XML, the items of a list are elements named `member`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from xml.sax.saxutils import escape

from stoker.rpc.contract import json_text

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 cannot contain, even escaped."""


@dataclass(frozen=True)
class JsonText:
    """A document inside the response: a JSON string in XML, itself in JSON."""

    data: Any


@dataclass(frozen=True)
class Entries:
    """A map whose keys are data, and no names of elements: in XML, each entry has elements for its key and value."""

    values: Mapping[str, str]


def xml(document: Mapping[str, object]) -> bytes:
    """Return a document with one root element as XML."""
    return "".join(_children(document)).encode()


def json(document: Mapping[str, object]) -> bytes:
    """Return the same document as JSON."""
    return json_text(_plain(document))


def _children(values: Mapping[str, object]) -> Iterator[str]:
    for name, value in values.items():
        if value is not None:
            yield f"<{name}>"
            yield from _content(value)
            yield f"</{name}>"


def _content(value: object) -> Iterator[str]:
    match value:
        case Mapping():
            yield from _children(value)
        case list():
            for item in value:
                yield from _children({"member": item})
        case Entries(values=values):
            for key, item in values.items():
                yield from _children({"entry": {"key": key, "value": item}})
        case JsonText(data=data):
            yield _escaped(json_text(data).decode())
        case bool():
            yield "true" if value else "false"
        case _:
            yield _escaped(str(value))


def _escaped(text: str) -> str:
    return escape(_NOT_XML.sub("\ufffd", text), {"\r": "&#13;"})


def _plain(value: object) -> object:
    match value:
        case Mapping():
            return {name: _plain(item) for name, item in value.items() if item is not None}
        case list():
            return [_plain(item) for item in value]
        case Entries(values=values):
            return dict(values)
        case JsonText(data=data):
            return data
        case _:
            return value
