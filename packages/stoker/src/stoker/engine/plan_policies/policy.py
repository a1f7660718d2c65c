"""A policy on plans, and the results of its evaluation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import islice
from typing import Any

from stoker.base.diagnostics import Diagnostic, Position


class EnforcementLevel(StrEnum):
    """What follows if a plan does not satisfy a policy, the most severe first."""

    DENY = "deny"
    REQUIRE_APPROVAL = "require_approval"
    WARN = "warn"


class Scope(StrEnum):
    """What a policy's expression is evaluated for: each step of the plan, or the plan as a whole."""

    RESOURCE = "resource"
    PLAN = "plan"


class OnFailure(StrEnum):
    """What follows if the webhook of a policy does not answer as it should."""

    DENY = "deny"
    WARN = "warn"


class Source(StrEnum):
    """Who has written a policy: the operator of the service, a manager of the project, for all of its stacks or for one
    tree of them, or the user of a command who tries policies.
    """

    OPERATOR = "operator"
    PROJECT = "project"
    STACK = "stack"
    COMMAND = "command"


class Code(StrEnum):
    """The code of a result; stable names, part of the plan's JSON.

    FAILED is a policy that could not be evaluated, DEFERRED one that depends on values which are known later: it is
    evaluated again right before the step.
    """

    DENIED = "policy-denied"
    APPROVAL_REQUIRED = "policy-approval-required"
    WARNED = "policy-warned"
    FAILED = "policy-failed"
    DEFERRED = "policy-deferred"


CODES: Mapping[EnforcementLevel, Code] = {
    EnforcementLevel.DENY: Code.DENIED,
    EnforcementLevel.REQUIRE_APPROVAL: Code.APPROVAL_REQUIRED,
    EnforcementLevel.WARN: Code.WARNED,
}
"""The codes of the results of policies that are not satisfied."""

MOST_RESULTS = 100
"""How many results with the same code a policy has in a report: plans are stored with them."""

KINDS = frozenset({"create", "use", "update", "replace", "refuse", "delete", "forget", "keep", "act", "import", "move"})
"""The kinds of steps in plans; a step that imports an object or moves a resource has two."""

DEFAULT_KINDS = frozenset({"create", "update", "replace", "use", "import"})
"""The kinds of steps that a policy is evaluated for unless it says otherwise: those after which the object is there."""


DOCUMENT = "plan_policies"
"""What messages call the policies of a project or a stack, which have no file."""


@dataclass(frozen=True, slots=True)
class Policy:
    """A condition on plans, `expression`, which must be true.

    `types` are names of resource types, or beginnings of names that end with `*`; empty for all. `kinds` are those of
    steps, `actions` those of operations, empty for all, without `except_actions`. `message` says what is wrong;
    `message_expression`, which must be a string, replaces it. `place` is where the policy stands in `file`. A policy
    with the URL of a `webhook` has no expression: the webhook is asked about the plan as a whole, and answers with a
    verdict of its own.
    """

    name: str
    expression: str
    verdict: EnforcementLevel = EnforcementLevel.DENY
    scope: Scope = Scope.RESOURCE
    types: tuple[str, ...] = ()
    kinds: frozenset[str] = DEFAULT_KINDS
    actions: frozenset[str] = frozenset()
    except_actions: frozenset[str] = frozenset()
    message: str = ""
    message_expression: str | None = None
    hint: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    source: Source = Source.OPERATOR
    file: str = ""
    place: Position | None = None
    webhook: str = ""
    on_failure: OnFailure = OnFailure.DENY

    def concerns(self, action: str) -> bool:
        """Return whether the policy applies to operations with this action."""
        return action not in self.except_actions and (not self.actions or action in self.actions)

    def applies(self, step: Mapping[str, Any]) -> bool:
        """Return whether the policy applies to a step of `document`."""
        return not self.kinds.isdisjoint(step["kinds"]) and (
            not self.types or any(_matches(each, name) for each in self.types for name in step["types"])
        )


def _matches(pattern: str, name: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern


@dataclass(frozen=True, slots=True)
class Result:
    """What a policy says of a plan, or of the step with this path; "" for the plan. `diagnostic` has the place."""

    code: Code
    policy: str
    source: Source
    verdict: EnforcementLevel
    path: str
    diagnostic: Diagnostic

    def to_data(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            "code": self.code.value,
            "policy": self.policy,
            "source": self.source.value,
            "verdict": self.verdict.value,
            "path": self.path,
            "diagnostic": self.diagnostic.to_dict(),
        }

    def text(self) -> str:
        """Return a line with the code, the policy and what is wrong where."""
        about = f"{self.path}: " if self.path else ""
        return f"{self.code.value} {self.policy}: {about}{self.diagnostic.text()}"


@dataclass(frozen=True, slots=True)
class EvaluatedPolicy:
    """A policy that was evaluated for a plan, and the paths of its steps, at most `MOST_RESULTS`; "" for the plan."""

    policy: str
    source: Source
    verdict: EnforcementLevel
    paths: tuple[str, ...]

    @classmethod
    def of(cls, policy: Policy, paths: Iterable[str]) -> EvaluatedPolicy:
        """Return the entry of a policy for these steps."""
        return cls(policy.name, policy.source, policy.verdict, tuple(islice(paths, MOST_RESULTS)))

    def to_data(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            "policy": self.policy,
            "source": self.source.value,
            "verdict": self.verdict.value,
            "paths": list(self.paths),
        }


@dataclass(frozen=True, slots=True)
class Report:
    """The results of the evaluation of `evaluated` policies, the most severe first; satisfied ones have no result.

    `omitted` is how many further steps policies object to that have `MOST_RESULTS` results of the same code. `policies`
    are the policies that had something to say, satisfied ones too; `steps` has the type and the kind of the steps that
    these name, by path.
    """

    evaluated: int = 0
    results: tuple[Result, ...] = ()
    omitted: int = 0
    policies: tuple[EvaluatedPolicy, ...] = ()
    steps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        evaluated: int,
        results: Iterable[Result],
        policies: Iterable[EvaluatedPolicy] = (),
        steps: Mapping[str, Mapping[str, str]] | None = None,
    ) -> Report:
        """Return the report with these results, in order; `steps` may have more than those that are named."""
        order = list(EnforcementLevel)
        counts = Counter[tuple[Source, str, Code]]()
        listed = list[Result]()
        for result in results:
            about = (result.source, result.policy, result.code)
            counts[about] += 1
            if counts[about] <= MOST_RESULTS:
                listed.append(result)
        listed.sort(key=lambda each: (order.index(each.verdict), each.path, each.policy, each.source, each.code))
        entries, known = tuple(policies), steps or {}
        named = {path for entry in entries for path in entry.paths} | {result.path for result in listed}
        named_steps = {path: known[path] for path in sorted(named) if path in known}
        return cls(evaluated, tuple(listed), counts.total() - len(listed), entries, named_steps)

    def joined(self, other: Report) -> Report:
        """Return the report with the results of another one."""
        results, evaluated = (*self.results, *other.results), (*self.policies, *other.policies)
        joined = Report.of(self.evaluated + other.evaluated, results, evaluated, {**self.steps, **other.steps})
        return replace(joined, omitted=self.omitted + other.omitted)

    def with_verdict(self, verdict: EnforcementLevel) -> tuple[Result, ...]:
        """Return the results from which a verdict follows now; deferred ones have none yet."""
        return tuple(each for each in self.results if each.verdict is verdict and each.code is not Code.DEFERRED)

    @property
    def verdict(self) -> EnforcementLevel | None:
        """Return the most severe verdict; None if nothing objects."""
        return next((verdict for verdict in EnforcementLevel if self.with_verdict(verdict)), None)

    def to_data(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            "evaluated": self.evaluated,
            "verdict": self.verdict.value if self.verdict is not None else None,
            "results": [result.to_data() for result in self.results],
            "omitted": self.omitted,
            "asked": [entry.to_data() for entry in self.policies],
            "steps": {path: dict(step) for path, step in self.steps.items()},
        }


def most_severe(results: Iterable[Mapping[str, object]]) -> str | None:
    """Return the most severe verdict that follows from results in the form of `Result.to_data`; None without one."""
    found = {each["verdict"] for each in results if each["code"] != Code.DEFERRED.value}
    return next((verdict.value for verdict in EnforcementLevel if verdict.value in found), None)
