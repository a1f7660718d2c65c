"""Format templates: indentation, blank lines, and on request the order of keys. The meaning does not change.

Indentation changes space only; order and blank lines affect whole lines. The result is verified: it is accepted only
if it consists of the same YAML nodes, contains the same data and has the same comments.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import yaml

from stoker.authoring.indentation import indented, with_plain_line_ends
from stoker.authoring.lines import Lines
from stoker.base.errors import StokerError, TemplateInvalid
from stoker.template.document import Document
from stoker.template.limits import Limits

_NO_LIMITS = Limits(max_template_size=2**31)
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')
_SECTIONS = (
    "heat_template_version",
    "description",
    "parameter_groups",
    "parameters",
    "conditions",
    "resources",
    "outputs",
)
_RESOURCE_KEYS = (
    "type",
    "description",
    "condition",
    "external_id",
    "depends_on",
    "properties",
    "metadata",
    "deletion_policy",
    "update_replace_policy",
    "creation_policy",
    "update_policy",
    "ignore_drift",
)
_MOST_ROUNDS = 4
_JSON_WIDTH = 100
"""Columns that a list or object in one line of JSON may take, with the comma after it."""


class _Unsettled(Exception):
    def __init__(self) -> None:
        super().__init__("formatting it again would change it again")


class CannotFormat(StokerError):
    """Formatting would change the meaning of the template, so it is left unchanged: an error in the formatter."""


def layout(text: str, source: str = "template", sort: bool = False) -> str:
    """Return the formatted template. Raises CannotFormat, and TemplateInvalid for an invalid template.

    Keys keep their order, or with `sort` get the usual one in HOT: that of sections, and that of a resource's keys.
    """
    Document.parse(text, source=source, limits=_NO_LIMITS)
    if _is_json(text):
        return _json_layout(text)
    refusals: list[str] = []
    for order in (_ordered, _unordered) if sort else (_unordered,):  # an alias must not be moved before its anchor
        try:
            before = with_plain_line_ends(text)
            result = _arranged(before, order)
            refusal = _difference(before, result)
        except (yaml.YAMLError, TemplateInvalid, _Unsettled) as error:
            refusal = _first_line(error)
        if refusal is None:
            return result
        refusals.append(refusal)
    raise CannotFormat(f"{source} is left unchanged: {refusals[-1]}.")


def _arranged(text: str, order: Callable[[str], str]) -> str:
    """Return a stable layout, which may need two passes if comments move with their keys."""
    for _ in range(_MOST_ROUNDS):
        before, text = text, _parted(order(_indented(text)))
        if text == before:
            return text
    raise _Unsettled


def _difference(before: str, after: str) -> str | None:
    """Return what else a new layout would change; None if nothing."""
    if _data(before) != _data(after) or Counter(_nodes(before)) != Counter(_nodes(after)):
        return "formatting would change its meaning"
    if Counter(Lines(before).comments()) != Counter(Lines(after).comments()):
        return "a comment would be lost"
    return None


def _data(text: str) -> str:
    """Return the data as JSON, so that `1` differs from `1.0` and NaN equals NaN."""
    return json.dumps(Document.parse(text, limits=_NO_LIMITS).data, sort_keys=True)


def _nodes(text: str) -> Iterator[tuple[object, ...]]:
    """Return the nodes of the document, including duplicate keys, anchors and tags, which the data does not contain."""
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        yield tuple(getattr(event, name, None) for name in ("__class__", "anchor", "tag", "value"))


def _first_line(error: Exception) -> str:
    problem = getattr(error, "problem", None)
    mark = getattr(error, "problem_mark", None)
    if problem and mark:
        return f"line {mark.line + 1}: {problem}"
    return str(error).splitlines()[0]


# -- JSON --------------------------------------------------------------------------------------------------------


def _is_json(text: str) -> bool:
    if text.lstrip()[:1] != "{":
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _json_layout(text: str) -> str:
    """Return JSON with one item on each line; every string and number stays as written.

    A list or an object that was written in one line stays in one line if it fits; the whole document never does.
    """
    tokens = list(_JSON_TOKEN.finditer(text))
    words = [token[0] for token in tokens]
    ends = _json_ends(words)
    result: list[str] = []
    column = depth = position = 0
    while position < len(words):
        word = words[position]
        depth -= word in ("}", "]")
        before = words[position - 1] if position else ""
        if before in ("{", "[", ",") or word in ("}", "]"):
            result.append("\n" + "  " * depth)
            column = 2 * depth
        end = ends.get(position, position)
        if word in ("{", "["):
            source = text[tokens[position].start() : tokens[end].end()] if end - position < _JSON_WIDTH else "\n"
            line = "".join(map(_spaced, words[position : end + 1])) if "\n" not in source and position else ""
            if end == position + 1:
                position, word = end, word + words[end]
            elif line and column + len(line) < _JSON_WIDTH:
                position, word = end, line
            else:
                depth += 1
        result.append(": " if word == ":" else word)
        column += len(result[-1])
        position += 1
    return "".join(result) + "\n"


def _json_ends(words: list[str]) -> dict[int, int]:
    """Return the positions of closing brackets by those of the opening ones."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for position, word in enumerate(words):
        if word in ("{", "["):
            opened.append(position)
        elif word in ("}", "]"):
            ends[opened.pop()] = position
    return ends


def _spaced(word: str) -> str:
    return f"{word} " if word in (":", ",") else word


# -- indentation -------------------------------------------------------------------------------------------------


def _indented(text: str) -> str:
    lines = Lines(indented(text))
    lines.place_comments(Lines(text).neighbours())
    return lines.text()


# -- order and blank lines ---------------------------------------------------------------------------------------


def _unordered(text: str) -> str:
    return text


def _ordered(text: str) -> str:
    """Sort the sections of a HOT template, and the keys of each resource, in their usual order."""
    root = _tree(text)
    sections = {key.value: value for key, value in root.pairs}
    if _SECTIONS[0] not in sections:
        return text
    lines = Lines(text)
    for _, resource in sections.get("resources", _NOTHING).pairs:
        if keys := _keys(resource):
            lines.reorder(keys, _RESOURCE_KEYS)
    lines = Lines(lines.text())
    if keys := _keys(_tree(lines.text())):
        lines.reorder(keys, _SECTIONS)
    return lines.text()


def _parted(text: str) -> str:
    lines = Lines(text)
    lines.part(_keys(_tree(text)) or [("", 0)])
    return lines.text()


@dataclass(frozen=True, slots=True)
class _Node:
    """A node of a document: its position, the string of a scalar, the pairs of a block mapping."""

    line: int
    value: str = ""
    pairs: tuple[tuple[_Node, _Node], ...] = ()


_NOTHING = _Node(0)


def _keys(node: _Node) -> list[tuple[str, int]]:
    """Return the keys of a block mapping with their lines; none for other nodes, or if two keys share a line."""
    keys = [(key.value, key.line) for key, _ in node.pairs]
    return keys if len({line for _, line in keys}) == len(keys) else []


def _tree(text: str) -> _Node:
    """Return the root of a document. PyYAML's composer cannot be used, since it refuses to redefine an anchor."""
    events = iter(yaml.parse(text, Loader=yaml.CSafeLoader))
    while not isinstance(event := next(events), yaml.NodeEvent):
        pass
    return _node(event, events)


def _node(event: yaml.Event, events: Iterator[yaml.Event]) -> _Node:
    assert event.start_mark is not None
    line = event.start_mark.line
    if not isinstance(event, yaml.CollectionStartEvent):
        return _Node(line, getattr(event, "value", ""))
    inside = []
    while not isinstance(following := next(events), yaml.CollectionEndEvent):
        inside.append(_node(following, events))
    is_block_mapping = isinstance(event, yaml.MappingStartEvent) and not event.flow_style
    return _Node(line, pairs=tuple(_paired(inside)) if is_block_mapping else ())


def _paired(nodes: list[_Node]) -> Iterator[tuple[_Node, _Node]]:
    return zip(nodes[::2], nodes[1::2], strict=True)
