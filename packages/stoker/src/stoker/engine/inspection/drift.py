"""Differences between the objects of a stack and their recorded state. Nothing is changed.

Plans that compare with the cloud use the same comparison (`comparing`); here the result is only reported.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from stoker.base.redaction import REDACTED, redact_values
from stoker.engine.inspection.comparison import (
    DELETED,
    IN_SYNC,
    MODIFIED,
    NOT_CHECKED,
    UNKNOWN,
    UNSUPPORTED,
    Comparison,
    compare,
)
from stoker.engine.inspection.shared_reads import SharedReads
from stoker.engine.records.actions import FORWARD
from stoker.engine.records.differences import Difference, differences, shown
from stoker.engine.records.ignored_drift import is_ignored, paths_of
from stoker.engine.records.observations import return_to_deployed
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import StackView, views_of_tree
from stoker.engine.records.state import ResourceState
from stoker.engine.redaction.object_ids import ObjectIds
from stoker.engine.redaction.stacks import secrets_of_tree
from stoker.plugins.live_values import has_object
from stoker.schema.property import secret_paths
from stoker.store.records import FAILED, Stack

DRIFTED = (MODIFIED, DELETED)
_NO_OBJECT = "the resource has no object in the cloud"
_NOT_CHECKED = "nobody has looked at it yet"
_UNFINISHED = "the last operation on the nested stack failed, so its resources need not be those of the template"
_APPLIED_BEFORE = "compared with what was last applied to it, as the last operation on the stack failed"
_LAST_ACTION_FAILED = "its last action failed, so the record need not have the values of the template"
_MOST_NAMED = 5


async def drift_of(
    comparer: DriftComparer,
    names: Collection[str] | None = None,
    known: Mapping[str, dict[str, object]] = MappingProxyType({}),
) -> list[dict[str, object]]:
    """Return the drift of a stack's resources, or of those with the `names`, in creation order, values redacted.

    A resource is IN_SYNC only if every property that the template sets was compared and is as declared, or MODIFIED, or
    DELETED. UNKNOWN: its service, or a property, could not be read. UNSUPPORTED: its type has no comparison.
    NOT_CHECKED: it has no object of its own. The last three have a `reason`. A nested stack has the status of its
    resources. `ignored` are the paths that the template ignores. In a stack whose last operation failed, a resource is
    compared with what was last applied to it: the operation need not have reached it. Its reason says so.

    With `names`, the others have the reports that are `known` of them; without one, a report is `unseen`.
    `comparer.progress` has what is found until the end.
    """
    services, stack = comparer.view.services, comparer.view.stack
    states = comparer.states()
    selected = [state for state in states if names is None or state.row.name in names]
    comparer.progress.total = sum(1 for _ in comparer.compared_states(selected))
    reads = SharedReads.of(comparer.all_states(selected))
    reports = [report for report, _ in await asyncio.gather(*(comparer.compare(state, reads) for state in selected))]
    identifiers = ObjectIds(services)
    for report in reports:
        report["physical_id"] = await identifiers.shown(stack, report["type"], report["physical_id"])
    looked = {report["name"]: report for report in reports}
    return [looked.get(state.row.name) or known.get(state.row.name) or _not_checked(state) for state in states]


def is_unfinished(stack: Stack) -> bool:
    """Return whether the resources of a stack need not be those of its template, since its last operation failed."""
    return stack.status == FAILED and stack.action in FORWARD


def overall_of(found: Mapping[str, Any]) -> str:
    """Return the drift status of a stack from what a look has `found`, the reports, and whether it was `unfinished`.

    A resource that nobody has looked at yet leaves it open, and so does an unfinished stack.
    """
    statuses = [UNKNOWN if each.get("unseen") else each["status"] for each in found.get("found", ())]
    return overall([*statuses, UNKNOWN] if found.get("unfinished") else statuses)


def is_open(report: Mapping[str, object]) -> bool:
    """Return whether a report does not tell if the object is as declared."""
    return report["status"] in (UNKNOWN, UNSUPPORTED) or bool(report.get("unseen"))


def overall(statuses: Sequence[str]) -> str:
    """Return the drift status of a stack from those of its resources: IN_SYNC only if nothing is left open."""
    if any(status in DRIFTED for status in statuses):
        return "DRIFTED"
    if UNKNOWN in statuses or UNSUPPORTED in statuses:
        return UNKNOWN
    return NOT_CHECKED if statuses and all(status == NOT_CHECKED for status in statuses) else IN_SYNC


@dataclass(slots=True)
class DetectionProgress:
    """How far a look at a tree of stacks is: the number of objects, what was found of those that were compared, by the
    uuid of the resource, and the resources that differ: `path`, `type` and `status` of each.
    """

    total: int = 0
    comparisons: dict[str, Comparison] = field(default_factory=dict)
    differing: list[dict[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DriftComparer:
    """Compares resources of one stack with the cloud. `secrets` are the strings that the stack has ever hidden;
    `inside` are those for the nested stacks, by the uuid of the resource around each. `progress` is common to all of a
    tree, `above` the path of the resource around the stack in the tree, with a dot.
    """

    view: StackView
    secrets: Collection[str]
    inside: dict[str, DriftComparer] = field(default_factory=dict)
    progress: DetectionProgress = field(default_factory=DetectionProgress)
    above: str = ""

    def states(self) -> list[ResourceState]:
        """Return the stack's current resources, in creation order."""
        return sorted(self.view.current.values(), key=lambda state: state.row.position)

    def all_states(self, states: Iterable[ResourceState]) -> Iterator[ResourceState]:
        """Yield resources of the stack, and those of the stacks nested in them."""
        for state in states:
            yield state
            if state.row.uuid in self.inside:
                below = self.inside[state.row.uuid]
                yield from below.all_states(below.states())

    def compared_states(self, states: Iterable[ResourceState]) -> Iterator[ResourceState]:
        """Yield those of the resources, and of those of stacks nested in them, whose objects are compared."""
        for state in states:
            if not _has_object(state):
                continue
            if (below := self.inside.get(state.row.uuid)) is not None:
                yield from below.compared_states(below.states())
            else:
                yield state

    async def compare(self, state: ResourceState, reads: SharedReads) -> tuple[dict[str, Any], Mapping[str, Any]]:
        """Return a report with redacted values, and the differing values as they are."""
        row = state.row
        report = {**_report(state), "time": self.view.services.clock.now()}
        if not _has_object(state):
            failed = row.status == FAILED and (has_object(state.type) or state.type.nested)
            why = {"status": UNKNOWN, "reason": _LAST_ACTION_FAILED} if failed else {"reason": _NO_OBJECT}
            return {**report, **why}, {}
        if state.row.uuid in self.inside:
            return {**report, **await _inside(self.inside[state.row.uuid], reads)}, {}
        return_to_deployed(state)
        written = state.stored.definition.get("ignore_drift", ())
        compared = await compare(self.view, state, reads)
        comparison = compared.without_ignored(state.type, written)
        self._note(state, compared, comparison.status)
        if comparison.found is None:
            return {**report, "status": DELETED}, {}
        report["ignored"] = [each.to_data() for each in comparison.ignored]
        result = _compared(state, comparison, self.secrets)
        if is_unfinished(self.view.stack):
            result["reason"] = "; ".join(filter(None, (result["reason"], _APPLIED_BEFORE)))
        return {**report, **result}, comparison.found

    def _note(self, state: ResourceState, compared: Comparison, status: str) -> None:
        self.progress.comparisons[state.row.uuid] = compared
        if status in DRIFTED:
            path = f"{self.above}{state.row.name}"
            self.progress.differing.append({"path": path, "type": state.row.type, "status": status})


def _report(state: ResourceState) -> dict[str, object]:
    """Return a report that says nothing yet."""
    row = state.row
    named = {"name": row.name, "type": row.type, "physical_id": row.physical_id}
    unknown = {"status": NOT_CHECKED, "reason": "", "time": None, "expected": None, "actual": None}
    return {**named, **unknown, "differences": [], "ignored": []}


def _has_object(state: ResourceState) -> bool:
    row = state.row
    return row.physical_id is not None and row.action != "DELETE" and (has_object(state.type) or state.type.nested)


def _not_checked(state: ResourceState) -> dict[str, object]:
    """Return the report of a resource that nobody has looked at; its physical ID can be a secret."""
    if not _has_object(state):
        return {**_report(state), "physical_id": None, "reason": _NO_OBJECT}
    return {**_report(state), "physical_id": None, "reason": _NOT_CHECKED, "unseen": True}


async def comparers_of(services: EngineServices, top: Stack) -> dict[str, DriftComparer]:
    """Return what looks at a stack and at the stacks nested in it, by the IDs of the stacks, outer ones first."""
    views = await views_of_tree(services, top)
    secrets = await secrets_of_tree(services, [view.stack for view in views])
    found: dict[str, DriftComparer] = {}
    progress = DetectionProgress()
    for view in views:
        stack, around = view.stack, found.get(view.stack.parent_id or "")
        holder = around.view.states.get(stack.parent_resource or "") if around is not None else None
        above = f"{around.above}{holder.row.name}." if around is not None and holder is not None else ""
        found[stack.id] = comparer = DriftComparer(view, secrets[stack.id], progress=progress, above=above)
        if around is not None and stack.parent_resource is not None:
            around.inside[stack.parent_resource] = comparer
    return found


async def _inside(comparer: DriftComparer, reads: SharedReads) -> dict[str, object]:
    """Return the status of a nested stack, which is that of its resources, and the reason."""
    looks = await asyncio.gather(*(comparer.compare(state, reads) for state in comparer.states()))
    found = [report for report, _ in looks]
    total = overall_of({"found": found, "unfinished": is_unfinished(comparer.view.stack)})
    status = {"DRIFTED": MODIFIED}.get(total, total)
    blamed = DRIFTED if status == MODIFIED else (UNKNOWN, UNSUPPORTED)
    names = [each["name"] for each in found if each["status"] in blamed]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    what = "differ from the template" if status == MODIFIED else "could not be compared completely"
    reason = f"resources of the nested stack {what}: {', '.join(names[:_MOST_NAMED])}{more}" if names else ""
    return {"status": status, "reason": reason or {NOT_CHECKED: _NO_OBJECT, UNKNOWN: _UNFINISHED}.get(status, "")}


def _compared(state: ResourceState, comparison: Comparison, secrets: Collection[str]) -> dict[str, Any]:
    found, recorded = comparison.found or {}, comparison.recorded
    reason = f"not compared: {comparison.not_compared_reasons}" if comparison.properties else comparison.reason
    status = comparison.status
    if status == IN_SYNC and state.row.status == FAILED:
        status, reason = UNKNOWN, _LAST_ACTION_FAILED
    expected = {name: value for name, value in recorded.items() if value is not None}
    actual = {**expected, **found}
    hidden = set(secret_paths(state.type.properties, actual))
    ignored = paths_of(state.type, (each.path for each in comparison.ignored)).values()
    leaves = [leaf for name in found for leaf in _of_property(name, expected, actual, hidden)]
    leaves = [leaf for leaf in leaves if not is_ignored(leaf.path, ignored)]
    # A value in place of a hidden one is hidden too: somebody may have changed a password to another.
    hidden |= {leaf.path for leaf in leaves if redact_values(leaf.before, secrets) != leaf.before}
    return {
        "status": status,
        "reason": reason,
        "expected": redact_values(shown(expected, hidden), secrets) if recorded else None,
        "actual": redact_values(shown(actual, hidden), secrets) if recorded else None,
        "differences": [_leaf_view(leaf, leaf.path in hidden, secrets) for leaf in leaves],
    }


def _of_property(
    name: str, expected: Mapping[str, object], actual: Mapping[str, object], hidden: Any
) -> list[Difference]:
    """Yield the differing leaves of one property; a value that the service reports in another form is one leaf."""
    if actual[name] is None:
        return [Difference((name,), expected.get(name), None, hidden=(name,) in hidden)]
    return differences({name: expected.get(name)}, {name: actual[name]}, hidden)


def _leaf_view(leaf: Difference, hidden: bool, secrets: Collection[str]) -> dict[str, object]:
    data = leaf.to_data()
    if hidden:
        data |= {side: REDACTED for side in ("before", "after") if data[side] is not None}
    return {name: redact_values(data[name], secrets) for name in ("path", "before", "after")}
