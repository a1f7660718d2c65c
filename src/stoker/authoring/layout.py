"""One layout for all templates: indentation, order of sections, blank lines. What a template says is left alone.

The text goes through ruamel.yaml, which keeps comments, block scalars, anchors and quotes, and comes out indented in
one way. Order and blank lines are then a matter of whole lines. Nobody has to trust any of this: the result is
accepted only when it reads as the same data and has the same comments.
"""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import yaml
from ruamel.yaml import YAML
from ruamel.yaml.constructor import RoundTripConstructor
from ruamel.yaml.emitter import RoundTripEmitter
from ruamel.yaml.error import YAMLError
from ruamel.yaml.nodes import ScalarNode
from ruamel.yaml.representer import RoundTripRepresenter

from stoker.authoring.lines import Lines
from stoker.base.errors import StokerError, TemplateInvalid
from stoker.template.document import Document
from stoker.template.limits import Limits

_WIDTH = 120
_DASH_OFFSET = 2
_NO_LIMITS = Limits(max_template_size=2**31)
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
    "update_policy",
)
_TYPED = ("null", "bool", "int", "float", "timestamp")


_MOST_ROUNDS = 4


class _Unsettled(Exception):
    def __init__(self) -> None:
        super().__init__("its layout would be another each time")


class CannotFormat(StokerError):
    """The text cannot be laid out anew without risk; it is better left as it is."""


def layout(text: str, source: str = "template") -> str:
    """The text in the canonical layout. Raises CannotFormat, and TemplateInvalid for what is no YAML or JSON map."""
    before = Document.parse(text, source=source, limits=_NO_LIMITS).data
    if _is_json(text):
        return _json_layout(text, source)
    refusals: list[str] = []
    for order in (_ordered, _unordered):  # an alias must not come to stand before its anchor
        try:
            result = _arranged(text, order)
            refusal = _difference(text, before, result)
        except (YAMLError, yaml.YAMLError, TemplateInvalid, _Unsettled) as error:
            refusal = _first_line(error)
        if refusal is None:
            return _json_layout(result, source) if _is_json(result) else result
        refusals.append(refusal)
    raise CannotFormat(f"{source} is left as it is: {refusals[-1]}.")


def _arranged(text: str, order: Callable[[str], str]) -> str:
    """The text in a layout that a second time would not change; what is folded may settle only then."""
    for _ in range(_MOST_ROUNDS):
        before, text = text, _parted(order(_indented(text)))
        if text == before:
            return text
    raise _Unsettled


def _difference(text: str, before: Mapping[str, Any], result: str) -> str | None:
    """What the new layout would change beside the layout; None when it is nothing."""
    if Document.parse(result, limits=_NO_LIMITS).data != before:
        return "in the new layout it would say something else"
    if Counter(Lines(text).comments()) != Counter(Lines(result).comments()):
        return "a comment would be lost"
    return None


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
    except ValueError:
        return False
    return True


def _json_layout(text: str, source: str) -> str:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise CannotFormat(f"{source} is left as it is: a key stands twice in one object.")
        return found

    return json.dumps(json.loads(text, object_pairs_hook=unique), indent=2, ensure_ascii=False) + "\n"


# -- indentation -------------------------------------------------------------------------------------------------


class _Plain(str):
    """A scalar that is no text (`0755`, `yes`, `2013-05-23`), in the very characters that were written."""

    __slots__ = ("anchor",)


class _Constructor(RoundTripConstructor):
    def construct_plain(self, node: Any) -> Any:
        if node.style is not None or node.anchor:
            return self.construct_scalar(node)
        return _Plain(node.value)


class _Representer(RoundTripRepresenter):
    def represent_plain(self, value: _Plain) -> Any:
        resolver = self.dumper.resolver
        return self.represent_scalar(resolver.resolve(ScalarNode, str(value), (True, False)), str(value))


class _Emitter(RoundTripEmitter):
    """Writes a list inside a list as `- - item`, with no more space than that."""

    @property
    def sequence_dash_offset(self) -> int:
        """How far the dashes of the list at hand are indented."""
        return 0 if self.indents.seq_seq() else _DASH_OFFSET

    @sequence_dash_offset.setter
    def sequence_dash_offset(self, offset: int) -> None:
        assert offset in (0, _DASH_OFFSET)  # what the base class starts with

    def increase_indent(self, flow: bool = False, sequence: bool | None = None, indentless: bool = False) -> None:
        """Go one level down."""
        in_inner_list = self.indents.seq_seq()
        super().increase_indent(flow, sequence, indentless)
        if in_inner_list and not indentless and self.indent is not None:
            self.indent -= _DASH_OFFSET

    def write_double_quoted(self, text: Any, split: bool = True) -> None:
        """Never broken over lines, for that needs escapes which nobody wants to read."""
        super().write_double_quoted(text, split=False)


for _name in _TYPED:
    _Constructor.add_constructor(f"tag:yaml.org,2002:{_name}", _Constructor.construct_plain)
_Representer.add_representer(_Plain, _Representer.represent_plain)


def _indented(text: str) -> str:
    reader = YAML()
    reader.Constructor = _Constructor
    reader.Representer = _Representer
    reader.Emitter = _Emitter
    reader.preserve_quotes = True
    reader.width = _WIDTH
    reader.indent(mapping=2, sequence=2 + _DASH_OFFSET, offset=_DASH_OFFSET)
    out = io.StringIO()
    reader.dump(reader.load(text), out)
    lines = Lines(out.getvalue())
    lines.place_comments(Lines(text).neighbours())
    return lines.text()


# -- order and blank lines ---------------------------------------------------------------------------------------


def _unordered(text: str) -> str:
    return text


def _ordered(text: str) -> str:
    """The sections of a HOT template, and the keys of each resource, in their usual order."""
    root = yaml.compose(text, Loader=yaml.CSafeLoader)
    if _SECTIONS[0] not in dict(_block_keys(root)):
        return text
    lines = Lines(text)
    for resource in _values(dict(_pairs(root)).get("resources")):
        keys = _block_keys(resource)
        if keys:
            lines.reorder(keys, _RESOURCE_KEYS)
    lines = Lines(lines.text())
    lines.reorder(_block_keys(yaml.compose(lines.text(), Loader=yaml.CSafeLoader)), _SECTIONS)
    return lines.text()


def _pairs(node: yaml.Node | None) -> list[tuple[str, yaml.Node]]:
    return [(str(key.value), value) for key, value in node.value] if isinstance(node, yaml.MappingNode) else []


def _values(node: yaml.Node | None) -> list[yaml.Node]:
    """The values of a block map."""
    return [value for _, value in _pairs(node)] if _block_keys(node) else []


def _block_keys(node: yaml.Node | None) -> list[tuple[str, int]]:
    """The keys of a block map with their lines; none for anything else, and when two share a line."""
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        return []
    keys = [(str(key.value), key.start_mark.line) for key, _ in node.value]
    return keys if len({line for _, line in keys}) == len(keys) else []


def _parted(text: str) -> str:
    lines = Lines(text)
    lines.part(_block_keys(yaml.compose(text, Loader=yaml.CSafeLoader)) or [("", 0)])
    return lines.text()
