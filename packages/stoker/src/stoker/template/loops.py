"""Fn::ForEach: copies of a part of a template, expanded before anything else is read.

A loop is a key of a map, `Fn::ForEach::Name`, with `[Identifier, collection, {key: value}]`. For every item of the
collection the map gets a copy of the key and value in which `${Identifier}` (and `Ref` of it) is replaced by the item,
and `&{Identifier}` by only the letters and digits of the item.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stoker.base.budget import Budget, charge, size_of
from stoker.base.diagnostics import Diagnostic, Path
from stoker.schema.unknown import Unknown, has_unknown
from stoker.template.expressions import UNDETERMINED, Evaluation, FunctionError, UnknownScope, evaluate
from stoker.template.limits import Limits
from stoker.template.problems import type_name

PREFIX = "Fn::ForEach::"
_NAME = re.compile(r"[A-Za-z0-9]+\Z")
_NOT_ALPHANUMERIC = re.compile(r"[^A-Za-z0-9]")


def is_loop(key: str) -> bool:
    """Return whether a map's key begins a loop."""
    return key.startswith(PREFIX)


class LoopProblem(Exception):
    """A loop that cannot be expanded."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


@dataclass(frozen=True, slots=True)
class ParameterBinding:
    """What a collection can refer to: parameters and mappings. `value` returns a parameter's value, or None."""

    limits: Limits
    mappings: Mapping[str, object]
    names: frozenset[str]
    value: Callable[[str], Any]

    def evaluate(self, tree: Any) -> Any:
        """Return a compiled tree's value; unknown if it needs a parameter without a value. Raises FunctionError."""
        return evaluate(tree, Evaluation(self, UnknownScope()))

    @property
    def files(self) -> Mapping[str, str]:
        return {}

    @property
    def known_exports(self) -> Mapping[str, object] | None:
        return None

    @property
    def look_up(self) -> None:
        return None

    @property
    def budget(self) -> Budget:
        return Budget(self.limits.allowed)

    def parameter(self, name: str) -> object:
        value = self.value(name)
        return UNDETERMINED if value is None else value

    def has_parameter(self, name: str) -> bool:
        return name in self.names

    def type_of_parameter(self, name: str) -> str:
        raise FunctionError(f"{name}: a parameter's type is available in assertions only")

    def parameters_of_type(self, kind: str) -> Iterator[str]:
        return iter(())

    def has_resource(self, name: str) -> bool:
        return False

    def resource_names(self) -> Iterator[str]:
        return iter(())

    def condition(self, name: str) -> bool | Unknown:
        raise FunctionError(
            f"the condition {name!r} cannot be used in a loop; loops are expanded before conditions are evaluated",
            "StackValidationFailed",
        )


@dataclass(frozen=True, slots=True)
class _Variable:
    """An identifier's value in one copy, and the notations that refer to it."""

    name: str
    item: str

    def fill(self, text: str) -> str:
        """Return `text` with the identifier replaced by the item."""
        text = text.replace(f"${{{self.name}}}", self.item)
        marked = f"&{{{self.name}}}"
        return text.replace(marked, _NOT_ALPHANUMERIC.sub("", self.item)) if marked in text else text

    def occurs_in(self, text: str) -> bool:
        return f"${{{self.name}}}" in text or f"&{{{self.name}}}" in text


class Expander:
    """Expands the loops of one template.

    `compile_collection` compiles a collection's source. After `expand`, `origins` maps the paths of copies to the paths
    that they were copied from, and `collections` has all compiled collections.
    """

    def __init__(self, binding: ParameterBinding, compile_collection: Callable[[object, Path], object]) -> None:
        self.origins: dict[Path, Path] = {}
        self.collections: list[object] = []
        self._binding = binding
        self._compile = compile_collection
        self._names: dict[str, Path] = {}
        self._copies = 0
        self._size = 0

    def expand(self, value: object, path: Path) -> Any:
        """Return `value`, which is at `path`, with all loops in it expanded. Raises LoopProblem."""
        return self._copy(value, path, path, ())

    def _copy(self, value: object, path: Path, origin: Path, variables: tuple[_Variable, ...]) -> object:
        if isinstance(value, str):
            return self._filled(value, variables, origin)
        if isinstance(value, list):
            items = enumerate(value)
            return [self._copy(item, (*path, index), (*origin, index), variables) for index, item in items]
        if isinstance(value, dict):
            item = next((variable.item for variable in variables if value == {"Ref": variable.name}), None)
            return self._map(value, path, origin, variables) if item is None else item
        return value

    def _map(
        self, value: dict[str, object], path: Path, origin: Path, variables: tuple[_Variable, ...]
    ) -> dict[str, object]:
        result: dict[str, object] = {}
        for key, item, place, inner in self._entries(value, origin, variables):
            filled = self._filled(key, inner, place)
            if filled in result:
                raise _problem(f"the key {filled!r} occurs more than once", place)
            below = (*path, filled)
            if place != below:
                self.origins[below] = place
            result[filled] = self._copy(item, below, place, inner)
        return result

    def _entries(
        self, value: dict[str, object], origin: Path, variables: tuple[_Variable, ...]
    ) -> Iterator[tuple[str, Any, Path, tuple[_Variable, ...]]]:
        """Yield the entries of a map with loops expanded: key, value, their place, and the variables in them."""
        for key, item in value.items():
            place = (*origin, key)
            if not is_loop(key):
                yield key, item, place, variables
                continue
            identifier, collection, body = self._loop(key, item, place)
            for text in self._items(collection, (*place, 1), variables):
                self._count(place)
                yield from self._entries(body, (*place, 2), (*variables, _Variable(identifier, text)))

    def _loop(self, key: str, value: object, place: Path) -> tuple[str, object, dict[str, object]]:
        name = key.removeprefix(PREFIX)
        if not _NAME.match(name) or self._names.setdefault(name, place) != place:
            raise _problem("a loop needs a unique name of letters and digits after Fn::ForEach::", place)
        if not isinstance(value, list) or len(value) != 3:
            raise _problem("takes a list of three: an identifier, a collection and a map", place)
        identifier, collection, body = value
        if not isinstance(identifier, str) or not _NAME.match(identifier):
            raise _problem("the identifier must consist of letters and digits", (*place, 0))
        if not isinstance(body, dict):
            raise _problem(f"the body of the loop must be a map, not {type_name(body)}", (*place, 2))
        marker = _Variable(identifier, "")
        for inner in body:
            if not is_loop(inner) and not marker.occurs_in(inner):
                hint = f"include ${{{identifier}}} or &{{{identifier}}} in it"
                raise _problem("the key must be different in each copy", (*place, 2, inner), hint)
        return identifier, collection, body

    def _items(self, collection: object, place: Path, variables: tuple[_Variable, ...]) -> list[str]:
        """Return the collection's items; none as long as a parameter that it needs has no value."""
        tree = self._compile(self._copy(collection, place, place, variables), place)
        self.collections.append(tree)
        try:
            value = self._binding.evaluate(tree)
        except FunctionError as error:
            raise _problem(error.message, error.path or place, error.hint) from error
        if has_unknown(value):
            return []
        if not isinstance(value, list) or not all(isinstance(item, str | int | float) for item in value):
            raise _problem("the collection must be a list of strings", place)
        return [str(item).strip() for item in value]

    def _count(self, place: Path) -> None:
        self._copies += 1
        limit = self._binding.limits.max_repeat_items
        if self._copies > limit:
            raise _problem(f"the loops expand to more than {limit} copies", place)

    def _filled(self, text: str, variables: tuple[_Variable, ...], place: Path) -> str:
        for variable in variables:
            text = variable.fill(text)
        if variables:
            self._size += len(text) + 1
            charge(1, size_of(text))
            limit = self._binding.limits.max_expanded_size
            if self._size > limit:
                raise _problem(f"the loops expand to more than {limit} characters", place)
        return text


def _problem(message: str, place: Path, hint: str = "") -> LoopProblem:
    return LoopProblem(Diagnostic("loop", message, place, hint=hint))
