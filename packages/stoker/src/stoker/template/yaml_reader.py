"""Parse YAML to plain JSON data, directly from libyaml's events.

Scalars follow YAML 1.1 as PyYAML's safe loader reads them (`yes` is true, `0755` is 493), except that dates stay
strings. Keys become strings, as in JSON. Parsing from events bounds nesting and alias expansion: neither a deeply
nested document nor one that expands exponentially costs more than its budget.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import isfinite
from typing import Any

import yaml
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.resolver import Resolver

from stoker.base.budget import charge
from stoker.base.diagnostics import Position
from stoker.template.limits import Limits

_TAG = "tag:yaml.org,2002:"
_STRING = f"{_TAG}str"
_MERGE = f"{_TAG}merge"
_TEXT_TAGS = frozenset({_STRING, f"{_TAG}timestamp", f"{_TAG}value"})
_KINDS = {
    f"{_TAG}int": "an integer",
    f"{_TAG}float": "a finite number",
    f"{_TAG}bool": "a boolean",
    f"{_TAG}null": "null",
}
"""Tags of scalars that are not strings, and what such a scalar must be."""
_COLLECTION_TAGS = frozenset({None, "!", f"{_TAG}map", f"{_TAG}seq"})

SHORT_TAGS: Mapping[str, str] = {
    "!Ref": "Ref",
    "!Condition": "Condition",
    **{
        f"!{name}": f"Fn::{name}"
        for name in (
            "And",
            "Base64",
            "Cidr",
            "Contains",
            "EachMemberEquals",
            "EachMemberIn",
            "Equals",
            "FindInMap",
            "GetAtt",
            "GetAZs",
            "If",
            "ImportValue",
            "Join",
            "Length",
            "Not",
            "Or",
            "RefAll",
            "Select",
            "Split",
            "Sub",
            "ToJsonString",
            "Transform",
            "ValueOf",
            "ValueOfAll",
        )
    },
}
"""CloudFormation's short tags, each an abbreviation of a map with one key: `!Ref x` is `{Ref: x}`."""

_RESOLVER = Resolver()
_CONSTRUCTOR = SafeConstructor()
_SUSPECT_INITIALS = frozenset(Resolver.yaml_implicit_resolvers)


class _Merge:
    """The key `<<`."""


_MERGE_KEY = _Merge()
_ITEM = _Merge()
"""The key of every item of a list, so that only a map can be without a key."""


@dataclass(eq=False)
class YamlProblem(Exception):
    """The document is not YAML for plain data; `over_budget` if it would exceed a limit."""

    message: str
    position: Position | None
    over_budget: bool = False


_MOST_DIGITS = 4300
"""The maximum length of a number, as for `int`; the time for YAML's integers to base 60 is quadratic in the length."""

_TOO_LARGE = 10**_MOST_DIGITS
"""Integers from here on, which are short when written to base 16, have more decimal digits than Python writes."""

_EVENTS_BETWEEN_CHARGES = 64


def _plain_tag(text: str) -> str:
    """Return the tag that the form of a plain scalar implies; the tags of long ones are not cached."""
    return _tag_by_form(text) if len(text) <= _REMEMBERED else _tag_by_form.__wrapped__(text)


_REMEMBERED = 64


@lru_cache(maxsize=4096)
def _tag_by_form(text: str) -> str:
    return str(_RESOLVER.resolve(yaml.ScalarNode, text, (True, False)))  # type: ignore[no-untyped-call]


def _converted(tag: str, text: str) -> object:
    """Return the number, boolean or null that `text` represents. Raises ValueError and others if it is invalid, or if
    JSON has no such value (RFC 8259, section 6: neither infinity nor NaN), or none that can be written.
    """
    if len(text) > _MOST_DIGITS:
        raise ValueError("too long")
    value = _constructed(tag, text) if len(text) <= _REMEMBERED else _constructed.__wrapped__(tag, text)
    if isinstance(value, float) and not isfinite(value):
        raise ValueError("not finite")
    if isinstance(value, int) and abs(value) >= _TOO_LARGE:
        raise ValueError("too large")
    return value


@lru_cache(maxsize=4096)
def _constructed(tag: str, text: str) -> object:
    return _CONSTRUCTOR.construct_object(yaml.ScalarNode(tag, text))


class _Frame:
    """A collection that is being read; a `short` one is the map of a short tag, which ends after its only value.

    `key` is the key of the next value; None if a key comes next.
    """

    __slots__ = ("anchor", "key", "merged", "short", "value", "weight")

    def __init__(self, value: dict[str, object] | list[object], anchor: str | None) -> None:
        self.value = value
        self.anchor = anchor
        self.key: str | _Merge | None = None if isinstance(value, dict) else _ITEM
        self.merged: list[dict[str, object]] | None = None
        self.short = False
        self.weight = 1


class _Builder:
    """Builds plain data from a stream of events."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._contents: list[object] = []
        self._frames = [_Frame(self._contents, None)]
        self._anchors: dict[str, tuple[object, int]] = {}
        self._documents = 0
        self.short_tag: YamlProblem | None = None

    @property
    def result(self) -> Any:
        """The document's data; None if it is empty."""
        return self._contents[0] if self._contents else None

    def scalar(self, event: yaml.ScalarEvent) -> None:
        text, tag, frame = event.value, event.tag, self._frames[-1]
        value: object
        if tag is None and (text[:1] not in _SUSPECT_INITIALS or not event.implicit[0]):
            value = text
        elif tag in SHORT_TAGS:
            self._open_short(str(tag), event)
            self._add(text, len(text) + 1, event)
            return
        else:
            value = self._typed(event, frame.key is None)
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, len(text) + 1)
        if frame.key is None:
            frame.key = value if type(value) is str or value is _MERGE_KEY else _key_text(value)
            frame.weight += len(text)
        else:
            self._add(value, len(text) + 1, event)

    def _typed(self, event: yaml.ScalarEvent, expects_key: bool) -> object:
        tag = event.tag
        if tag is None:
            tag = _plain_tag(event.value)
            if tag == _MERGE:
                return _MERGE_KEY if expects_key else event.value
        if tag in _TEXT_TAGS or tag == "!":
            return event.value
        if tag not in _KINDS:
            raise _problem(_tag_message(tag), event)
        try:
            return _converted(tag, event.value)
        except (ValueError, ArithmeticError, LookupError, ConstructorError) as error:
            raise _problem(f"{event.value[:40]!r} is not {_KINDS[tag]}", event) from error

    def alias(self, event: Any) -> None:
        known = self._anchors.get(event.anchor)
        if known is None:
            raise _problem(f"alias *{event.anchor} does not refer to a value that is complete before it", event)
        value, weight = known
        frame = self._frames[-1]
        if frame.key is None:
            if isinstance(value, dict | list):
                raise _problem("a key must be a scalar", event)
            frame.key = value if isinstance(value, str) else _key_text(value)
            frame.weight += weight
        else:
            self._add(value, weight, event)

    def _open_short(self, tag: str, event: yaml.NodeEvent) -> None:
        """Begin the map that a short tag implies."""
        if self.short_tag is None:
            self.short_tag = _problem(_tag_message(tag), event)
        self._push({}, event)
        frame = self._frames[-1]
        frame.key = SHORT_TAGS[tag]
        frame.short = True

    def open(self, value: dict[str, object] | list[object], event: yaml.CollectionStartEvent) -> None:
        if event.tag in SHORT_TAGS:
            self._open_short(str(event.tag), event)
            self._push(value, event)
            self._frames[-1].anchor = None
            return
        if event.tag not in _COLLECTION_TAGS:
            raise _problem(_tag_message(str(event.tag)), event)
        self._push(value, event)

    def _push(self, value: dict[str, object] | list[object], event: yaml.NodeEvent) -> None:
        if len(self._frames) > self._limits.max_depth:
            raise _problem(f"values are nested more than {self._limits.max_depth} levels deep", event, over_budget=True)
        if self._frames[-1].key is None:
            raise _problem("a key must be a scalar, not a map or a list", event)
        self._frames.append(_Frame(value, event.anchor))

    def close(self, event: yaml.Event) -> None:
        frame = self._frames.pop()
        value = frame.value
        if frame.merged is not None and isinstance(value, dict):
            value = _with_merged(value, frame.merged)
        if frame.anchor is not None:
            self._anchors[frame.anchor] = (value, frame.weight)
        self._add(value, frame.weight, event)

    def _add(self, value: object, weight: int, event: yaml.Event) -> None:
        frame = self._frames[-1]
        frame.weight += weight
        if frame.weight > self._limits.max_expanded_size:
            raise _problem("the document grows too large when its aliases are expanded", event, over_budget=True)
        container, key = frame.value, frame.key
        if isinstance(container, list):
            container.append(value)
        elif isinstance(key, str):
            container[key] = value
            frame.key = None
        else:
            frame.merged = [*(frame.merged or ()), *_merge_sources(value, event)]
            frame.key = None
        if frame.short:
            self.close(event)

    def document(self, event: yaml.Event) -> None:
        self._documents += 1
        if self._documents > 1:
            raise _problem("there is more than one YAML document", event)


def _with_merged(own: dict[str, object], merged: list[dict[str, object]]) -> dict[str, object]:
    result: dict[str, object] = {}
    for source in reversed(merged):
        result.update(source)
    result.update(own)
    return result


def _merge_sources(value: Any, event: yaml.Event) -> list[dict[str, object]]:
    sources = value if isinstance(value, list) else [value]
    if not all(isinstance(source, dict) for source in sources):
        raise _problem("<< takes a map or a list of maps", event)
    return sources


def _key_text(value: object) -> str:
    return str(json.dumps(value))


def _tag_message(tag: str) -> str:
    name = tag.removeprefix(_TAG)
    return f"the YAML tag {'!!' + name if name != tag else tag} is not supported; write the value as plain data"


def _problem(message: str, event: yaml.Event, over_budget: bool = False) -> YamlProblem:
    mark = event.start_mark
    assert mark is not None  # every event of a parser has its place
    return YamlProblem(message, Position(mark.line + 1, mark.column + 1), over_budget)


def read(text: str, limits: Limits, short_tags_allowed: Callable[[Any], bool] = lambda data: False) -> Any:
    """Parse a YAML document to plain data; raises YamlProblem.

    `short_tags_allowed` is called with the data if some of it was written with CloudFormation's short tags.
    """
    builder = _Builder(limits)
    handlers: dict[type, Callable[[Any], None]] = {
        yaml.ScalarEvent: builder.scalar,
        yaml.MappingStartEvent: lambda event: builder.open({}, event),
        yaml.SequenceStartEvent: lambda event: builder.open([], event),
        yaml.MappingEndEvent: builder.close,
        yaml.SequenceEndEvent: builder.close,
        yaml.AliasEvent: builder.alias,
        yaml.DocumentStartEvent: builder.document,
    }
    try:
        next_event = yaml.CSafeLoader(text).get_event
        until_charge = _EVENTS_BETWEEN_CHARGES
        while (event := next_event()) is not None:
            until_charge -= 1
            if not until_charge:
                charge(_EVENTS_BETWEEN_CHARGES)
                until_charge = _EVENTS_BETWEEN_CHARGES
            handler = handlers.get(type(event))
            if handler is not None:
                handler(event)
    except yaml.YAMLError as error:
        raise _syntax_problem(error, text) from error
    except UnicodeError as error:
        raise YamlProblem("the document contains characters that are not valid Unicode", None) from error
    if builder.short_tag is not None and not short_tags_allowed(builder.result):
        raise builder.short_tag
    return builder.result


def _syntax_problem(error: yaml.YAMLError, text: str) -> YamlProblem:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        position = Position(mark.line + 1, mark.column + 1) if mark else None
        if mark is not None and _character(text, mark) == "\t":
            return YamlProblem("not valid YAML: the line is indented with a tab character; use spaces", position)
        words = " ".join(part for part in (error.problem, error.context) if part)
        return YamlProblem(f"not valid YAML: {words}", position)
    if isinstance(error, yaml.reader.ReaderError):
        return YamlProblem("not valid YAML: the document contains a control character", None)
    return YamlProblem(f"not valid YAML: {error}", None)


def _character(text: str, mark: yaml.Mark) -> str:
    """Return the character at a mark; an empty string at the end of the document."""
    line = next(islice(text.splitlines(), mark.line, None), "")
    return line[mark.column : mark.column + 1]
