"""The Rules section of CloudFormation templates: assertions about parameter values, checked on binding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stoker.base.diagnostics import Diagnostic, Path
from stoker.template.compiler import TemplateCompiler
from stoker.template.expressions import Evaluation, evaluate
from stoker.template.problems import Problems, suggestion, type_name

_KEYS = ("RuleCondition", "Assertions")
_ASSERTION_KEYS = ("Assert", "AssertDescription")


@dataclass(frozen=True, slots=True)
class Assertion:
    """An assertion of a rule. `condition` is the compiled Assert; `path` is its place in the template."""

    condition: object
    description: str
    path: Path


@dataclass(frozen=True, slots=True)
class RuleTemplate:
    """A rule. Its assertions are checked if `condition` is true: a compiled RuleCondition, or True if there is none."""

    name: str
    condition: object
    assertions: tuple[Assertion, ...]

    def broken(self, evaluation: Evaluation) -> Iterator[Diagnostic]:
        """Yield a diagnostic for each assertion that is false; skip assertions whose value is not known yet.

        Raises FunctionError.
        """
        if evaluate(self.condition, evaluation) is True:
            for assertion in self.assertions:
                if evaluate(assertion.condition, evaluation) is False:
                    message = assertion.description or f"an assertion of the rule {self.name!r} does not hold"
                    yield Diagnostic("rule-assertion", message, assertion.path)


def read_rules(
    entries: Mapping[str, Any], path: Path, compiler: TemplateCompiler, problems: Problems
) -> dict[str, RuleTemplate]:
    """Return the valid rules by name; add a problem for each mistake."""
    rules = {}
    for name, raw in entries.items():
        place = (*path, name)
        if not _is_map_with(raw, _KEYS, place, problems):
            continue
        condition = raw.get("RuleCondition")
        compiled = True if condition is None else compiler.assertion(condition, (*place, "RuleCondition"))
        rules[name] = RuleTemplate(name, compiled, tuple(_assertions(raw, place, compiler, problems)))
    return rules


def _assertions(
    raw: Mapping[str, object], path: Path, compiler: TemplateCompiler, problems: Problems
) -> Iterator[Assertion]:
    listed = raw.get("Assertions")
    place = (*path, "Assertions")
    if not isinstance(listed, list) or not listed:
        problems.add("rule", "a rule needs Assertions, a non-empty list", path)
        return
    for index, entry in enumerate(listed):
        if not _is_map_with(entry, _ASSERTION_KEYS, (*place, index), problems):
            continue
        if "Assert" not in entry:
            problems.add("rule", "the assertion's Assert is missing", (*place, index))
            continue
        where = (*place, index, "Assert")
        yield Assertion(compiler.assertion(entry["Assert"], where), str(entry.get("AssertDescription") or ""), where)


def _is_map_with(raw: object, keys: tuple[str, ...], path: Path, problems: Problems) -> bool:
    if not isinstance(raw, Mapping):
        problems.add("rule", f"must be a map with {' and '.join(keys)}, not {type_name(raw)}", path)
        return False
    for key in raw:
        if key not in keys:
            problems.add("rule", f"unknown key {key!r}", (*path, key), hint=suggestion(key, keys))
    return True


def check_rules(rules: Mapping[str, RuleTemplate], evaluation: Evaluation) -> Iterator[Diagnostic]:
    """Yield a diagnostic for each assertion that the parameters' values violate. Raises FunctionError."""
    for rule in rules.values():
        yield from rule.broken(evaluation)
