"""Rows as objects: what the engine reads and writes. Each mirrors one table; see `tables` for the columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple, Self

from sqlalchemy import Result, Row

from stoker.base.ids import new_id


@dataclass(slots=True)
class Record:
    """A row: built from one, and turned back into column values. Its fields are `columns` of the table."""

    columns: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        cls.columns = tuple(cls.__annotations__)

    @classmethod
    def of(cls, row: Row[Any]) -> Self:
        """The record of a row selected with all its columns."""
        mapping = row._mapping
        return cls(*[mapping[name] for name in cls.columns])

    @classmethod
    def all_of(cls, result: Result[Any]) -> list[Self]:
        """The records of rows selected with all their columns, which are looked up once for all."""
        keys = tuple(result.keys())
        picked = tuple if keys == cls.columns else itemgetter(*(keys.index(name) for name in cls.columns))
        return [cls(*picked(row)) for row in result.all()]

    def values(self) -> dict[str, Any]:
        """Column values."""
        return {name: getattr(self, name) for name in self.columns}


@dataclass(slots=True)
class Inputs(Record):
    """What an operation works towards: digests of documents, and sealed parameters."""

    id: str
    template: str
    environment: str
    files: str
    parameters: str


@dataclass(slots=True)
class Stack(Record):
    """A stack. `live_name` is the name while it is not deleted, so that the name is unique among the living.

    A nested one has `strayed` when it was changed otherwise than by an operation of the stack above it, since that
    had its last one.
    """

    id: str
    name: str
    live_name: str | None
    project_id: str
    user_id: str | None
    user_name: str | None
    parent_id: str | None
    parent_resource: str | None
    root_id: str
    depth: int
    action: str
    status: str
    reason: str
    description: str
    created_at: float
    updated_at: float | None
    deleted_at: float | None
    timeout_minutes: int | None
    disable_rollback: bool
    inputs: str
    good_inputs: str | None
    operation: str | None
    credential: str | None
    user_project_id: str | None
    strayed: bool = False


@dataclass(slots=True)
class Resource(Record):
    """A resource, or a former one that still has to go (`replaced_by` is then the newer one's uuid).

    `properties` and `former_properties` are ids of property sets: what it has (or is being given), and what it had
    before the running update. `state` is sealed JSON: data, metadata, attributes, progress, definition.
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


class ResourceSummary(NamedTuple):
    """What lists tell of a resource: a row without what is long, and sealed. A tuple, for lists are long, too."""

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


@dataclass(slots=True)
class Event(Record):
    """Something that happened to a stack or to one of its resources."""

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

    @classmethod
    def of_stack(cls, stack: Stack, action: str, status: str, reason: str, now: float) -> Event:
        """An event of a stack itself."""
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
        )


@dataclass(slots=True)
class Operation(Record):
    """One run of a plan. `epoch` grows by one each time an engine claims it; `owner` is that engine's id.

    `former_inputs` is what the stack was to be before, `observe` whether the cloud is looked at before anything is
    decided, `plan` a sealed summary of what it set out to do; `snapshot` is the one that it takes, restores or
    removes. `claimed_at` is when its owner claimed it, `reason_code` why it failed where a code says so (see
    `SET_ASIDE`).
    """

    id: str
    stack_id: str
    parent_operation: str | None
    parent_resource: str | None
    round: int
    action: str
    status: str
    reason: str
    inputs: str
    request_id: str | None
    user_id: str | None
    created_at: float
    started_at: float | None
    finished_at: float | None
    deadline: float | None
    owner: str | None = None
    epoch: int = 0
    plan: str | None = None
    user_name: str | None = None
    former_inputs: str | None = None
    observe: bool = False
    snapshot: str | None = None
    claimed_at: float | None = None
    reason_code: str | None = None

    @property
    def stack_action(self) -> str:
        """The action that the stack shows: one that is abandoned is deleted, with everything retained."""
        return "DELETE" if self.action == "ABANDON" else self.action


@dataclass(slots=True)
class StackSnapshot(Record):
    """A snapshot of a stack: what it was made from (`inputs`), and its document, sealed (`body`).

    The copies of its resources' contents are resources whose `stack_id` is the snapshot's id.
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
    """An engine process as it last reported itself; its claims lapse `lease` seconds after `seen_at`."""

    id: str
    host: str
    process: int
    version: str
    started_at: float
    seen_at: float
    lease: float
    stopped_at: float | None


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
    """A configuration on its way to a server, and what came of it.

    `config_id` is the derived configuration, with the values of the inputs in it. `stack_user_project_id` is the
    project of the users that may ask for it besides the owner's. `body` is sealed JSON (input_values, output_values).
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


@dataclass(slots=True)
class ChangeSet(Record):
    """Changes of a stack, looked at before they are made. `kind` is CREATE for a stack that does not exist yet.

    `base` is the stack's operation at that time: with another one the change set is out of date. `operation` is the
    one that carried the changes out. `body` is sealed JSON: what was asked for, and what it would do.
    """

    id: str
    project_id: str
    name: str
    kind: str
    stack_id: str
    stack_name: str
    description: str
    status: str
    reason: str
    base: str | None
    operation: str | None
    body: str
    created_at: float


@dataclass(slots=True)
class Announcement(Record):
    """Something that has happened to a stack and that others are still to be told of.

    `engine` is the one that tells them, `kind` whom (NOTIFICATION, EVENT_SINK); `body` is JSON without secrets.
    """

    id: str
    stack_id: str
    engine: str
    kind: str
    body: str
    created_at: float


@dataclass(slots=True)
class DriftDetection(Record):
    """A look at the objects of a stack, and how they differ from what is recorded (`body`: sealed JSON).

    `engine` is the one that looks; `status` is IN_PROGRESS until it has.
    """

    id: str
    stack_id: str
    project_id: str
    engine: str
    status: str
    reason: str
    body: str
    created_at: float


@dataclass(slots=True)
class StackSettings(Record):
    """What somebody has laid down for a whole tree of stacks; `stack_id` is its root.

    `policy` is JSON: which updates are allowed. `notification_topics` and `capabilities` are JSON lists of texts.
    """

    stack_id: str
    protected: bool = False
    policy: str | None = None
    notification_topics: str = "[]"
    capabilities: str = "[]"


STACK_TYPE = "OS::Heat::Stack"
"""What events of stacks themselves have for a type."""

PENDING = "PENDING"
RUNNING = "RUNNING"
COMPLETE = "COMPLETE"
FAILED = "FAILED"
SUPERSEDED = "SUPERSEDED"
IN_PROGRESS = "IN_PROGRESS"
UNFINISHED = (PENDING, RUNNING)

NOTIFICATION = "NOTIFICATION"
EVENT_SINK = "EVENT_SINK"

SET_ASIDE = "engine_deaths"
"""The code of an operation that failed because the engines that ran it kept dying."""

REMOVE_SNAPSHOT = "DELETE_SNAPSHOT"
"""The action of an operation that removes a snapshot: it runs beside whatever is done to the stack."""


@dataclass(slots=True)
class StoredState:
    """The sealed part of a resource: everything about it that may hold secrets besides its properties.

    `attempts` counts creations that ended in error; `uncertain` says that an object may exist whose id is not known;
    `made_way` that it gave things up for a replacement; `restored` which property values a restored snapshot has put in
    the place of the template's: `by` is the operation, `instead` the template's values by property; `stillborn` that
    the object was never of use to anybody, where the action does not say so any more; `unsure` names the properties
    whose values an update that has failed may have changed or not. `others` is what an engine of a later version has
    put there.
    """

    data: dict[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    attributes: dict[str, Any] = field(default_factory=dict)
    progress: dict[str, Any] = field(default_factory=dict)
    definition: dict[str, Any] = field(default_factory=dict)
    attempts: int = 0
    uncertain: bool = False
    made_way: bool = False
    marked: bool = False
    first_failure: list[str] = field(default_factory=list)
    restored: dict[str, Any] = field(default_factory=dict)
    stillborn: bool = False
    unsure: list[str] = field(default_factory=list)
    others: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> StoredState:
        """The state from what `to_data` gave, by an engine of this version, an earlier, or a later one."""
        own = {name: value for name, value in data.items() if name in _OWN_PARTS}
        return cls(**own, others={name: value for name, value in data.items() if name not in _OWN_PARTS})

    def to_data(self) -> dict[str, Any]:
        """Plain data without the parts that are empty."""
        return {name: value for name in _OWN_PARTS if (value := getattr(self, name))} | self.others


_OWN_PARTS = tuple(item.name for item in fields(StoredState) if item.name != "others")
