"""A template without resources that get into another stack."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from copy import deepcopy
from typing import Any

import yaml

from stoker.base.diagnostics import Path
from stoker.template.document import Document, compose, step

_SECTIONS = ("resources", "Resources")
_REFERENCES = ("get_resource", "Ref")
_DEPENDENCIES = ("depends_on", "DependsOn")

_GONE = object()
"""In place of the value of a key that is no longer there."""


def without_resources(document: Document, ids: Mapping[str, str]) -> str | dict[str, object] | None:
    """Return a template without some resources; references to them become the `ids` that they have, by name.

    Text stays text, with its comments, where that is possible. Returns None if a resource is not written as an entry of
    the section, but made by a loop, for example.
    """
    section = next((name for name in _SECTIONS if isinstance(document.data.get(name), Mapping)), None)
    if section is None or not ids.keys() <= document.data[section].keys():
        return None
    edits: dict[Path, Any] = {(section, name): _GONE for name in ids}
    for key, value in document.data.items():
        if key == section:
            for name in value.keys() - ids.keys():
                edits |= dict(_edits(value[name], (section, name), ids))
        else:
            edits |= dict(_edits(value, (key,), ids))
    expected = _edited(document.data, edits)
    text = _edited_text(document.text, edits, section, len(document.data[section]) == len(ids))
    return text if text is not None and _reads_as(text, expected) else expected


def _edits(value: Any, path: Path, ids: Mapping[str, str]) -> Iterator[tuple[Path, Any]]:
    """Yield the values that differ afterwards, by their paths."""
    if isinstance(value, Mapping):
        if len(value) == 1:
            [(key, name)] = value.items()
            if key in _REFERENCES and isinstance(name, str) and name in ids:
                yield path, ids[name]
                return
        for key, each in value.items():
            if len(path) == 2 and key in _DEPENDENCIES:
                names = [each] if isinstance(each, str) else each
                if isinstance(names, list) and not ids.keys().isdisjoint(map(str, names)):
                    yield (*path, key), [name for name in names if name not in ids]
            else:
                yield from _edits(each, (*path, key), ids)
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _edits(each, (*path, number), ids)


def _edited(data: Mapping[str, Any], edits: Mapping[Path, Any]) -> dict[str, object]:
    edited: dict[str, Any] = deepcopy(dict(data))
    for path, value in edits.items():
        inner: Any = edited
        for part in path[:-1]:
            inner = inner[part]
        if value is _GONE:
            del inner[path[-1]]
        else:
            inner[path[-1]] = value
    return edited


def _reads_as(text: str, expected: Mapping[str, Any]) -> bool:
    return bool(Document.parse(text).data == expected)


# -- text --------------------------------------------------------------------------------------------------------------


def _edited_text(text: str | None, edits: Mapping[Path, Any], section: str, is_emptied: bool) -> str | None:
    """Return the text of a template with edits; None if they cannot be made in it."""
    if text is None:
        return None
    if (root := compose(text)) is None:
        return None
    places = []
    for path, value in edits.items():
        if value is _GONE and is_emptied:
            path, value = (section,), {}
        found = _entry_at(text, root, path) if value is _GONE else _value_at(text, root, path)
        if found is None:
            return None
        places.append((*found, "" if value is _GONE else json.dumps(value)))
    for start, end, new in sorted(dict.fromkeys(places), reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _value_at(text: str, root: yaml.Node, path: Path) -> tuple[int, int] | None:
    """Return where the value at a path is written."""
    node = root
    for part in path:
        found = step(node, part)
        if found is None:
            return None
        _, node = found
    start, end = node.start_mark.index, node.end_mark.index
    return start, start + len(text[start:end].rstrip())


def _entry_at(text: str, root: yaml.Node, path: Path) -> tuple[int, int] | None:
    """Return where an entry of a map is written: in block style, its whole lines."""
    found = step(root, path[0])
    if found is None or not isinstance(around := found[1], yaml.MappingNode):
        return None
    number = next((n for n, (key, _) in enumerate(around.value) if key.value == path[1]), None)
    if number is None:
        return None
    key, value = around.value[number]
    following = around.value[number + 1][0] if number + 1 < len(around.value) else None
    if around.flow_style:
        if following is not None:
            return key.start_mark.index, following.start_mark.index
        start = around.value[number - 1][1].end_mark.index if number else key.start_mark.index
        return start, value.end_mark.index
    start = key.start_mark.index - key.start_mark.column
    end = start + len(text[start : value.end_mark.index].rstrip())
    return start, text.find("\n", end) + 1 or len(text)
