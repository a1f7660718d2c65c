"""Values that functions derive from secrets: a part of a string, its upper-case form, its base64 encoding, a digest.

Such a value no longer contains the secret, so that a search for the secret does not find it. Every call that reads a
secret is therefore evaluated, and what it returns is a secret, too, unless the template itself shows it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from stoker.base.errors import BudgetExceeded
from stoker.base.redaction import SHORTEST_SECRET, Redactor, strings_of
from stoker.template.definition import Definition
from stoker.template.expressions import Evaluation, Expression, FunctionError, Scope
from stoker.template.functions.base import Function

_MOST = 500
_LONGEST = 8 * 1024
_LONGEST_TOGETHER = 64 * 1024
"""Bounds, in characters, of what is searched for in everything that is shown of a stack."""

_WORDS = frozenset({"true", "false", "none", "null"})
"""Booleans and nulls as strings, which reveal nothing that can be recognized."""


def derived_values(
    definition: Definition, scope: Scope, secrets: Collection[str], only: Collection[str] | None = None
) -> frozenset[str]:
    """Return the strings that calls in resources and outputs derive from `secrets`, apart from those that contain one.

    With `only`, the names of resources, the others and the outputs are not searched. Values that the scope does not
    know yet are not derived, nor is anything that exceeds the bounds or the open budget.
    """
    if not secrets:
        return frozenset()
    search = _Search(definition, scope, Redactor(secrets))
    try:
        for tree in _trees(definition, only):
            search.trace(tree)
    except BudgetExceeded:
        pass
    return search.result()


def _trees(definition: Definition, only: Collection[str] | None) -> Iterator[object]:
    for name, resource in definition.resources.items():
        if only is None or name in only:
            yield from (resource.properties, resource.metadata, resource.update_policy, resource.creation_policy)
    if only is None:
        yield from (output.value for output in definition.outputs.values())


class _TracingEvaluation(Evaluation):
    """An evaluation that records whether a secret was read, and which other strings were."""

    __slots__ = ("others", "read_secret", "secrets")

    def __init__(self, definition: Definition, scope: Scope, secrets: Redactor) -> None:
        super().__init__(definition, scope, [])
        self.secrets = secrets
        self.read_secret = False
        self.others: set[str] = set()

    def tracked(self, value: object) -> object:
        if self.secrets.finds(value):
            self.read_secret = True
        else:
            self.others.update(strings_of(value))
        return super().tracked(value)


class _Search:
    def __init__(self, definition: Definition, scope: Scope, secrets: Redactor) -> None:
        self._definition = definition
        self._scope = scope
        self._secrets = secrets
        self._found: dict[str, None] = {}
        self._size = 0
        self._public: set[str] = set()

    def trace(self, node: object) -> None:
        """Record what calls in a compiled tree derive from secrets, the inner calls first."""
        if not isinstance(node, Expression):
            return
        evaluation = _TracingEvaluation(self._definition, self._scope, self._secrets)
        if not isinstance(node, Function):
            for child in _children(node, evaluation):
                self.trace(child)
            return
        value = node.evaluate(evaluation)
        self._public |= evaluation.others
        if evaluation.read_secret:
            for child in _children(node, evaluation):
                self.trace(child)
            self._record(value)

    def _record(self, value: object) -> None:
        """Record the strings in the value of a call, except those in which a secret or the value of another call is."""
        before = [found for found in self._found if len(found) >= SHORTEST_SECRET]
        for item in _pieces(value):
            if len(self._found) >= _MOST or self._size + len(item) > _LONGEST_TOGETHER:
                return
            self._definition.budget.charge(len(before) + 1)
            if item in self._found or self._secrets.finds(item) or any(found in item for found in before):
                continue
            self._found[item] = None
            self._size += len(item)

    def result(self) -> frozenset[str]:
        """Return what was recorded, without the strings that the template, or another value, shows in clear."""
        if not self._found:
            return frozenset()
        return frozenset(self._found.keys() - self._public - set(_words_of(self._definition.template.document.data)))


def _children(node: Expression, evaluation: Evaluation) -> Iterable[object]:
    try:
        return list(node.children(evaluation))
    except FunctionError:
        return ()


def _pieces(value: object) -> Iterator[str]:
    """Yield the strings in a value, and the numbers that are long enough not to be a mere count."""
    match value:
        case str():
            if value.strip() and len(value) <= _LONGEST and value.lower() not in _WORDS:
                yield value
        case Mapping():
            for key, item in value.items():
                yield from _pieces(key)
                yield from _pieces(item)
        case list():
            for item in value:
                yield from _pieces(item)
        case int() | float() if not isinstance(value, bool) and len(str(value)) >= SHORTEST_SECRET:
            yield str(value)


def _words_of(value: object) -> Iterator[str]:
    """Yield the strings, numbers and keys of a template."""
    yield from strings_of(value)
    pending = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, Mapping):
            yield from (key for key in node if isinstance(key, str))
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)
