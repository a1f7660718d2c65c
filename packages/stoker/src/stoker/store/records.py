"""Rows as objects. Each class mirrors one table; see `tables` for the columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

from sqlalchemy import Result, Row

from stoker.base.ids import new_id

PENDING = "PENDING"
RUNNING = "RUNNING"
COMPLETE = "COMPLETE"
FAILED = "FAILED"
SUPERSEDED = "SUPERSEDED"
IN_PROGRESS = "IN_PROGRESS"
UNFINISHED = (PENDING, RUNNING)


@dataclass(slots=True)
class Record:
    """Base of records: conversion from a row, and to column values. Its fields are `columns` of the table.

    `renamed` has the names in the database of fields that engines of the release before know by them.
    """

    columns: ClassVar[tuple[str, ...]] = ()
    selected: ClassVar[tuple[str, ...]] = ()
    _read: ClassVar[attrgetter[tuple[Any, ...]]]
    renamed: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __init_subclass__(cls) -> None:
        cls.columns = tuple(cls.__annotations__)
        cls.selected = tuple(cls.renamed.get(name, name) for name in cls.columns)
        cls._read = attrgetter(*cls.columns)

    @classmethod
    def of(cls, row: Row[Any]) -> Self:
        """Return the record of a row selected with all its columns."""
        mapping = row._mapping
        return cls(*[mapping[name] for name in cls.selected])

    @classmethod
    def all_of(cls, result: Result[object]) -> list[Self]:
        """Return the records of rows selected with all their columns, whose positions are determined only once."""
        return list(cls.each_of(result))

    @classmethod
    def each_of(cls, result: Result[object]) -> Iterator[Self]:
        """Like `all_of`, one after another."""
        keys = tuple(result.keys())
        picked = tuple if keys == cls.selected else itemgetter(*(keys.index(name) for name in cls.selected))
        for row in result:
            yield cls(*picked(row))

    def cells(self) -> tuple[Any, ...]:
        """Return the values of `columns`, in their order."""
        return self._read(self)

    def values(self) -> dict[str, Any]:
        """Return the column values."""
        return dict(zip(self.columns, self._read(self), strict=True))

    def copy(self) -> Self:
        """Return another record with the same values."""
        return type(self)(*self._read(self))


@dataclass(slots=True)
class Inputs(Record):
    """The desired definition of a stack: digests of documents, and sealed parameters."""

    id: str
    template: str
    environment: str
    files: str
    parameters: str


@dataclass(slots=True)
class Stack(Record):
    """A stack. `live_name` is the name until it is deleted, which makes names unique among existing stacks.

    A nested stack is `changed_directly` when it was changed directly since the last operation of the stack above it.
    `parent_resource_name` is the name of its resource in that stack; None in rows that the release before it has added.
    `locked` is the JSON of the `Lock` of a root stack, None if it is not locked.
    """

    renamed = MappingProxyType({"changed_directly": "strayed"})

    id: str
    name: str
    live_name: str | None
    project_id: str
    user_id: str | None
    user_name: str | None
    root_id: str
    action: str
    status: str
    reason: str
    created_at: float
    disable_rollback: bool
    description: str = ""
    inputs: str = ""
    parent_id: str | None = None
    parent_resource: str | None = None
    depth: int = 0
    updated_at: float | None = None
    deleted_at: float | None = None
    timeout_minutes: int | None = None
    good_inputs: str | None = None
    operation: str | None = None
    credential: str | None = None
    user_project_id: str | None = None
    changed_directly: bool = False
    parent_resource_name: str | None = None
    locked: str | None = None


@dataclass(slots=True)
class Resource(Record):
    """A resource, or a replaced one that still has to be deleted (`replaced_by` is then the UUID of its successor).

    `properties` and `former_properties` are IDs of property sets: the current values (or those being set), and those
    before the running update. `state` is sealed JSON: data, metadata, attributes, progress, definition. `substituted`
    tells whether the environment maps `type` to another type or to a template, which `state` names; None where only
    `state` tells, as in rows of earlier releases. `failure` is the JSON of the `Failure` that `reason` described when
    it was written (see `Failure.with_reason`). `ownership` is what it owns (see `stoker.store.ownership`); None
    without an object, and in rows of earlier releases. `former_names` is the JSON of its `FormerName`s, the first one
    first; None if it was never moved. `searchable` tells that the search terms of its object are recorded
    (see `stoker.store.search`); None until they are.
    """

    uuid: str
    stack_id: str
    position: int
    name: str
    type: str
    action: str
    status: str
    reason: str
    created_at: float
    updated_at: float | None = None
    started_at: float | None = None
    physical_id: str | None = None
    fingerprint: str = ""
    requires: str = "[]"
    replaced_by: str | None = None
    properties: str | None = None
    former_properties: str | None = None
    state: str | None = None
    substituted: bool | None = None
    failure: str | None = None
    ownership: str | None = None
    former_names: str | None = None
    searchable: bool | None = None


class ResourceSummary(NamedTuple):
    """A resource in listings: a row without long and sealed columns. It is a tuple, since listings are long."""

    uuid: str
    stack_id: str
    name: str
    type: str
    action: str
    status: str
    reason: str
    created_at: float
    updated_at: float | None
    physical_id: str | None
    requires: str
    replaced_by: str | None
    failure: str | None


@dataclass(slots=True)
class Event(Record):
    """An event of a stack or of one of its resources.

    `cause` is the JSON list of the names of resources from the stack down to the one whose failure the event reports,
    None if it reports no failure of a resource. `hook` is the hook that the event is about, such as `pre-create`, and
    `hook_held` whether the hook holds the resource from then on, or no longer. `reason_code` tells what the reason says
    of an event that changes no state (`EventCode` of the contract).
    """

    id: str
    stack_id: str
    resource_name: str
    resource_type: str
    physical_id: str | None
    action: str
    status: str
    reason: str
    properties: str | None
    time: float
    cause: str | None = None
    hook: str | None = None
    hook_held: bool | None = None
    reason_code: str | None = None

    @classmethod
    def of_stack(
        cls, stack: Stack, action: str, status: str, reason: str, now: float, cause: str | None = None
    ) -> Event:
        """Return an event of a stack itself."""
        return cls(
            id=new_id(),
            stack_id=stack.id,
            resource_name=stack.name,
            resource_type=STACK_TYPE,
            physical_id=stack.id,
            action=action,
            status=status,
            reason=reason,
            properties=None,
            time=now,
            cause=cause,
        )


@dataclass(slots=True)
class Operation(Record):
    """One run of a plan. `epoch` is incremented each time an engine claims it; `owner` is that engine's ID.

    `former_inputs` is the stack's previous definition, `observe` whether the cloud is compared with the record first,
    `differing` the uuids of the resources that are compared even without that, separated by spaces,
    `skip_preflight` whether its plan is not checked before the first change,
    `plan` a sealed summary of the planned steps; `snapshot` is the one that it creates, restores or deletes.
    `claimed_at` is when its owner claimed it, `reason_code` a code of the reason for its failure, if any (see
    `SET_ASIDE`), `cause` what began it instead of a request (`HEALING`, `SECOND_CHANCE`). `waiting_epoch` equals
    `epoch` if the owner has recorded that the operation only waits. `failure` is the JSON of its
    `Failure`, None if it has not failed, or its end is only described by `reason` (see
    `earlier_failures`). `retention` is the JSON of its `Retention`, None for one that leaves nothing as it is.
    `client_request_token` is the one of the request that began it, also for what followed from that: the operations on
    nested stacks, and the rollback. `policies_asked` is how many policies had something to say of its plan, which has
    the results; None if none was asked.
    """

    id: str
    stack_id: str
    action: str
    inputs: str
    created_at: float
    deadline: float | None
    status: str = PENDING
    reason: str = ""
    parent_operation: str | None = None
    parent_resource: str | None = None
    round: int = 0
    request_id: str | None = None
    user_id: str | None = None
    started_at: float | None = None
    finished_at: float | None = None
    owner: str | None = None
    epoch: int = 0
    plan: str | None = None
    user_name: str | None = None
    former_inputs: str | None = None
    observe: bool = False
    skip_preflight: bool | None = None
    differing: str | None = None
    snapshot: str | None = None
    claimed_at: float | None = None
    reason_code: str | None = None
    cause: str | None = None
    waiting_epoch: int | None = None
    failure: str | None = None
    retention: str | None = None
    client_request_token: str | None = None
    policies_asked: int | None = None

    @property
    def stack_action(self) -> str:
        """The action that the stack shows."""
        return stack_action_of(self.action)


def stack_action_of(action: str) -> str:
    """Return the action that a stack shows: abandoning is a deletion that retains all objects."""
    return "DELETE" if action == "ABANDON" else action


@dataclass(slots=True)
class StackSnapshot(Record):
    """A snapshot of a stack: the stack's definition (`inputs`), and the snapshot's sealed document (`body`).

    The copies of its resources' contents are resources whose `stack_id` is the snapshot's ID.
    """

    id: str
    stack_id: str
    name: str | None
    action: str
    status: str
    reason: str
    inputs: str
    body: str | None
    created_at: float


@dataclass(slots=True)
class EngineRecord(Record):
    """An engine process as it last reported itself; its claims expire `lease` seconds after `seen_at`.

    `leaving_at` is when it was asked to stop, `stopped_at` when it had stopped.
    """

    id: str
    host: str
    process: int
    version: str
    started_at: float
    seen_at: float
    lease: float
    stopped_at: float | None
    leaving_at: float | None = None


@dataclass(slots=True)
class SoftwareConfig(Record):
    """A software configuration; `body` is sealed JSON (config, inputs, outputs, options)."""

    id: str
    project_id: str
    name: str
    group: str
    body: str
    created_at: float


@dataclass(slots=True)
class SoftwareDeployment(Record):
    """The deployment of a configuration to a server, and its result.

    `config_id` is the derived configuration, which includes the values of the inputs. `stack_user_project_id` is the
    project whose users may read it, besides the owner's. `body` is sealed JSON (input_values, output_values).
    `delivered_at` is when the agent on the server received the configuration, if it requests it from this service.
    """

    id: str
    project_id: str
    server_id: str
    config_id: str
    stack_user_project_id: str | None
    action: str | None
    status: str | None
    status_reason: str | None
    body: str
    created_at: float
    updated_at: float | None
    delivered_at: float | None = None


@dataclass(slots=True)
class Announcement(Record):
    """A pending notification about a stack.

    `engine` is the one that sends it, `kind` the receiver (NOTIFICATION, EVENT_SINK, NOTICE, or LATER_NOTICE for one
    that is due later); `body` is JSON without secrets.
    """

    id: str
    stack_id: str
    engine: str
    kind: str
    body: str
    created_at: float


@dataclass(slots=True)
class StackSettings(Record):
    """Settings of a whole tree of stacks; `stack_id` is its root.

    `policy` is JSON: which updates are allowed. `notification_topics` and `capabilities` are JSON lists of strings.
    `drift_mode` is what engines do about drift by themselves; None for the operator's default.
    """

    stack_id: str
    protected: bool = False
    policy: str | None = None
    notification_topics: str = "[]"
    capabilities: str = "[]"
    drift_mode: str | None = None


STACK_TYPE = "OS::Heat::Stack"
"""The resource type in events of stacks themselves."""

NOTIFICATION = "NOTIFICATION"
NOTICE, LATER_NOTICE = "NOTICE", "LATER_NOTICE"
EVENT_SINK = "EVENT_SINK"

HEALING = "healing"
"""The cause of an operation that an engine began because resources were unhealthy, and of its rollback."""

SECOND_CHANCE = "second chance"
"""The cause of an operation that resumes one that was set aside, without a request, after a quiet time."""

SET_ASIDE = "engine_deaths"
"""The code of an operation that failed because the engines that ran it kept dying."""

REMOVE_SNAPSHOT = "DELETE_SNAPSHOT"
"""The action of an operation that deletes a snapshot: it can run concurrently with other operations on the stack."""


@dataclass(frozen=True, slots=True)
class CreationHistory:
    """What happened while a resource's object was created.

    `attempts` counts those that failed, `first_failure` is the kind, the reason and the path of the first of them.
    `never_usable`: the object never became usable, if the action no longer shows this.
    """

    attempts: int = 0
    first_failure: Sequence[str] = ()
    never_usable: bool = False


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an object or its resource comes from, if not from a creation in this stack.

    `physical_name` is the name of an object that was not derived from the resource's UUID here, since another program
    created it. `imported` is the operation that has imported the object: a return to a definition without the resource
    keeps it. `first_location` are the name and the ID of the stack that the resource was created in, and its name
    there, if it has been moved to another one: they are part of its URLs.
    """

    physical_name: str = ""
    imported: str = ""
    first_location: Sequence[str] = ()


@dataclass(slots=True)
class StoredState:
    """The sealed part of a resource: everything besides its properties that may contain secrets.

    `uncertain`: an object with an unknown ID may exist. `made_way`: the resource released something (a name, an
    address) to its replacement. `restored`: property values from a restored snapshot that replace the template's; `by`
    is the operation, `instead` has the template's values by property. `unsure` names the properties whose values a
    failed update may or may not have changed. `deployed` are the values that properties had in the record before an
    operation found other ones in the cloud; they stay until an update has settled the difference. `others` has values
    written by an engine of a later release.
    """

    data: dict[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, object] = field(default_factory=dict)
    attributes: dict[str, object] = field(default_factory=dict)
    progress: dict[str, Any] = field(default_factory=dict)
    definition: dict[str, Any] = field(default_factory=dict)
    creation: CreationHistory = CreationHistory()
    origin: Origin = Origin()
    uncertain: bool = False
    made_way: bool = False
    marked: bool = False
    restored: dict[str, object] = field(default_factory=dict)
    unsure: list[str] = field(default_factory=list)
    deployed: dict[str, object] = field(default_factory=dict)
    others: dict[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> StoredState:
        """Return the state from the output of `to_data` of an engine of this release, an earlier or a later one."""
        groups: dict[str, dict[str, Any]] = {"": {}, "others": {}}
        for name, value in data.items():
            group, part = _READABLE_PARTS.get(name) or ("others", name)
            groups.setdefault(group, {})[part] = value
        own, others = groups.pop(""), groups.pop("others")
        return cls(**own, **{group: _GROUPS[group](**parts) for group, parts in groups.items()}, others=others)

    def to_data(self) -> dict[str, Any]:
        """Return plain data without empty parts; those of groups are beside the others."""
        own = zip(_WRITTEN_PARTS, _own_values(self), strict=True)
        return {name: value for name, value in own if value} | self.others


_GROUPS: Mapping[str, type[Any]] = {"": StoredState, "creation": CreationHistory, "origin": Origin}
_OWN_PARTS = {
    part.name: (group, part.name)
    for group, kind in _GROUPS.items()
    for part in fields(kind)
    if part.name not in (*_GROUPS, "others")
}
"""The groups and names of parts by their names."""
_FORMER_NAMES = {"never_usable": "stillborn", "first_location": "first_place"}
"""The parts that engines of the release before know by another name: written under that, and read under both."""
_WRITTEN_PARTS = {_FORMER_NAMES.get(name, name): ".".join(filter(None, path)) for name, path in _OWN_PARTS.items()}
"""The paths of parts by the names under which they are written."""
_READABLE_PARTS = _OWN_PARTS | {former: _OWN_PARTS[name] for name, former in _FORMER_NAMES.items()}
"""The groups and names of parts by the names under which they are read."""
_own_values = attrgetter(*_WRITTEN_PARTS.values())
