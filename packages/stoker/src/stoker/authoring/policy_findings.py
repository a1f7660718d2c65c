"""What policies on plans say of templates, without a server: of the plan that creates a stack.

Values that are known only during a deployment are unknown, and there is neither a price list nor a stack's tags. Of
equal members of a group, one is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from stoker.authoring.rules import ERROR, WARNING
from stoker.authoring.workspace import BoundTemplate, Unchecked, Workspace
from stoker.base.diagnostics import Diagnostic
from stoker.base.errors import RequestLimitExceeded, TemplateInvalid
from stoker.engine.plan_policies.evaluation import Outcome, evaluated
from stoker.engine.plan_policies.policy import EnforcementLevel, Policy
from stoker.engine.planning.kinds import StepKind
from stoker.engine.preflight.policy_checks import concerning, outcome_diagnostic
from stoker.engine.preflight.policy_document import step_document
from stoker.plugins import capabilities
from stoker.plugins.resource import finalized
from stoker.template.definition_parts import ResourceDefinition
from stoker.template.expressions import UnknownScope
from stoker.template.nested import inside

_ACTION = "CREATE"
_MOST_NESTED = 5


@dataclass(frozen=True, slots=True)
class _Located:
    """A step of the plan, and the resource with those around it, the outermost first."""

    step: Mapping[str, Any]
    chain: Sequence[tuple[BoundTemplate, ResourceDefinition]]


def policy_findings(workspace: Workspace, path: str, policies: Sequence[Policy]) -> list[Diagnostic]:
    """Return what policies say of the template in a file, by position; nothing of one that cannot be used."""
    try:
        place = workspace.root(path).require_valid()
        located = [*_steps(workspace, place, ())]
    except (TemplateInvalid, RequestLimitExceeded):  # the linter says why
        return []
    steps = [item.step for item in located]
    stack = {"name": "offline", "project_id": "", "tags": [], "nested": False}
    plan = {"action": _ACTION, "stack": stack, "steps": steps, "summary": {StepKind.CREATE.value: len(steps)}}
    findings = []
    for outcome in evaluated(concerning(policies, _ACTION), plan):
        if not outcome.holds:
            diagnostic = _diagnostic(outcome)
            chain = located[outcome.index].chain if outcome.index is not None else ()
            findings.append(_placed(workspace, path, diagnostic, chain))
    return sorted(dict.fromkeys(findings), key=Diagnostic.sort_key)


def _steps(
    workspace: Workspace, place: BoundTemplate, chain: Sequence[tuple[BoundTemplate, ResourceDefinition]]
) -> Iterator[_Located]:
    """Yield the steps that create the resources of a template and of those nested in it."""
    definition = place.definition
    for resource in definition.resources.values():
        kind = place.kind_of(resource)
        if kind is None or isinstance(kind, Unchecked):
            continue
        properties = {} if kind.ignores_properties else definition.resolve(resource.properties, UnknownScope()) or {}
        within = (*chain, (place, resource))
        path = ".".join(ancestor.name for _, ancestor in within)
        step_kind = StepKind.CREATE if resource.external_id is None else StepKind.USE
        yield _Located(step_document(path, resource.type, kind, properties, step_kind, ()), within)
        request = capabilities.sample_of(kind, finalized(kind, properties))
        if request is not None and request.template is not None and place.depth < _MOST_NESTED:
            yield from _steps(workspace, place.child(resource, request).require_valid(), within)


def _diagnostic(outcome: Outcome) -> Diagnostic:
    """Return the diagnostic of a policy that is not satisfied: an error only if it denies for certain."""
    diagnostic = outcome_diagnostic(outcome, ())
    if outcome.deferred:
        diagnostic = replace(diagnostic, message="it depends on values that are not known without a deployment")
    certain = outcome.holds is not None and not outcome.deferred
    if certain and outcome.policy.verdict is EnforcementLevel.REQUIRE_APPROVAL:
        diagnostic = replace(diagnostic, message=f"an approval is required: {diagnostic.message}")
    denied = certain and outcome.policy.verdict is EnforcementLevel.DENY
    return replace(diagnostic, severity=ERROR if denied else WARNING)


def _placed(
    workspace: Workspace, path: str, diagnostic: Diagnostic, chain: Sequence[tuple[BoundTemplate, ResourceDefinition]]
) -> Diagnostic:
    """Return a diagnostic with the place of a resource, or of that around it which stands in a file."""
    if not chain:
        return replace(diagnostic, source=path)
    place, resource = chain[-1]
    document = place.definition.template.document
    key = (place.definition.template.written("resources"), resource.name)
    located = replace(diagnostic, source=document.source, path=key, position=document.locate(key))
    files = workspace.sources.own_names()
    for outer, holder in reversed(chain[:-1]):
        located = inside(files, outer.definition, holder, located)
    return located
