"""Plans: the steps of an operation, as data that can be printed, stored and compared.

`Planner.plan` has no side effects. It visits the desired resources in dependency order and the recorded ones in reverse
order, and decides about each. A value that is only known later is `Unknown`; a decision that depends on one is marked,
and made again by the same `decide` right before the step acts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from operator import attrgetter
from typing import Any

from stoker.base.redaction import Redactor, redact
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.reasons import Reason, ReasonCode
from stoker.engine.records.differences import Path, PropertyChange
from stoker.engine.records.state import ResourceState
from stoker.plugins.resource import ResourceType
from stoker.template.definition import Definition


@dataclass(frozen=True, slots=True)
class Cause:
    """A property's new value depends on the step of another resource."""

    property: str
    resource: str
    kind: StepKind

    def to_data(self) -> dict[str, object]:
        """Return plain JSON data."""
        return {"property": self.property, "path": self.resource, "kind": self.kind.value}


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision about one resource, and its reasons."""

    kind: StepKind
    reasons: tuple[Reason, ...] = ()
    changes: tuple[PropertyChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Subject:
    """What a step is about, with its values, for checks of a plan; never part of its data.

    `properties` are the desired property values, `definition` the one with the resource; both None for a removal.
    `state` is the resource as recorded. `within` are the definitions and names of the resources around it, outermost
    first. `unforeseen` says that the resource has a nested stack whose steps cannot be planned. `hides` returns the
    paths of hidden values in the properties; None for a removal.
    """

    type: ResourceType
    properties: Mapping[str, Any] | None
    definition: Definition | None
    state: ResourceState | None = None
    within: tuple[tuple[Definition | None, str], ...] = ()
    unforeseen: bool = False
    hides: Callable[[], frozenset[Path]] | None = None

    def inside(self, holder: Subject | None, name: str) -> Subject:
        """Return the same as seen from the stack with the resource `name`, whose nested stack it is in."""
        return replace(self, within=((holder.definition if holder is not None else None, name), *self.within))


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a plan. `key` is unique in the plan; `after` are the keys of steps that must come first.

    `uuid` identifies the recorded resource, None for a new one. `definition` are the changes of metadata and policies,
    in addition to the `changes` of properties. `causes` are the resources whose steps new property values depend on.
    `depth` is the number of nested stacks around it. `moved_from` is the name that the resource had before, if this
    operation has moved it, `imports` the ID of the existing object that it gets. `subject` is only there until the
    plan has been checked.
    """

    key: str
    kind: StepKind
    name: str
    type: str
    uuid: str | None = None
    reasons: tuple[Reason, ...] = ()
    changes: tuple[PropertyChange, ...] = ()
    definition: tuple[PropertyChange, ...] = ()
    after: frozenset[str] = frozenset()
    causes: tuple[Cause, ...] = ()
    depth: int = 0
    moved_from: str | None = None
    imports: str | None = None
    subject: Subject | None = field(default=None, compare=False, repr=False)

    @property
    def has_effect(self) -> bool:
        """Return whether the step changes anything, be it only the record."""
        return self.kind is not StepKind.KEEP or self.moved_from is not None or self.imports is not None

    @property
    def adopts_object(self) -> bool:
        """Whether the stack gets an object that exists: an import, or a resource of another stack."""
        return self.imports is not None or (self.moved_from is not None and "/" in self.moved_from)

    @property
    def deletes_first(self) -> bool:
        """Whether the step deletes the old object before it creates the new one."""
        return any(reason.code is ReasonCode.DELETED_FIRST for reason in self.reasons)

    @property
    def of_lost_object(self) -> bool:
        """Whether a look at the cloud has found that the resource's object does not exist any more."""
        return any(reason.code is ReasonCode.DELETED_OUTSIDE for reason in self.reasons)

    @property
    def supersedes(self) -> bool:
        """Whether the step makes another object for the resource `uuid`, whose removal is a step of its own."""
        made_again = self.kind is StepKind.CREATE and self.uuid is not None and self.of_lost_object
        return made_again or self.kind is StepKind.REPLACE

    def to_data(self, after: list[str]) -> dict[str, object]:
        """Return plain JSON data; `after` are the keys of the steps that are shown as coming first."""
        return {
            "key": self.key,
            "path": self.name,
            "depth": self.depth,
            "kind": self.kind.value,
            "type": self.type,
            "reasons": [reason.to_data() for reason in self.reasons],
            "causes": [cause.to_data() for cause in self.causes],
            "changes": [difference for change in self.changes for difference in change.to_data()],
            "definition": [difference for change in self.definition for difference in change.to_data()],
            "after": after,
            **({"moved_from": self.moved_from} if self.moved_from is not None else {}),
            **({"imports": self.imports} if self.imports is not None else {}),
        }


_without_subject = attrgetter(*(each.name for each in fields(Step) if each.name != "subject"))
"""Returns the values of a step but the last one."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Steps in an order that respects their dependencies.

    `secrets` are strings that are redacted wherever they occur.
    """

    action: str
    steps: tuple[Step, ...]
    secrets: frozenset[str] = field(default=frozenset(), repr=False)

    def summary(self) -> dict[str, int]:
        """Return the number of steps of each kind, and of moved resources and imported objects."""
        counts = Counter(step.kind.value for step in self.steps)
        counts.update("move" for step in self.steps if step.moved_from is not None)
        counts.update("import" for step in self.steps if step.imports is not None)
        return dict(counts)

    def of_kind(self, *kinds: StepKind) -> list[Step]:
        """Return the steps of these kinds."""
        return [step for step in self.steps if step.kind in kinds]

    def retained(self) -> frozenset[str]:
        """Return the uuids of the resources whose objects are retained because the request asks for it."""
        by_request = ReasonCode.RETAINED_BY_REQUEST
        return frozenset(
            step.uuid for step in self.steps if step.uuid and any(reason.code is by_request for reason in step.reasons)
        )

    def reaches_below(self) -> bool:
        """Return whether resources with nested stacks change, whose own steps are not part of every plan."""
        return any(
            step.kind is not StepKind.KEEP and step.subject is not None and step.subject.type.nested
            for step in self.steps
        )

    def affected(self) -> list[Step]:
        """Return the steps that change something, and those of all that their resources depend on."""
        steps = {step.key: step for step in self.steps}
        pending = [step for step in self.steps if step.kind is not StepKind.KEEP]
        found = set[str]()
        while pending:
            step = pending.pop()
            if step.key in found:
                continue
            found.add(step.key)
            if step.kind is not StepKind.DELETE:  # a removal only waits for others
                pending += [steps[key] for key in step.after if key in steps and steps[key].kind is not StepKind.DELETE]
        return [step for step in self.steps if step.key in found]

    def without_subjects(self) -> Plan:
        """Return the plan without the values of its resources, which need memory."""
        return replace(self, steps=tuple(Step(*_without_subject(step)) for step in self.steps))

    def halves(self) -> tuple[Plan, Plan]:
        """Return the steps that create or keep resources, and the removals, which come after all of them."""
        removals = tuple(self.of_kind(StepKind.DELETE, StepKind.FORGET))
        others = tuple(step for step in self.steps if step.kind not in (StepKind.DELETE, StepKind.FORGET))
        return replace(self, steps=others), replace(self, steps=removals)

    def to_data(self) -> dict[str, Any]:
        """Return plain JSON data without secrets, for display."""
        return read_plan(self.to_stored())

    def to_stored(self) -> dict[str, object]:
        """Return the same for storage with the operation, and for `read_plan`.

        Removals wait for all steps that create something. These are listed once, not in each removal: a plan that
        replaces everything would be as large as the square of the number of its resources.
        """
        before = self._before_removals()
        shared = {_BEFORE_REMOVALS: Redactor(self.secrets).redact(sorted(before))} if before else {}
        return {"action": self.action, "steps": self._redacted(self._data(before)), **shared, "summary": self.summary()}

    def _before_removals(self) -> frozenset[str]:
        """Return what all removals wait for."""
        waiting = {step.after for step in self.steps if _waits(step.kind.value, step.depth)}
        return frozenset.intersection(*waiting) if waiting else frozenset()

    def _data(self, before: frozenset[str] = frozenset()) -> list[dict[str, object]]:
        """Return the data of the steps; removals do not say that they wait for `before`. Many wait for the same."""
        known: dict[tuple[frozenset[str], bool], list[str]] = {}
        found = []
        for step in self.steps:
            key = (step.after, _waits(step.kind.value, step.depth))
            if key not in known:
                known[key] = sorted(step.after - before if key[1] else step.after)
            found.append(step.to_data(known[key]))
        return found

    def _redacted(self, steps: list[dict[str, Any]]) -> object:
        """Redact the data of steps. A short secret is redacted only where it is a whole value of a resource."""
        if not self.secrets:
            return steps
        redactor = Redactor(self.secrets)
        for step in steps:
            for change in (*step["changes"], *step["definition"]):
                change |= {side: redactor.redact_values(change[side]) for side in ("before", "after")}
        return redactor.redact(steps)

    def identity(self) -> dict[str, object]:
        """Return what the plan does with the codes of its reasons, not their wording; equal for equal plans."""
        codes = ([reason.code.value for reason in step.reasons] for step in self.steps)
        steps = [{**data, "reasons": reasons} for data, reasons in zip(self._data(), codes, strict=True)]
        return {"action": self.action, "steps": self._redacted(steps)}

    def text(self) -> str:
        """Return one line for each effective step: `3 replace port after 1 2: network changes`."""
        numbers = {step.key: index for index, step in enumerate(self.steps, 1)}
        lines = []
        for step in self.steps:
            if not step.has_effect:
                continue
            after = " ".join(str(numbers[key]) for key in sorted(step.after, key=numbers.__getitem__))
            verb = f"{step.kind.value} (delete first)" if step.deletes_first else step.kind.value
            line = f"{numbers[step.key]} {verb} {step.name}"
            line += f" (moved from {step.moved_from})" if step.moved_from is not None else ""
            line += f" (imports {step.imports})" if step.imports is not None else ""
            line += f" after {after}" if after else ""
            line += f": {'; '.join(reason.sentence() for reason in step.reasons)}" if step.reasons else ""
            lines.append(line)
        return str(redact("\n".join(lines), self.secrets))


_BEFORE_REMOVALS = "before_removals"

_REMOVALS = frozenset({StepKind.DELETE.value, StepKind.FORGET.value})


def _waits(kind: str, depth: int) -> bool:
    """Return whether a step waits for what comes before all removals of its stack."""
    return depth == 0 and kind in _REMOVALS


def read_plan(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a stored plan's JSON data for display, in the current format: release 0.1.0 stored reasons as sentences.

    What comes before all removals is stored once.
    """
    before = data.get(_BEFORE_REMOVALS, [])
    steps = [{**step, "reasons": list(map(_read_reason, step["reasons"]))} for step in data["steps"]]
    for step in steps if before else ():
        if _waits(step["kind"], step["depth"]):
            step["after"] = sorted({*step["after"], *before}) if step["after"] else before
    return {**{name: value for name, value in data.items() if name != _BEFORE_REMOVALS}, "steps": steps}


def _read_reason(reason: str | Mapping[str, object]) -> Mapping[str, object]:
    if isinstance(reason, str):
        return {"code": "unclassified", "subject": None, "message": reason}
    return reason


def forward_key(name: str) -> str:
    """Return the key of the step for a desired resource."""
    return f"make {name}"


def cleanup_key(name: str, uuid: str) -> str:
    """Return the key of the step that removes a recorded resource."""
    return f"delete {name}#{uuid[:8]}"


@dataclass(slots=True)
class Removal:
    """A recorded resource that is not in the desired definition.

    `kind` is REFUSE if it must not be deleted, and FORGET if its object stays.
    """

    uuid: str
    name: str
    type: str
    requires: frozenset[str]
    reasons: tuple[Reason, ...]
    kind: StepKind = StepKind.DELETE
    subject: Subject | None = None


def removal_steps(removals: Iterable[Removal], after: frozenset[str] = frozenset()) -> list[Step]:
    """Return delete steps in reverse dependency order.

    A resource is removed after all resources that are recorded as depending on it; `after` are steps that must all come
    before any removal: nothing is destroyed while something is still being created. Remains of a resource are removed
    by the step that creates one with the same name, or after that step, but not by both. Those to forget come last,
    when nothing can fail any more: an operation that fails forgets nothing. No removal waits for them.
    """
    removals = list(removals)
    deleted = frozenset(cleanup_key(each.name, each.uuid) for each in removals if each.kind is StepKind.DELETE)
    all_others = deleted | after
    users: dict[str, list[Removal]] = {}
    for removal in removals:
        for name in removal.requires if removal.kind is not StepKind.FORGET else ():
            users.setdefault(name, []).append(removal)
    steps: dict[str, Step] = {}
    for removal in removals:
        first = frozenset(
            cleanup_key(user.name, user.uuid) for user in users.get(removal.name, ()) if user.uuid != removal.uuid
        )
        key = cleanup_key(removal.name, removal.uuid)
        steps[key] = Step(
            key,
            removal.kind,
            removal.name,
            removal.type,
            removal.uuid,
            removal.reasons,
            after=_before(removal, first | after if first else after, all_others),
            subject=removal.subject,
        )
    return _in_order(steps)


class _Among:
    """Finds which of some steps a step comes after. Many steps have the same `after`, which is looked at once."""

    def __init__(self, steps: Mapping[str, Step]) -> None:
        self._keys = steps.keys()
        self._found: dict[frozenset[str], list[str]] = {}

    def __call__(self, step: Step) -> list[str]:
        found = self._found.get(step.after)
        if found is None:
            found = self._found[step.after] = sorted(step.after & self._keys)
        return found


def _before(removal: Removal, first: frozenset[str], all_others: frozenset[str]) -> frozenset[str]:
    """Return the steps before a removal: `first` before a deletion, and all others before a resource is forgotten."""
    return {StepKind.DELETE: first, StepKind.FORGET: all_others}.get(removal.kind, frozenset())


def _in_order(steps: Mapping[str, Step]) -> list[Step]:
    """Return the steps, each after those that it depends on; a cycle (in old records only) is cut where it closes."""
    ordered: dict[str, Step] = {}
    visiting: set[str] = set()
    cut: dict[str, set[str]] = {}
    among = _Among(steps)
    for root in steps:
        stack = [(root, iter(among(steps[root])))]
        while stack:
            key, pending = stack[-1]
            visiting.add(key)
            following = next(pending, None)
            if following is None:
                stack.pop()
                visiting.discard(key)
                if key not in ordered:
                    ordered[key] = steps[key]
            elif following in visiting:
                cut.setdefault(key, set()).add(following)
            elif following not in ordered:
                stack.append((following, iter(among(steps[following]))))
    return [_without(step, cut.get(key, set())) for key, step in ordered.items()]


def _without(step: Step, dropped: set[str]) -> Step:
    if not dropped:
        return step
    return replace(step, after=step.after - dropped)


@dataclass(slots=True)
class StepGraph:
    """The steps that are ready, as others finish."""

    waiting: dict[str, set[str]] = field(default_factory=dict)
    dependents: dict[str, list[str]] = field(default_factory=dict)
    steps: dict[str, Step] = field(default_factory=dict)

    @classmethod
    def of(cls, plan: Plan) -> StepGraph:
        """Return the graph of a plan's steps; dependencies on steps that are not in the plan are ignored."""
        graph = cls(steps={step.key: step for step in plan.steps})
        among = _Among(graph.steps)
        for step in plan.steps:
            first = set(among(step))
            graph.waiting[step.key] = first
            for key in first:
                graph.dependents.setdefault(key, []).append(step.key)
        return graph

    def ready(self) -> list[Step]:
        """Return steps without pending dependencies, each once."""
        keys = [key for key, first in self.waiting.items() if not first]
        for key in keys:
            del self.waiting[key]
        return [self.steps[key] for key in keys]

    def finished(self, key: str) -> list[Step]:
        """Return the steps that become ready because this one has finished."""
        released = []
        for dependent in self.dependents.get(key, ()):
            first = self.waiting.get(dependent)
            if first is None:
                continue
            first.discard(key)
            if not first:
                del self.waiting[dependent]
                released.append(self.steps[dependent])
        return released
