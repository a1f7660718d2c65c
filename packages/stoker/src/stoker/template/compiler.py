"""Compile a template's plain data to expression trees, once per template."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

from stoker.base.budget import Budget, current
from stoker.base.diagnostics import Diagnostic, Key, Path
from stoker.template.expressions import Expression, ListExpression, Malformed, MapExpression
from stoker.template.functions.base import Compiler, Function
from stoker.template.functions.conditions import ConditionName, ConditionResult
from stoker.template.functions.registered import functions
from stoker.template.limits import DEFAULT_LIMITS
from stoker.template.loops import is_loop
from stoker.template.misspelt_functions import condition_hint
from stoker.template.problems import Problems, suggestion, type_name
from stoker.template.versions import Version


class TemplateCompiler:
    """Compiles the values of one template.

    An error in a call that is always evaluated is added to `problems` immediately. An error inside a branch or a
    conditional resource stays in the tree as `Malformed`, because Heat checks only the branches that are chosen.
    """

    def __init__(self, version: Version, condition_names: frozenset[str], problems: Problems) -> None:
        self.version = version
        self._budget = current() or Budget(DEFAULT_LIMITS.allowed)
        self.used: set[str] = set()
        self._condition_names = condition_names
        self._problems = problems
        self._deferred = 0
        self._defines_condition = False
        self._conditions = _ConditionCompiler(self, version.condition_functions, "a condition")
        self._assertions = _ConditionCompiler(self, version.rule_functions, "an assertion")

    @contextmanager
    def deferring(self) -> Iterator[None]:
        """Keep errors in the tree within this block."""
        self._deferred += 1
        try:
            yield
        finally:
            self._deferred -= 1

    def value(self, snippet: Any, path: Path) -> Any:
        """Return a compiled tree, or the snippet itself if it contains no call."""
        return self.compiled(snippet, path, self, self._call)

    def branch(self, snippet: object, path: Path) -> object:
        """Compile like `value`, for a tree that may never be evaluated."""
        with self.deferring():
            return self.value(snippet, path)

    def condition(self, snippet: object, path: Path) -> object:
        """Return a compiled condition: a boolean, a name or a condition function."""
        return self._conditions.condition(snippet, path)

    def definition_of_condition(self, snippet: object, path: Path) -> object:
        """Compile like `condition`, for an entry of the conditions section, which cannot be a condition's name.

        A name in it that does not exist is an error only if the condition is used, as in Heat.
        """
        if isinstance(snippet, str):
            return self.malformed("condition", "a condition must be a boolean or a condition function", path)
        self._defines_condition = True
        try:
            return self.condition(snippet, path)
        finally:
            self._defines_condition = False

    def assertion(self, snippet: object, path: Path) -> object:
        """Return a compiled assertion or condition of a rule, which cannot be a condition's name."""
        if isinstance(snippet, str):
            return self.malformed(
                "condition", "an assertion must be a boolean or a function of the Rules section", path
            )
        return self._assertions.condition(snippet, path)

    def named_condition(self, name: str, path: Path) -> Expression:
        """Return a reference to a condition by name."""
        if name in self._condition_names:
            return ConditionName(name, path)
        hint = suggestion(name, self._condition_names)
        with self.deferring() if self._defines_condition else nullcontext():
            return self.malformed("unknown-condition", f"there is no condition {name!r}", path, hint)

    def malformed(self, rule: str, message: str, path: Path, hint: str = "") -> Malformed:
        """Return a node that stands for an error; report the error now unless errors are deferred."""
        diagnostic = Diagnostic(rule=rule, message=message, path=path, hint=hint)
        if not self._deferred:
            self._problems.add_all([diagnostic])
        return Malformed(diagnostic)

    def build(self, cls: type[Function], name: str, arguments: object, path: Path, compiler: Compiler) -> Expression:
        """Return a call of a known function, or a `Malformed` node if its arguments are invalid."""
        self.used.add(name)
        call = cls.compile(name, arguments, path, compiler)
        problem = None if isinstance(call.arguments, Function | Malformed) else call.problem(call.arguments)
        return self.malformed("function-arguments", f"{name} {problem}", (*path, name)) if problem else call

    def _call(self, name: str, arguments: object, path: Path) -> Expression | None:
        cls = self.version.variant(name)
        if cls is not None:
            return self.build(cls, name, arguments, path, self)
        return self.refusal(name, (*path, Key(name)))

    def refusal(self, name: str, path: Path) -> Malformed | None:
        """Return an error for a function that exists but not in this template; None if `name` is not a function."""
        version = self.version
        if name in version.removed_functions:
            message = f"{name} does not exist in {version.name}"
            return self.malformed("removed-function", message, path, _REMOVED.get(name, ""))
        if name in version.unsupported_functions:
            hint = version.unsupported_functions[name]
            return self.malformed("unsupported-function", f"{name} is not supported", path, hint)
        if name in version.extended_functions or (version.transforms and is_loop(name)):
            hint = f"add Transform: {' or '.join(version.transforms)}"
            return self.malformed("needs-transform", f"{name} needs a transform", path, hint)
        return None

    def compiled(
        self,
        snippet: Any,
        path: Path,
        compiler: Compiler,
        call: Callable[[str, object, Path], Expression | None],
    ) -> object:
        """Return `snippet` with every call that `call` knows replaced by a node; `compiler` compiles inner values."""
        if isinstance(snippet, dict):
            self._budget.charge(1, _NODE_BYTES * len(snippet))
            if len(snippet) == 1:
                ((name, arguments),) = snippet.items()
                expression = call(name, arguments, path)
                if expression is not None:
                    return expression
            nodes = _nodes(snippet.items(), path, compiler)
            return MapExpression({**snippet, **nodes}) if nodes else snippet
        if isinstance(snippet, list):
            self._budget.charge(1, _NODE_BYTES * len(snippet))
            nodes = _nodes(enumerate(snippet), path, compiler)
            return ListExpression([nodes.get(index, item) for index, item in enumerate(snippet)]) if nodes else snippet
        return self._text(snippet, path) if _may_refer_elsewhere(snippet) else snippet

    def _text(self, text: str, path: Path) -> object:
        """Return the string itself, or an error if it contains a dynamic reference of AWS."""
        found = _DYNAMIC_REFERENCE.search(text)
        if found is None or self.version.dialect.name == "hot":
            return text
        hint = f"{_STORES[found[1]]} is not available; pass the value in a parameter, with NoEcho for a secret"
        return self.malformed("dynamic-reference", f"{{{{resolve:{found[1]}:…}}}} is not supported", path, hint)


def _nodes(parts: Iterable[tuple[Any, Any]], path: Path, compiler: Compiler) -> dict[Any, Any]:
    """Return the parts of a map or a list that become nodes, by key or index."""
    nodes = {}
    for part, value in parts:
        if isinstance(value, dict | list) or _may_refer_elsewhere(value):
            node = compiler.value(value, (*path, part))
            if node is not value:
                nodes[part] = node
    return nodes


def _may_refer_elsewhere(value: object) -> bool:
    return isinstance(value, str) and "{{resolve:" in value


_NODE_BYTES = 16

_STORES = {
    "ssm": "AWS's parameter store",
    "ssm-secure": "AWS's parameter store",
    "secretsmanager": "AWS's secrets manager",
}
_DYNAMIC_REFERENCE = re.compile(rf"\{{\{{resolve:({'|'.join(_STORES)}):")


class _ConditionCompiler:
    """Compiles conditions, and the values inside them, with the functions of `table`."""

    def __init__(self, template: TemplateCompiler, table: Mapping[str, str], place: str) -> None:
        self._template = template
        self._table = table
        self._place = place

    def condition(self, snippet: object, path: Path) -> object:
        if isinstance(snippet, bool):
            return snippet
        if isinstance(snippet, str):
            return self._template.named_condition(snippet, path)
        condition = self.value(snippet, path)
        if isinstance(condition, Function):
            return ConditionResult(condition)
        if isinstance(condition, Malformed):
            return condition
        message = (
            f"a condition must be a boolean, the name of a condition or a condition function, not {type_name(snippet)}"
        )
        return self._template.malformed("condition", message, path, condition_hint(snippet, self._template.version))

    def value(self, snippet: Any, path: Path) -> Any:
        return self._template.compiled(snippet, path, self, self._call)

    def branch(self, snippet: object, path: Path) -> object:
        with self._template.deferring():
            return self.value(snippet, path)

    def _call(self, name: str, arguments: object, path: Path) -> Expression | None:
        variant = self._table.get(name)
        if variant is not None:
            return self._template.build(functions()[variant], name, arguments, path, self)
        version = self._template.version
        if name in version.functions or name in version.removed_functions:
            message = f"{name} cannot be used in {self._place}"
            # The function is spelled as it is meant, so that none with a similar name is offered.
            hint = f"use one of {', '.join(sorted(self._table))}"
            return self._template.malformed("function-in-condition", message, (*path, Key(name)), hint)
        return self._template.refusal(name, (*path, Key(name)))


_REMOVED = {
    "Ref": "use get_param or get_resource",
    "Fn::Join": "use list_join",
    "Fn::Split": "use str_split (from 2015-10-15)",
    "Fn::Replace": "use str_replace",
    "Fn::Select": "use get_param or get_attr with a path",
    "Fn::ResourceFacade": "use resource_facade",
}
