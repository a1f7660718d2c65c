"""The values in a change set, besides the plan: before, after, and what the cloud has.

Everything is redacted as in plans: hidden values appear on no side of a comparison, nor do values in their place.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from stoker.base.redaction import REDACTED, Redactor
from stoker.contract.change_sets import KNOWN_AFTER_APPLY
from stoker.engine.inspection.comparison import DELETED, IN_SYNC, MODIFIED, NOT_CHECKED
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Step, Subject
from stoker.engine.records.differences import Path, differences
from stoker.engine.records.ignored_drift import IGNORED_IN_TEMPLATE
from stoker.engine.records.observations import Cause, is_observable
from stoker.engine.records.state import ResourceState
from stoker.operations.planning import Planned
from stoker.plugins.live_values import live_values
from stoker.plugins.resource import ResourceType, finalized
from stoker.schema.live import LiveSource
from stoker.schema.property import secret_paths
from stoker.schema.unknown import is_unknown
from stoker.template.ignored_drift import property_path

MANAGED, WRITE_ONLY, SENSITIVE = "MANAGED_BY_AWS", "WRITE_ONLY_PROPERTY", "SENSITIVE_PROPERTY"
"""Why a property is not compared, as the API calls it."""

_REMOVES = (StepKind.DELETE, StepKind.FORGET)


def is_synchronized(step: Step) -> bool:
    """Return whether a step changes no object, and records what the cloud has: the template agrees with that."""
    state = step.subject.state if step.subject is not None else None
    return step.kind is StepKind.KEEP and state is not None and bool(state.drifted)


@dataclass(frozen=True, slots=True)
class ChangeSetValues:
    """Collects the values of a plan whose steps have their subjects. `secrets` are what the stack has ever hidden."""

    planned: Planned
    secrets: Collection[str]

    def of_steps(self, steps: Collection[Step]) -> dict[str, object]:
        """Return JSON data about each of the steps that change something, by key.

        `status` is the drift status of the resource, None for a new one; `ignored` are the paths that are not compared,
        with the reasons. `read` are the names of the properties that were compared. `before`, `after` and `previous`
        are the values that the object has, those that it will have, and those with which it was deployed; None where
        there are none, `previous` also if it equals `before`. `drift` are the single differences between these two.
        """
        redactor = Redactor({*self.secrets, *self.planned.plan.secrets})
        shown = [step for step in steps if step.subject is not None and (step.has_effect or is_synchronized(step))]
        return {step.key: redactor.redact_values(self._step(step, step.subject, redactor)) for step in shown}

    def _step(self, step: Step, subject: Subject | None, redactor: Redactor) -> dict[str, object]:
        assert subject is not None
        kind, state = subject.type, subject.state
        hidden = set(subject.hides()) if subject.hides is not None else set()
        after = (
            None
            if step.kind in _REMOVES or subject.properties is None
            else _members(subject.properties, _new_policies(step))
        )
        if state is None:
            return {**_NOTHING, "after": _redacted(kind, after, hidden)}
        live, recorded = dict(state.properties), {**state.properties, **(state.drifted or {})}
        hidden |= {(name,) for name in state.drifted or () if redactor.finds(recorded[name])}
        policies = _recorded_policies(state)
        before = None if state.is_missing else _members(live, policies)
        previous = _members(recorded, policies) if state.is_missing or state.drifted else None
        ignored = list(self._ignored(step, kind, recorded))
        return {
            "status": self._status(step, state),
            "ignored": [{"path": path, "reason": reason} for path, reason in ignored],
            "read": self._read(step, kind, {*live, *(subject.properties or ()), *recorded}),
            "before": _redacted(kind, before, hidden),
            "after": _redacted(kind, after, hidden),
            "previous": _redacted(kind, previous, hidden),
            "drift": list(_drift(state, live, recorded, hidden)),
        }

    def _status(self, step: Step, state: ResourceState) -> str:
        if state.is_missing:
            return DELETED
        if state.drifted or (step.uuid in self.planned.differing and is_observable(state)):
            return MODIFIED
        return self.planned.statuses.get(state.row.uuid, NOT_CHECKED)

    def _read(self, step: Step, kind: ResourceType, names: Collection[str]) -> list[str]:
        """Return which properties were compared with the cloud."""
        if self.planned.statuses.get(step.uuid or "") not in (IN_SYNC, MODIFIED) and not self._unread(step):
            return []
        known, unread = live_values(kind), self._unread(step)
        compared = {name for name, live in known.items() if live.is_compared}
        return sorted(name for name in names if name in compared and name not in unread)

    def _unread(self, step: Step) -> tuple[str, ...]:
        observed = self.planned.observed
        omitted = observed.coverage.omitted if observed is not None and observed.coverage is not None else ()
        found = (each.properties for each in omitted if each.path == step.name and each.cause is Cause.PROPERTIES)
        return next(found, ())

    def _ignored(
        self, step: Step, kind: ResourceType, recorded: Mapping[str, object]
    ) -> Iterator[tuple[list[str], str]]:
        observed = self.planned.observed
        if observed is None or observed.coverage is None:
            return
        for each in observed.coverage.ignored:
            if each.path == step.name:
                yield from ((list(property_path(found.path)), IGNORED_IN_TEMPLATE) for found in each.properties)
        secret = set(secret_paths(kind.properties, recorded))
        known = live_values(kind)
        for name in recorded:
            how = known[name].how if name in known else None
            if how is LiveSource.MANAGED:
                yield [name], MANAGED
            elif how is LiveSource.NEVER:
                yield [name], SENSITIVE if (name,) in secret else WRITE_ONLY


_NOTHING: Mapping[str, object] = {
    "status": None,
    "ignored": [],
    "read": [],
    "before": None,
    "after": None,
    "previous": None,
    "drift": [],
}


def _members(values: Mapping[str, object], policies: Mapping[str, object]) -> dict[str, object]:
    properties = {name: value for name, value in values.items() if value is not None}
    return {"Properties": properties, **{name: value for name, value in policies.items() if value}}


def _recorded_policies(state: ResourceState) -> dict[str, object]:
    known = state.stored.definition
    return {"DeletionPolicy": known.get("deletion_policy"), "UpdateReplacePolicy": known.get("update_replace_policy")}


def _new_policies(step: Step) -> dict[str, object]:
    definition = step.subject.definition if step.subject is not None else None
    new_resource = definition.resources.get(step.name.rpartition(".")[2]) if definition is not None else None
    if new_resource is None:
        return {}
    return {"DeletionPolicy": new_resource.deletion_policy, "UpdateReplacePolicy": new_resource.update_replace_policy}


def _redacted(kind: ResourceType, context: dict[str, Any] | None, hidden: set[Path]) -> dict[str, object] | None:
    if context is None:
        return None
    values = context["Properties"]
    paths = hidden | set(secret_paths(kind.properties, values))
    return {**context, "Properties": {} if () in paths else _shown(values, paths)}


def _shown(value: object, hidden: Collection[Path], path: Path = ()) -> object:
    if path in hidden:
        return REDACTED
    if is_unknown(value):
        return KNOWN_AFTER_APPLY
    if isinstance(value, Mapping):
        return {key: _shown(item, hidden, (*path, key)) for key, item in value.items()}
    if isinstance(value, list):
        return [_shown(item, hidden, (*path, index)) for index, item in enumerate(value)]
    return value


def _drift(
    state: ResourceState, live: Mapping[str, object], recorded: Mapping[str, object], hidden: set[Path]
) -> Iterator[dict[str, object]]:
    """Yield the differences between the values of the deployment and those of the object, as plans show differences."""
    before, after = finalized(state.type, _set(recorded)), finalized(state.type, _set(live))
    paths = hidden | set(secret_paths(state.type.properties, before)) | set(secret_paths(state.type.properties, after))
    for name in state.drifted or ():
        whole = () in paths or (name,) in paths
        below = {(name,)} if whole else paths
        for leaf in differences({name: before.get(name)}, {name: after.get(name)}, below):
            data = leaf.to_data()
            yield {"property": name, "path": list(leaf.path[1:]), "before": data["before"], "after": data["after"]}


def _set(values: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if value is not None}
