"""Lists of containers and objects: what is in them, page by page, and the three forms they come in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar
from xml.etree.ElementTree import Element, SubElement, tostring

import orjson

from openstack_emulator.core.http import Query, Request, Response
from openstack_emulator.objectstore.records import Container, StoredObject
from openstack_emulator.objectstore.rules.errors import explained, refused

LONGEST_LIST = 10000
N = TypeVar("N", Container, StoredObject)
Entry = Mapping[str, Any]
FORMATS = {
    "json": "application/json; charset=utf-8",
    "xml": "application/xml; charset=utf-8",
    "plain": "text/plain; charset=utf-8",
}
BY_ACCEPT = {"Vary": "Accept"}
"""What an answer says whose form depends on what the client accepts."""
NO_LIST = {"Content-Type": FORMATS["plain"], **BY_ACCEPT}
"""Headers of an answer to HEAD."""
ACCEPTED = {"application/json": "json", "application/xml": "xml", "text/xml": "xml", "text/plain": "plain"}


def listed(rows: Sequence[N], query: Query, entry: Callable[[N], Entry]) -> list[Entry]:
    """The page the query asks for: `prefix`, `delimiter`, `path`, `marker`, `end_marker`, `limit`, `reverse`.

    rows: named records. entry: what the list shows of one. Names that share what comes before a delimiter are
    one entry `{subdir}`. A limit that is not a number is ignored. Raises: ApiError 412 for a limit that is too large.
    """
    value = query.get("limit") or ""
    limit = int(value) if value.isascii() and value.isdigit() else None
    if limit is not None and limit > LONGEST_LIST:
        raise explained(412, f"Maximum limit is {LONGEST_LIST}")
    prefix, delimiter, keeps_folders = _folding(query)
    shown: dict[str, Entry] = {}
    for row in rows:
        name = row.name
        if not name.startswith(prefix) or (not keeps_folders and name == prefix):
            continue
        end = name.find(delimiter, len(prefix)) if delimiter else -1
        if end < 0:
            shown[name] = entry(row)
        elif keeps_folders:
            folder = name[: end + len(delimiter)]
            shown.setdefault(folder, {"subdir": folder})
    return _cut(shown, query)[: LONGEST_LIST if limit is None else limit]


def _folding(query: Query) -> tuple[str, str, bool]:
    """Prefix, delimiter, and whether what is folded shows as an entry; `path` is a folder without its folders."""
    path = query.get("path")
    if path is not None:
        return (path.rstrip("/") + "/" if path else ""), "/", False
    return query.get("prefix") or "", query.get("delimiter") or "", True


def _cut(shown: Mapping[str, Entry], query: Query) -> list[Entry]:
    """The entries between the markers, in the direction asked for."""
    backwards = query.boolean("reverse") or False
    first, last = query.get("marker") or "", query.get("end_marker") or ""
    low, high = (last, first) if backwards else (first, last)
    labels = sorted((label for label in shown if label > low and (not high or label < high)), reverse=backwards)
    return [shown[label] for label in labels]


def requested_format(request: Request) -> str:
    """json, xml or plain: by the parameter `format`, else by what the client accepts."""
    value = request.query.get("format")
    if value is not None:
        return value.lower() if value.lower() in FORMATS else "plain"
    accept = request.headers.get("accept", "*/*")
    for part in accept.split(","):
        kind = part.partition(";")[0].strip()
        if kind in ACCEPTED:
            return ACCEPTED[kind]
        if kind in ("*/*", "text/*", ""):
            return "plain"
    raise refused(412) if "/" not in accept else explained(406, f"None of {accept} can be given.")


def rendered(request: Request, root: str, name: str, kind: str, entries: Sequence[Entry]) -> Response:
    """The list in the form that the request asks for: names line by line, JSON, or XML; 204 when a plain list is empty.

    root, name: the outer XML element, `container` or `account`, and its name. kind: the element of an entry.
    """
    form = requested_format(request)
    headers = {"Content-Type": FORMATS[form]}
    if "format" not in request.query:
        headers |= BY_ACCEPT
    if form == "json":
        return Response(orjson.dumps(list(entries)), 200, headers)
    if form == "xml":
        return Response(_xml(root, name, kind, entries), 200, headers)
    lines = "".join(f"{entry.get('subdir', entry.get('name'))}\n" for entry in entries)
    return Response(lines.encode(), 200 if lines else 204, headers)


def _xml(root: str, name: str, kind: str, entries: Sequence[Entry]) -> bytes:
    tree = Element(root, {"name": name})
    for entry in entries:
        if "subdir" in entry:
            name = entry["subdir"]
            SubElement(SubElement(tree, "subdir", {"name": name}), "name").text = name
            continue
        element = SubElement(tree, kind)
        for field, value in entry.items():
            SubElement(element, field).text = str(value)
    return xml_document(tree)


def xml_document(tree: Element) -> bytes:
    text = tostring(tree, encoding="unicode", short_empty_elements=False)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'.encode()
