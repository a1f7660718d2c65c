"""Add entries to a list in an environment: what else is in the file stays as its author wrote it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_INDENT = "  "

Entry = Mapping[str, Any]


class NotAdded(Exception):
    """The document is no environment to which the entries could be added; the message says why."""


def with_entries(text: str, section: str, entries: Sequence[Entry]) -> str:
    """Return an environment with further entries in the list `section`, without those that it has already.

    Raises NotAdded.
    """
    try:
        before = yaml.load(text, _LOADER)  # noqa: S506  a safe loader
        root = yaml.compose(text, _LOADER)
    except yaml.YAMLError as error:
        raise NotAdded(f"it is no YAML: {' '.join(str(error).split())}") from error
    if before is not None and not isinstance(before, dict):
        raise NotAdded("it is no map")
    listed = (before or {}).get(section) or []
    if not isinstance(listed, list):
        raise NotAdded(f"its section {section} is no list")
    new = [entry for entry in entries if entry not in listed]
    if not new:
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    edited = _edited(text, root if isinstance(root, yaml.MappingNode) else None, section, new)
    edited = edited.replace("\r\n", "\n").replace("\n", newline)
    try:
        after = yaml.load(edited, _LOADER)  # noqa: S506  a safe loader
    except yaml.YAMLError:
        after = None
    if after != {**(before or {}), section: [*listed, *new]}:
        raise NotAdded("its form is unusual")
    return edited


def written(entry: Entry, *, as_json: bool = False) -> str:
    """Return an entry in one line: `{from: a, to: b}`."""
    if as_json:
        return json.dumps(entry, ensure_ascii=False)
    return "{" + ", ".join(f"{name}: {_scalar(value)}" for name, value in entry.items()) + "}"


def _scalar(value: object) -> str:
    if isinstance(value, Mapping):
        return written(value)
    if isinstance(value, str) and _PLAIN.fullmatch(value) and yaml.load(value, _LOADER) == value:  # noqa: S506
        return value
    return json.dumps(value, ensure_ascii=False)


def _edited(text: str, root: yaml.MappingNode | None, section: str, entries: Sequence[Entry]) -> str:
    block = "".join(f"\n{_INDENT}- {written(entry)}" for entry in entries)
    if root is None or not root.value:
        if root is not None and root.flow_style:  # {}
            text = text[: root.start_mark.index] + text[root.end_mark.index :]
        return _after(text, len(text), f"{section}:{block}\n")
    value = next((value for key, value in root.value if key.value == section), None)
    if root.flow_style:
        return _in_flow(text, root, value, section, [written(entry, as_json=True) for entry in entries])
    if value is None:
        return _after(text, _end_of(root), f"{section}:{block}\n")
    if isinstance(value, yaml.SequenceNode) and value.flow_style:
        return _in_list(text, value, [written(entry) for entry in entries])
    if isinstance(value, yaml.SequenceNode):
        first, last = value.value[0], _end_of(value)
        dash = text.rfind("-", 0, first.start_mark.index)
        margin = text[text.rfind("\n", 0, dash) + 1 : dash]
        return _after(text, last, "".join(f"{margin}- {written(entry)}\n" for entry in entries))
    return text[: value.start_mark.index].rstrip(" ") + block + text[value.end_mark.index :]  # nothing, or null


def _in_flow(text: str, root: yaml.MappingNode, value: yaml.Node | None, section: str, entries: list[str]) -> str:
    if isinstance(value, yaml.SequenceNode):
        return _in_list(text, value, entries)
    listed = f"[{', '.join(entries)}]"
    if value is not None:
        return text[: value.start_mark.index] + listed + text[value.end_mark.index :]
    end = root.value[-1][1].end_mark.index
    return f"{text[:end]}, {json.dumps(section)}: {listed}{text[end:]}"


def _in_list(text: str, node: yaml.SequenceNode, entries: list[str]) -> str:
    end = node.value[-1].end_mark.index if node.value else node.start_mark.index + 1
    return text[:end] + (", " if node.value else "") + ", ".join(entries) + text[end:]


def _end_of(node: yaml.Node) -> int:
    """Return where a node ends; the loader lets a block end where the next token begins."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return int(node.end_mark.index)


def _after(text: str, index: int, lines: str) -> str:
    """Return the document with lines after the one in which `index` is."""
    end = text.find("\n", max(index - 1, 0)) if index and text[index - 1 : index] == "\n" else text.find("\n", index)
    if end < 0:
        return (f"{text}\n" if text and not text.endswith("\n") else text) + lines
    return text[: end + 1] + lines + text[end + 1 :]
