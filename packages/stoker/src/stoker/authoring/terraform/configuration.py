"""The objects of a stack as a configuration of Terraform, with a block `import` for each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stoker.authoring.terraform.parts import StackObject, by_name, disk, with_parts
from stoker.authoring.terraform.table import Names, Row, composed, is_distinct, rows_of_types
from stoker.base.redaction import REDACTED
from stoker.plugins.resource import ResourceType
from stoker.schema.property import Property

_HEAD = """terraform {
  required_providers {
    openstack = {
      source = "terraform-provider-openstack/openstack"
    }
  }
}
"""
DISKS = "block_device"
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_EMPTY: tuple[object, ...] = (None, "", [], {})
_NAMED = {"key_pair": "name", "keypair": "name", "secret_ref": "secret_ref"}
"""Attributes that name another object by something else than its ID, and what that is."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A value that is written as it is: a reference."""

    text: str


@dataclass(slots=True)
class Configuration:
    """A configuration, as `text`. `resources` are its addresses by the paths of resources, `variables` those without
    a value; `unsupported` says why resources are left out, `left_out` has the properties, by path, that no
    argument has.
    """

    text: str = ""
    resources: dict[str, str] = field(default_factory=dict)
    variables: list[str] = field(default_factory=list)
    unsupported: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)


def to_configuration(objects: Iterable[StackObject], types: Mapping[str, ResourceType]) -> Configuration:
    """Return the configuration of objects. `types` are the known resource types by name."""
    return _Writing(list(with_parts(list(objects))), types).written()


@dataclass(frozen=True, slots=True)
class _Block:
    """An object that is written. `properties` are those that have a value, `values` the arguments that have one,
    each with its property.
    """

    stack_object: StackObject
    row: Row
    import_id: str
    properties: Mapping[str, Any]
    values: Sequence[tuple[str, str, Any]]


class _Writing:
    """One configuration that is written."""

    def __init__(self, objects: Sequence[StackObject], types: Mapping[str, ResourceType]) -> None:
        self._types = types
        self._objects = objects
        self._result = Configuration()
        self._addresses: dict[str, str] = {}
        self._variables: list[str] = []

    def written(self) -> Configuration:
        """Write the objects in the order of their paths, after the addresses of all are known."""
        result = self._result
        chosen = [block for stack_object in self._objects if (block := self._block(stack_object)) is not None]
        names: dict[str, int] = {}
        for block in chosen:
            name = f"{block.row.name}.{_word(block.stack_object.path)}"
            names[name] = names.get(name, 0) + 1
            address = name if names[name] == 1 else f"{name}_{names[name]}"
            result.resources[block.stack_object.path] = self._addresses[block.stack_object.id] = address
        blocks = [self._text(block) for block in chosen]
        variables = [_variable(name) for name in self._variables]
        result.variables = self._variables
        result.text = "\n".join([_HEAD, *variables, *blocks]) if blocks else ""
        return result

    def _block(self, stack_object: StackObject) -> _Block | None:
        """Return what is written of an object; None if Terraform has no place for it, which the result then says."""
        row = rows_of_types().get(stack_object.type)
        if row is None or stack_object.type not in self._types:
            self._result.unsupported[stack_object.path] = (
                f"Terraform's provider has no equivalent of {stack_object.type}"
            )
            return None
        if not (import_id := _import_id(stack_object, row)):
            self._result.unsupported[stack_object.path] = (
                f"Terraform imports it by {row.imported_by}, which the stack does not have"
            )
            return None
        properties = self._properties(stack_object)
        values = list(self._values(stack_object, row, properties))
        blocks = [name for name, block in row.blocks.items() if block.to in properties]
        present = {*blocks, *(attribute for attribute, _, _ in values)}
        if missing := [name for name in row.required if name not in present]:
            self._result.unsupported[stack_object.path] = (
                f"Terraform needs {', '.join(missing)}, which the stack does not have"
            )
            return None
        return _Block(stack_object, row, import_id, properties, values)

    def _text(self, block: _Block) -> str:
        address = self._result.resources[block.stack_object.path]
        kind, _, name = address.partition(".")
        lines = list(self._arguments(block))
        imported = _block_text("import", [("to", address), ("id", _string(block.import_id))])
        head = f"resource {_string(kind)} {_string(name)}"
        return f"{imported}\n{_block_text(head, lines)}"

    def _arguments(self, block: _Block) -> Iterator[tuple[str, str]]:
        """Yield the arguments and blocks of a resource; the name of a block ends with a brace."""
        stack_object, properties = block.stack_object, block.properties
        kind = self._types[stack_object.type]
        written = {nested.to for nested in block.row.blocks.values()}
        for attribute, name, value in block.values:
            written.add(name)
            argument = by_name(stack_object, attribute, value)
            yield argument, self._argument(stack_object, kind.properties[name], argument, value)
        for attribute, nested in block.row.blocks.items():
            if nested.to in properties:
                items = properties[nested.to] if isinstance(properties[nested.to], list) else [properties[nested.to]]
                yield from self._nested(stack_object, attribute, nested.attributes, items)
        usual = {name for name in properties if properties[name] == kind.properties[name].default}
        if left := sorted(properties.keys() - written - usual):
            self._result.left_out[stack_object.path] = left

    def _properties(self, stack_object: StackObject) -> dict[str, Any]:
        """Return the properties that have a value."""
        known = self._types[stack_object.type].properties
        return {name: value for name, value in stack_object.properties.items() if name in known and value not in _EMPTY}

    def _values(
        self, stack_object: StackObject, row: Row, properties: Mapping[str, Any]
    ) -> Iterator[tuple[str, str, Any]]:
        """Yield the arguments that have a value, each with its property."""
        declared = self._types[stack_object.type].properties
        for attribute, path in row.attributes.items():
            name, _, key = path.partition(".")
            if name not in declared:
                continue  # another of the types that the row has
            value = properties.get(name)
            value = value.get(key) if key and isinstance(value, dict) else value
            value = self._needed(stack_object, row, attribute, value, declared[name].default)
            if value not in _EMPTY:
                yield attribute, name, value

    def _needed(self, stack_object: StackObject, row: Row, attribute: str, value: object, default: object) -> object:
        """Return the value of an argument: what the service shows if the stack does not say the name, or what the
        provider requires, or if it names another object where the provider has its ID. Defaults are values, too, as
        Terraform has others.
        """
        shown = stack_object.shown.get(attribute)
        if value in _EMPTY:
            is_known = (attribute == "name" or attribute in row.required) and shown not in _EMPTY
            return shown if is_known else None if default == row.usual.get(attribute) else default
        is_name = attribute.endswith("_id") and isinstance(value, str) and not is_distinct(value)
        return shown if is_name and isinstance(shown, str) and shown else value

    def _nested(
        self, stack_object: StackObject, attribute: str, names: Names, items: Iterable[object]
    ) -> Iterator[tuple[str, str]]:
        for item in items:
            values = item if isinstance(item, dict) else {}
            if attribute == DISKS:
                values = disk(values)
                names = {name: name for name in values}
            pairs = [(key, values.get(name)) for key, name in names.items()]
            lines = [
                (key, self._argument(stack_object, None, key, value)) for key, value in pairs if value not in _EMPTY
            ]
            yield f"{attribute} {{", _body(lines, "    ")

    def _argument(self, stack_object: StackObject, prop: Property | None, attribute: str, value: object) -> str:
        if value == REDACTED or (prop is not None and prop.secret):
            name = _word(f"{stack_object.path}_{attribute}")
            self._variables.append(name)
            return f"var.{name}"
        return _value(self._referring(stack_object, attribute, value))

    def _referring(self, stack_object: StackObject, attribute: str, value: object) -> object:
        if isinstance(value, list):
            return [self._referring(stack_object, attribute, item) for item in value]
        if isinstance(value, dict):
            return {key: self._referring(stack_object, attribute, item) for key, item in value.items()}
        if isinstance(value, str) and value != stack_object.id and value in self._addresses:
            return Expression(f"{self._addresses[value]}.{_NAMED.get(attribute, 'id')}")
        return value


def _import_id(stack_object: StackObject, row: Row) -> str:
    def value_of(attribute: str) -> str:
        return (
            stack_object.id
            if attribute == "id"
            else str(stack_object.properties.get(row.attributes.get(attribute, "")) or "")
        )

    return composed(row.imported_by, value_of)


def _block_text(head: str, lines: Sequence[tuple[str, str]]) -> str:
    return f"{head} {{\n{_body(lines, '  ')}}}\n"


def _body(lines: Sequence[tuple[str, str]], indent: str) -> str:
    """Return the arguments with their signs under each other, and the blocks after an empty line each."""
    arguments = [(name, text) for name, text in lines if not name.endswith("{")]
    blocks = [(name, text) for name, text in lines if name.endswith("{")]
    width = max((len(name) for name, _ in arguments), default=0)
    parts = ["".join(f"{indent}{name:{width}} = {text}\n" for name, text in arguments)] if arguments else []
    parts += [f"{indent}{name}\n{text}{indent}}}\n" for name, text in blocks]
    return "\n".join(parts)


def _variable(name: str) -> str:
    return _block_text(f"variable {_string(name)}", [("type", "string"), ("sensitive", "true")])


def _value(value: object) -> str:
    if isinstance(value, Expression):
        return value.text
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        inside = ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items())
        return f"{{ {inside} }}" if inside else "{}"
    if isinstance(value, str):
        return _string(value)
    return json.dumps(value)


def _key(key: object) -> str:
    return str(key) if _PLAIN.fullmatch(str(key)) else _string(str(key))


def _string(text: str) -> str:
    """Return a string in quotes, in which nothing is a template of Terraform."""
    quoted = json.dumps(text, ensure_ascii=False).replace("\\b", "\\u0008").replace("\\f", "\\u000c")
    return quoted.replace("${", "$${").replace("%{", "%%{")


def _word(path: str) -> str:
    word = re.sub(r"[^A-Za-z0-9_-]+", "_", path).strip("_-")[:200]
    return word if word[:1].isalpha() else f"r_{word}"
