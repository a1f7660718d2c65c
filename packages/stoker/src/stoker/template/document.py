"""A YAML or JSON document, or a mapping that was parsed elsewhere, as plain data with positions.

The data is read-only and shared: copy a value before you change it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import orjson
import yaml

from stoker.base.budget import charge
from stoker.base.diagnostics import Diagnostic, Key, Path, Position
from stoker.base.errors import RequestLimitExceeded, TemplateInvalid
from stoker.base.json_text import NotAcceptable, TooDeep, read_json
from stoker.template.limits import DEFAULT_LIMITS, Limits
from stoker.template.yaml_reader import SHORT_TAGS, YamlProblem, read
from stoker_foundation.recent import memory_of
from stoker_foundation.value_types import MAPPINGS

AWS_KEY, AWS_VALUE = "AWSTemplateFormatVersion", "2010-09-09"

VERSION_KEYS: tuple[str, ...] = ("heat_template_version", "HeatTemplateFormatVersion", AWS_KEY)


def named_formats(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys that state the format, with their values: exactly one in a valid template.

    AWS has one format, and stating it is optional: a template with `Resources` that states none has that format.
    """
    named = {key: data[key] for key in VERSION_KEYS if key in data}
    return named or ({AWS_KEY: AWS_VALUE} if "Resources" in data else {})


_ENTRY_BYTES = 64
_ITEM_BYTES = 8
_PLAIN = (str, int, float, bool, type(None))


class Document:
    """Plain data with the name of its source and, if it was parsed from a string, the position of every value.

    `size` is the number of bytes of the source in UTF-8, or of the data as JSON, `memory` about how many it takes.
    `origins` map paths of generated data (the copies of a loop) to the paths that it was generated from.
    """

    __slots__ = ("_memory", "data", "origins", "size", "source", "text")

    def __init__(
        self,
        data: Mapping[str, Any],
        source: str,
        text: str | None,
        size: int,
        origins: Mapping[Path, Path] | None = None,
    ) -> None:
        self.data = data
        self.size = size
        self.source = source
        self.text = text
        self.origins = origins or {}
        self._memory: int | None = None

    @property
    def memory(self) -> int:
        if self._memory is None:
            self._memory = memory_of(self.data) + len(self.text or "")
        return self._memory

    def with_origins(self, origins: Mapping[Path, Path]) -> Document:
        """Return the same document, in which paths of generated data lead to the positions of their origins."""
        return Document(self.data, self.source, self.text, self.size, origins)

    @classmethod
    def parse(
        cls,
        text_or_mapping: str | Mapping[str, object],
        *,
        source: str = "template",
        limits: Limits = DEFAULT_LIMITS,
    ) -> Document:
        """Parse YAML or JSON, or take a mapping as it is.

        Raises TemplateInvalid for anything but a mapping of plain data, RequestLimitExceeded for one that is too large.
        """
        if isinstance(text_or_mapping, str):
            return cls._from_text(text_or_mapping, source, limits)
        data = _plain_copy(text_or_mapping, limits.max_depth, source)
        if not isinstance(data, dict):
            raise _invalid("not-a-mapping", "must be a mapping", source)
        size = _json_size(data)
        _refuse_size(size, source, limits)
        return cls(data, source, None, size)

    @classmethod
    def _from_text(cls, text: str, source: str, limits: Limits) -> Document:
        size = _text_size(text)
        _refuse_size(size, source, limits)
        data = _json_data(text, source, limits) if text.lstrip()[:1] == "{" else None
        if data is None:
            try:
                data = read(text, limits, _may_have_short_tags)
            except YamlProblem as problem:
                if problem.over_budget:
                    raise RequestLimitExceeded(_placed(source, problem.position, problem.message)) from problem
                raise _invalid("syntax", problem.message, source, problem.position) from problem
        if not isinstance(data, dict):
            kind = "empty" if data is None else f"a {'list' if isinstance(data, list) else 'single value'}"
            raise _invalid("not-a-mapping", f"the document is {kind}; it must be a mapping", source)
        return cls(data, source, text, size)

    def locate(self, path: Path) -> Position | None:
        """Return the position of the value at `path`, or of the nearest enclosing value; None if `parse` got a mapping.

        The position of a map or list in a map is the position of its key, as is that of a path that ends with a `Key`.
        """
        return None if self.text is None else _position(_compose(self.text), self._origin(path))

    def _origin(self, path: Path) -> Path:
        if self.origins:
            for end in range(len(path), 0, -1):
                origin = self.origins.get(path[:end])
                if origin is not None:
                    return (*origin, *path[end:])
        return path


def _may_have_short_tags(data: object) -> bool:
    return isinstance(data, dict) and AWS_KEY in named_formats(data)


def _placed(source: str, position: Position | None, message: str) -> str:
    place = f"{source}:{position.line}:{position.column}" if position else source
    return f"{place}: {message}"


def _invalid(rule: str, message: str, source: str, position: Position | None = None) -> TemplateInvalid:
    return TemplateInvalid(
        [Diagnostic(rule=rule, message=message, source=source, position=position, kind="ValueError")]
    )


def _refuse_size(size: int, source: str, limits: Limits) -> None:
    if size > limits.max_template_size:
        raise RequestLimitExceeded(
            f"{source}: the template has {size} bytes; "
            f"at most {limits.max_template_size} are allowed (max_template_size)."
        )


def _json_data(text: str, source: str, limits: Limits) -> object:
    """Return the data of a JSON document; None if it is not JSON (YAML's flow style begins with a brace as well)."""
    try:
        data = read_json(text)
    except TooDeep as error:
        raise RequestLimitExceeded(f"{source}: {error}.") from error
    except NotAcceptable as error:
        raise _invalid("syntax", str(error), source) from error
    except ValueError:
        return None
    return _plain_copy(data, limits.max_depth, source)


def _plain_copy(value: object, depth: int, source: str) -> object:
    """Return `value` with string keys and only JSON's types; raises for anything else and for excessive nesting."""
    if isinstance(value, _PLAIN):
        return value
    if depth == 0:
        raise RequestLimitExceeded(f"{source}: values are nested too deeply.")
    if isinstance(value, MAPPINGS):
        charge(len(value) + 1, _ENTRY_BYTES * len(value))
        return {
            key if isinstance(key, str) else _key_text(key, source): _plain_copy(item, depth - 1, source)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        charge(len(value) + 1, _ITEM_BYTES * len(value))
        return [_plain_copy(item, depth - 1, source) for item in value]
    raise _invalid("not-plain-data", f"a value of type {type(value).__name__} is not plain data", source)


def _key_text(key: object, source: str) -> str:
    if isinstance(key, _PLAIN):
        return json.dumps(key)
    raise _invalid("not-plain-data", f"a key of type {type(key).__name__} is not plain data", source)


def _text_size(text: str) -> int:
    """Return the number of bytes of a string in UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _json_size(data: Mapping[str, object]) -> int:
    """Return the number of bytes of the data as JSON in UTF-8."""
    try:
        return len(orjson.dumps(data))
    except (TypeError, ValueError):
        return _text_size(json.dumps(data, ensure_ascii=False, separators=(",", ":")))


def compose(text: str) -> yaml.Node | None:
    """Return a document's nodes with their marks; None if they cannot be had, as of some documents in JSON."""
    try:
        return yaml.compose(text, Loader=yaml.CSafeLoader)
    except (yaml.YAMLError, UnicodeError):
        return None


_compose = lru_cache(maxsize=1)(compose)
"""Nodes take far more memory than the data, and diagnostics come in batches, so only those of one document at a time
are cached.
"""


def forget_positions() -> None:
    """Free what the last positions were found in: up to 150 bytes for each character of the document."""
    _compose.cache_clear()


def _position(node: yaml.Node | None, path: Path) -> Position | None:
    if node is None:
        return None
    mark = node.start_mark
    for part in path:
        found = step(node, part)
        if found is None:
            break
        mark, node = found
        if isinstance(node, yaml.ScalarNode) and node.value and not isinstance(part, Key):
            mark = node.start_mark
    return Position(mark.line + 1, mark.column + 1)


def step(node: yaml.Node, part: str | int) -> tuple[yaml.Mark, yaml.Node] | None:
    """Return where an entry of a node begins, and its value; None if the node has no such entry."""
    if SHORT_TAGS.get(node.tag) == part:
        return node.start_mark, _untagged(node)
    if isinstance(node, yaml.MappingNode):
        for key, value in reversed(node.value):
            if key.value == part:
                return key.start_mark, value
    elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        item = node.value[part]
        return item.start_mark, item
    return None


def _untagged(node: yaml.Node) -> yaml.Node:
    """Return the value to which a short tag applies."""
    if isinstance(node, yaml.MappingNode):
        return yaml.MappingNode("", node.value, node.start_mark, node.end_mark)
    if isinstance(node, yaml.SequenceNode):
        return yaml.SequenceNode("", node.value, node.start_mark, node.end_mark)
    return yaml.ScalarNode("", node.value, node.start_mark, node.end_mark)
