"""Make all checks of a plan."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable, Iterator
from dataclasses import replace

from stoker.base.errors import StokerError
from stoker.cloud.session import Cloud
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Plan, Step
from stoker.engine.planning.planner import DesiredState
from stoker.engine.preflight.model import (
    Finding,
    Item,
    Reader,
    Report,
    Result,
    StackNode,
    diagnostic_of,
    placed,
    tree_of,
)
from stoker.engine.preflight.quotas import quota_findings
from stoker.engine.preflight.roles import role_findings
from stoker.plugins.preflight import CHECKS, Checked, Code, Conflict, Facts, NotRead, Planned, Severity
from stoker.plugins.resource import ResourceType
from stoker_foundation.clock import Clock

OpenCloud = Callable[[], Awaitable[Cloud]]


async def check_steps(
    plan: Plan,
    open_cloud: OpenCloud,
    clock: Clock,
    seconds: float,
    skipped: Collection[str] = (),
    lacking: Collection[str] = (),
) -> Report:
    """Return what is known to fail, or may fail, of a plan whose steps have their subjects.

    Nothing is asked for a plan that makes or changes no object with declared checks. `seconds` is the time for all
    questions together; `skipped` are the codes of checks that the operator has switched off, `lacking` the roles that
    the user cannot delegate, although the operator has trusts delegate them.
    """
    untrusted = [_untrusted(lacking)] if lacking else []
    if not any(step.subject is not None and _is_concerned(step.subject.type) for step in plan.steps):
        return _report(untrusted, (), plan, skipped, 0)  # the values of its resources need not be known
    root = tree_of(plan, _is_concerned)
    try:
        return await _checked(root, plan, open_cloud, clock, seconds, skipped, untrusted)
    finally:
        root.release()


class CheckedSteps:
    """Implements planning.nested.Selection: what the checks need of nested stacks.

    Of a new stack, these are the resources with checks, those around nested stacks, and what these depend on. Their
    steps lose what only a display of the plan needs. Of a recorded stack, these are the resources that do not stay as
    they are: a group of a thousand members in which one changes has steps for that one.
    """

    def names(self, desired: DesiredState) -> list[str]:
        needed = [
            name for name in desired.order if name in desired.types and _has_checks_inside(desired.types[name][1])
        ]
        found = set(needed)
        while needed:
            required = desired.requires[needed.pop()] - found
            needed += required
            found |= required
        return [name for name in desired.order if name in found]

    def steps(self, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        own = [step for step in steps if not step.depth]
        if not all(map(_is_of_new_resource, own)):
            return tuple(_without_kept(steps))
        return tuple(step if step.depth else _undisplayed(step) for step in steps)


def _without_kept(steps: Iterable[Step]) -> Iterator[Step]:
    """Yield the steps besides those of resources that stay as they are, and what is in these."""
    kept_depth = math.inf
    for step in steps:
        if step.depth > kept_depth:
            continue
        kept_depth = step.depth if step.kind is StepKind.KEEP else math.inf
        if step.kind is not StepKind.KEEP:
            yield step


def _is_of_new_resource(step: Step) -> bool:
    return step.kind is StepKind.CREATE and step.subject is not None and step.subject.state is None


def _has_checks_inside(type_: ResourceType) -> bool:
    return type_.nested or _is_concerned(type_)


def _undisplayed(step: Step) -> Step:
    """Return a step without its changes, and without what finds hidden values, which knows the whole stack."""
    subject = replace(step.subject, hides=None) if step.subject is not None else None
    return replace(step, changes=(), causes=(), subject=subject)


async def _checked(
    root: StackNode,
    plan: Plan,
    open_cloud: OpenCloud,
    clock: Clock,
    seconds: float,
    skipped: Collection[str],
    untrusted: Collection[Finding],
) -> Report:
    items = list(root.all_items())
    if not any(item.planned is not None for item in items):
        return _report(untrusted, items, plan, skipped, 0)
    try:
        reader = Reader(await open_cloud(), clock, seconds)
    except StokerError as error:
        findings = [Finding(Code.UNKNOWN, f"nothing was checked: {error.message.removesuffix('.')}")]
        return _report([*untrusted, *findings], items, plan, skipped, 0)
    findings = await reader.within_time(_all_findings(root, items, reader))
    return _report([*untrusted, *findings], items, plan, skipped, reader.calls)


def _untrusted(lacking: Collection[str]) -> Finding:
    names = ", ".join(sorted(lacking))
    hint = "ask the administrator of the project for these roles"
    return Finding(Code.TRUST_ROLES, f"trusts delegate roles that the user does not have: {names}", hint=hint)


def _is_concerned(type_: ResourceType) -> bool:
    return bool(type_.consumes or type_.conflicts) or _is_restricted(type_)


def _is_restricted(type_: Checked) -> bool:
    return bool(type_.roles or type_.for_administrators)


async def _all_findings(root: StackNode, items: Collection[Item], facts: Facts) -> list[Finding]:
    planned: dict[Conflict, list[Planned]] = {}
    for item in items:
        if item.planned is None:
            continue
        for conflict in item.planned.type.conflicts:
            changed = item.former is not None and not item.planned.makes
            if changed if conflict.of_changes else not item.known:  # no conflict with an object of its own
                planned.setdefault(conflict, []).append(item.planned)
    restricted = [item.planned for item in items if item.planned is not None and _is_restricted(item.planned.type)]
    found = await asyncio.gather(
        _all(quota_findings(root, facts)),
        *([_all(role_findings(restricted, facts))] if restricted else ()),
        *(_of_conflict(conflict, group, facts) for conflict, group in planned.items()),
    )
    return [finding for findings in found for finding in findings]


async def _all(findings: AsyncIterator[Finding]) -> list[Finding]:
    return [finding async for finding in findings]


async def _of_conflict(conflict: Conflict, planned: list[Planned], facts: Facts) -> list[Finding]:
    found = []
    try:
        async for problem in conflict.find(planned, facts):
            found.append(Finding(conflict.code, problem.message, problem.planned, problem.at, problem.hint))
    except NotRead as error:
        found.append(Finding(Code.UNKNOWN, f"the check {conflict.code.value} was not made: {error.message}"))
    return found


def _report(
    findings: Collection[Finding], items: Collection[Item], plan: Plan, skipped: Collection[str], calls: int
) -> Report:
    subjects = {item.planned: item.step.subject for item in items if item.planned is not None}
    results = []
    for finding in findings:
        if finding.code.value in skipped:
            continue
        diagnostic = diagnostic_of(finding, plan.secrets)
        planned = finding.planned
        if planned is not None:
            diagnostic = placed(subjects.get(planned), planned.name, diagnostic, finding.path)
        results.append(Result(finding.code, planned.path if planned is not None else "", diagnostic))
    order = {Severity.FAIL: 0, Severity.WARN: 1}
    results.sort(key=lambda each: (order[CHECKS[each.code].severity], each.diagnostic.sort_key(), each.path))
    return Report(tuple(dict.fromkeys(results)), calls)
