"""What an operation keeps: objects that policies or its request retain, resources that it skips, and restored values.

A template specifies the image from which a server is created; after a snapshot was restored, the server has the content
of the snapshot's image. To prevent later updates from reverting that, the record contains the template's values that
the restored ones replace: they remain as long as the template does not change them. They belong to the object: one that
replaces it is created from the template, since the snapshot may be deleted by then.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from math import inf
from typing import Any, NamedTuple

import orjson
from sqlalchemy import Connection

from stoker.engine.planning.reasons import RETENTION, Reason, ReasonCode
from stoker.engine.records.actions import FORWARD, NOT_CREATED, RETURNS
from stoker.engine.records.content_copies import Path, path_of
from stoker.engine.records.state import ResourceState
from stoker.plugins import capabilities
from stoker.plugins.resource import ContentCopy
from stoker.store import completion, queries
from stoker.store.ownership import is_double
from stoker.store.records import COMPLETE, FAILED, Operation
from stoker.template.versions import RETAIN_EXCEPT_ON_CREATE

ON_REPLACEMENT = "on_replacement"
"""The key of the recorded definition for the update replace policy under which the resource is replaced.

The policy is that of the template that replaces the resource, which can differ from the one that created it. It is
recorded together with the replacement, and removed when the resource is used again and its definition is recorded
again.
"""


class RemovalPolicy(NamedTuple):
    """Delete, Retain or Snapshot, and the name of the policy for messages."""

    policy: str
    name: str


@dataclass(frozen=True, slots=True)
class RemovalOptions:
    """What a removal depends on besides the resource: the `action` of its stack, and what the request asks for.

    `retained` are the uuids of resources whose objects a deletion retains because it was asked to. If it is `forced`,
    objects that cannot be deleted are left behind. A rollback deletes the objects of resources that were created after
    `since`, when the last operation was complete (seconds since the epoch), although a policy retains those in use.
    `skipped` are the uuids of resources that are not removed for now. It `is_return` if it is part of an operation that
    returns to a former definition, as that of a nested stack can be.
    """

    action: str = ""
    retained: Collection[str] = ()
    forced: bool = False
    since: float = inf
    skipped: frozenset[str] = frozenset()
    is_return: bool = False

    @property
    def undoes_imports(self) -> bool:
        """Whether the objects that were imported since are given up, and entries about transfers have no effect."""
        return self.is_return or self.action in RETURNS

    def below(self) -> RemovalOptions:
        """Return what the removal of a nested stack depends on."""
        return replace(self, action="DELETE", is_return=self.undoes_imports)


def removal_policy(
    state: ResourceState, on_replacement: str | None = None, removal_options: RemovalOptions = RemovalOptions()
) -> RemovalPolicy:
    """Return the policy for the removal of a recorded resource. `on_replacement` is the update replace policy of the
    template that is about to replace it.

    An update replace policy applies only to the object that was replaced: the deletion policy applies to a replacement
    that is itself removed, for example by a rollback, and to all other removals. It also applies to replacements if the
    template has no update replace policy, for HOT and CloudFormation templates, as in Heat.

    A replaced resource of another type that does not support snapshots is retained instead of deleted.
    """
    definition = state.stored.definition
    policy = on_replacement or definition.get(ON_REPLACEMENT)
    if policy is None:
        policy = str(definition.get("deletion_policy", "Delete"))
        if policy == RETAIN_EXCEPT_ON_CREATE:
            policy = "Delete" if state.row.created_at > removal_options.since else "Retain"
        return RemovalPolicy(policy, "deletion policy")
    if policy == "Snapshot" and not state.type.snapshot_on_delete:
        policy = "Retain"
    return RemovalPolicy(str(policy), "update replace policy")


class Effect(NamedTuple):
    """What happens to the object of a removed resource: Delete, Retain, Snapshot or Abandon, and the reason for plans.

    `reason` is None where the object is deleted, and where there is none.
    """

    name: str
    reason: Reason | None = None


_DELETED = Effect("Delete")
_RETAINED = {"Retain": ReasonCode.OBJECT_RETAINED, "Snapshot": ReasonCode.SNAPSHOT_RETAINED}


def removal_effect(state: ResourceState, removal_options: RemovalOptions, on_replacement: str | None = None) -> Effect:
    """Return what happens to the object of a resource that is removed; `on_replacement` is that of `removal_policy`."""
    row = state.row
    if state.stored.definition.get("external_id") is not None:
        return Effect("Retain", Reason(ReasonCode.OBJECT_EXTERNAL))
    if row.action == NOT_CREATED:
        return Effect("Retain")
    if state.is_missing and state.type.object_ids is None and not state.type.id_is_new:
        return Effect("Retain")  # an association, a route: deleting it would undo what is made again
    if is_double(row.ownership):
        return Effect("Retain", Reason(ReasonCode.OBJECT_OF_ANOTHER))
    if row.uuid in removal_options.retained:
        return Effect("Retain", Reason(ReasonCode.RETAINED_BY_REQUEST))
    if _is_abandoned(state, removal_options):
        return Effect("Abandon", Reason(ReasonCode.OBJECT_ABANDONED))
    rule = removal_policy(state, on_replacement, removal_options)
    worthless = row.status == FAILED and row.action in state.type.unsaved
    if rule.policy == "Delete" or (rule.policy == "Snapshot" and worthless):
        return _DELETED
    return Effect(rule.policy, Reason(_RETAINED[rule.policy], rule.policy, rule.name))


def _is_abandoned(state: ResourceState, removal_options: RemovalOptions) -> bool:
    """Return whether the stack gives up an object that it may not delete: its adoption was never complete, or a return
    to a former definition undoes its import.
    """
    row, action = state.row, removal_options.action
    if removal_options.undoes_imports and state.stored.origin.imported:
        return True
    return action == "ABANDON" or (
        row.action == "ADOPT" and (action in ("ADOPT", "ROLLBACK") or row.status != COMPLETE)
    )


def removal_reasons(
    state: ResourceState, removal_options: RemovalOptions, on_replacement: str | None = None
) -> tuple[Reason, ...]:
    """Return the reasons about the object of a removed resource: that it is retained, is gone, or what is lost."""
    if state.is_missing:
        return (Reason(ReasonCode.DELETED_OUTSIDE),)
    effect = removal_effect(state, removal_options, on_replacement)
    if effect.reason is not None:
        return (effect.reason,)
    if effect.name != "Delete" or state.row.physical_id is None or not state.type.content:
        return ()
    return losses(capabilities.lost_content(state.type, state.properties))


def changes_outside(state: ResourceState) -> tuple[Reason, ...]:
    """Return the reasons that name the properties which a look at the cloud has found to differ from the record."""
    return tuple(Reason(ReasonCode.CHANGED_OUTSIDE, name) for name in state.drifted or ())


def losses(content: str) -> tuple[Reason, ...]:
    """Return the reason that marks a step which loses this content; none for no content."""
    return (Reason(ReasonCode.DATA_LOST, content),) if content else ()


def replacement_losses(
    state: ResourceState, removal_options: RemovalOptions, on_replacement: str | None
) -> tuple[Reason, ...]:
    """Return the reason that marks a replacement which loses the content of the former object."""
    reasons = removal_reasons(state, removal_options, on_replacement)
    return tuple(reason for reason in reasons if reason.code not in RETENTION)


@dataclass(frozen=True, slots=True)
class UndeletedObject:
    """An object that could not be deleted: the path of its resource below the stack, the type, and the object's ID."""

    path: str
    type: str
    physical_id: str | None

    def named(self) -> str:
        """Return the object for messages: `volume (OS::Cinder::Volume 3f0c…)`."""
        return f"{self.path} ({' '.join(filter(None, (self.type, self.physical_id)))})"


@dataclass(frozen=True, slots=True)
class Retention:
    """What the request for an operation leaves as it is, stored with the operation.

    `retained` are the uuids of the resources, in nested stacks too, whose objects a deletion retains. With `forced`, an
    object that cannot be deleted is left behind; `left` are those that were. `skipped` are the uuids of the resources,
    in nested stacks too, without which a retry continues.
    """

    retained: frozenset[str] = frozenset()
    forced: bool = False
    left: tuple[UndeletedObject, ...] = ()
    skipped: frozenset[str] = frozenset()

    @classmethod
    def of(cls, operation: Operation) -> Retention:
        """Return what an operation retains."""
        if operation.retention is None:
            return cls()
        data: dict[str, Any] = orjson.loads(operation.retention)
        left = tuple(UndeletedObject(**each) for each in data["left"])
        return cls(frozenset(data["retained"]), data["forced"], left, frozenset(data.get("skipped", ())))

    def to_json(self) -> str | None:
        """Return the value of the operation's column; None for nothing."""
        if self == Retention():
            return None
        data = {"retained": sorted(self.retained), "forced": self.forced, "left": [asdict(each) for each in self.left]}
        skipped = {"skipped": sorted(self.skipped)} if self.skipped else {}
        return orjson.dumps({**data, **skipped}).decode()

    def requested(self) -> Retention:
        """Return what the request asked for, for operations on nested stacks and for a retry."""
        return replace(self, left=())


def completed_before(connection: Connection, operation: Operation) -> float:
    """Return when the last operation on the stack's tree was complete that a rollback returns to:
    `RemovalOptions.since`.

    `operation` is the rollback, or a part of it on a nested stack; the result is infinite for other operations, and 0
    if no operation was complete.
    """
    top = _top(connection, operation)
    is_rollback = top is not None and top.action == "ROLLBACK"
    return completion.last(connection, top.stack_id, FORWARD) if top is not None and is_rollback else inf


def is_part_of_return(connection: Connection, operation: Operation) -> bool:
    """Return whether an operation on a nested stack is part of one that returns to a former definition."""
    top = _top(connection, operation)
    return top is not None and top.action in RETURNS


def _top(connection: Connection, operation: Operation) -> Operation | None:
    """Return the operation that an operation on a nested stack is part of; None if it is not recorded any more."""
    while operation.parent_operation is not None:
        above = queries.operation_by_id(connection, operation.parent_operation)
        if above is None:
            return None
        operation = above
    return operation


@dataclass(frozen=True, slots=True)
class Restored:
    """A resource's values after restoring. `note` is stored with it; `renewed` are the properties to apply regardless
    of the recorded values, None if there is nothing to do. `fresh` are the values of a new object, if they differ.
    """

    properties: Mapping[str, Any]
    note: Mapping[str, Any] = field(default_factory=dict)
    renewed: frozenset[str] | None = None
    fresh: Mapping[str, object] | None = None


Restore = Callable[[str, Mapping[str, Any]], Restored]
"""Maps (resource name, values from the template) to the restored values."""


def as_given(name: str, properties: Mapping[str, object]) -> Restored:
    """Return the values unchanged, for stacks without restored snapshots."""
    return Restored(properties)


@dataclass(frozen=True, slots=True)
class RestoredValues:
    """Values of one stack's resources: those of restored snapshots, and of the one that `operation` restores.

    `copies` are that snapshot's copies by resource name; `above` has the names of the nested stacks that contain
    copies.
    """

    current: Mapping[str, ResourceState]
    operation: str = ""
    copies: Mapping[str, ResourceState] = field(default_factory=dict)
    above: frozenset[str] = frozenset()

    def __call__(self, name: str, properties: Mapping[str, object]) -> Restored:
        state = self.current.get(name)
        note = state.stored.restored if state is not None else {}
        if name in self.copies:
            return self._from_copy(name, properties, note)
        if name in self.above:
            begun = note.get("by") == self.operation
            return Restored(properties, {"by": self.operation}, None if begun else frozenset())
        return _kept(properties, note, state)

    def _from_copy(self, name: str, properties: Mapping[str, object], note: Mapping[str, object]) -> Restored:
        copy = self.copies[name]
        assert isinstance(copy.type, ContentCopy)
        restored = copy.type.restored(properties, copy.snapshot())
        instead = {key: properties.get(key) for key, value in restored.items() if properties.get(key) != value}
        begun = note.get("by") == self.operation
        renewed = None if begun or not (instead or name in self.above) else frozenset(instead)
        return Restored(restored, {"by": self.operation, "instead": instead}, renewed)


@dataclass(frozen=True, slots=True)
class Copies:
    """The copies of the snapshot that `operation` restores, by the paths of their resources below one stack."""

    operation: str = ""
    by_path: Mapping[Path, ResourceState] = field(default_factory=dict)

    @classmethod
    def of(cls, operation: str, copies: Iterable[ResourceState]) -> Copies:
        """Return the copies below the stack of the snapshot."""
        return cls(operation, {path_of(copy): copy for copy in copies})

    def below(self, name: str) -> Copies:
        """Return the copies below the nested stack of the resource with this name."""
        inner = {path[1:]: copy for path, copy in self.by_path.items() if path[0] == name and len(path) > 1}
        return Copies(self.operation, inner)

    def restored_values(self, current: Mapping[str, ResourceState]) -> RestoredValues:
        """Return the values to restore in the stack with these resources, by name."""
        own = {path[0]: copy for path, copy in self.by_path.items() if len(path) == 1}
        return RestoredValues(
            current, self.operation, own, frozenset(path[0] for path in self.by_path if len(path) > 1)
        )


def _kept(properties: Mapping[str, object], note: Mapping[str, Any], state: ResourceState | None) -> Restored:
    """Return values with the previously restored ones, as long as the template has the values that these replace."""
    instead = {key: value for key, value in note.get("instead", {}).items() if properties.get(key) == value}
    if state is None or not instead:
        return Restored(properties)
    restored = {key: state.properties[key] for key in instead if key in state.properties}
    return Restored({**properties, **restored}, {"by": note["by"], "instead": instead}, fresh=properties)
