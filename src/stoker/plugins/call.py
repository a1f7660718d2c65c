"""What a resource type is given to work with: a `Call`, and what it gets at through one.

What is looked at before anything exists, or without calling anything, is a `Node` and a `Snapshot`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from stoker.cloud.session import Cloud
from stoker.plugins.outcome import Outcome

AttributeKey = tuple[str | int, ...]
"""An attribute's name and the path that follows it in the reference."""


COLLECTED = "collected_signals"
"""The key of `Call.data` for the ids of the signals that have been collected from another service."""


@dataclass(frozen=True, slots=True)
class StackFacts:
    """What a type may know of the stack that its resource is in.

    `path` is the names of the resources that lead to it from the root stack; `deadline` the time (seconds since the
    epoch) at which the running action times out; `user_project_id` the project of the stack's own users,
    None until one has been made; `options` the operator's settings that types may read (heat.conf names).
    """

    id: str
    name: str
    project_id: str
    root_id: str
    arn: str
    region: str | None = None
    path: tuple[str, ...] = ()
    created_at: float = 0.0
    deadline: float | None = None
    timeout_minutes: int | None = None
    user_project_id: str | None = None
    disable_rollback: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ChildRequest:
    """A nested stack as its parent resource wants it.

    `template` is a parsed template's plain data or None to keep the child's own; `template_name` the key of the
    file that it came from, for error messages. `parameters` are the child's parameter values. `round` counts the
    requests of one parent action (batches of a rolling update): the same round asked for twice is one request.
    `registry` maps types of the child's template, where the environment does not.
    """

    template: Mapping[str, Any] | None = None
    template_name: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    round: int = 0
    timeout_minutes: int | None = None
    registry: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Member:
    """A resource of a nested stack, as its parent sees it; `properties` are the values that it was given last."""

    name: str
    type: str
    action: str
    status: str
    reference_id: Any
    physical_id: str | None
    created_at: float
    properties: Mapping[str, Any] = field(default_factory=dict)


class ChildStack(Protocol):
    """The nested stack behind a resource; every call may be repeated safely."""

    async def run(self, action: str, request: ChildRequest) -> Outcome:
        """Bring the child to `request` with `action` (CREATE, UPDATE, DELETE, SUSPEND, …).

        The first call starts the child's operation; later ones report: `Again(after=None)` while it runs, then
        `Done(physical_id=child id)` or `Failed` with the child's reason.
        """

    async def begin(
        self, action: str, request: ChildRequest, *, metadata: Mapping[str, Any], data: Mapping[str, Any]
    ) -> None:
        """Bring the child to `request` outside of any action of the resource, because it was told something.

        The resource's `metadata`, and what `data` adds to its own, are recorded together with the child's operation.
        When that has ended, the type's `child_ended` is entered. Raises ActionInProgress, and nothing is recorded,
        while the child is busy.
        """

    async def members(self) -> list[Member]:
        """The child's current resources in creation order; empty when there is no child."""

    async def member_attribute(self, member: str, key: AttributeKey) -> Any:
        """An attribute of one of the child's resources; None when it has none."""

    async def outputs(self) -> Mapping[str, Any]:
        """The child's outputs, resolved; one that fails is None."""

    async def template(self) -> Mapping[str, Any] | None:
        """The child's current template as plain data; None when there is no child."""


class Neighbours(Protocol):
    """The other resources of the same stack, as recorded."""

    async def by_reference(self, reference_id: Any) -> Neighbour | None:
        """The resource with this reference id; None when there is none."""

    async def by_name(self, name: str) -> Neighbour | None:
        """The resource that the stack goes on with under this name; None when there is none."""

    async def collect(self, reference_id: Any) -> None:
        """Have the resource with this reference id take the signals that another service keeps for it.

        They are what its type's `kept_signals` finds, each taken once. Harmless when there is no such resource. Raises
        BadValue for what is no signal.
        """

    async def tell(self, reference_id: Any, message: Any) -> str:
        """Hand a message to the resource with this reference id (its type's `receive`); what came of it.

        Raises EntityNotFound when there is none, NoActionRequired when it is in the middle of something.
        """


class NoActionRequired(Exception):
    """A signal was taken that asks for nothing at present; says why."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another resource of the same stack."""

    name: str
    type: str
    physical_id: str | None
    metadata: Mapping[str, Any]
    data: Mapping[str, Any]
    properties: Mapping[str, Any] = field(default_factory=dict)


class SoftwareConfigs(Protocol):
    """The software configurations of the stack owner's project, kept by this service itself."""

    async def create(self, identifier: str, body: Mapping[str, Any]) -> None:
        """Store a configuration under an id chosen by the caller; storing the same id again changes nothing."""

    async def get(self, identifier: str) -> Mapping[str, Any] | None:
        """The configuration; None when there is none."""

    async def delete(self, identifier: str) -> None:
        """Forget the configuration; harmless when there is none."""


class SoftwareDeployments(Protocol):
    """The software deployments of the stack owner's project, kept by this service itself.

    A deployment is a map: `server_id`, `config_id` (the derived configuration), `action`, `status` (IN_PROGRESS,
    COMPLETE or FAILED), `status_reason`, `input_values`, `output_values`, `stack_user_project_id`.
    """

    async def create(self, identifier: str, body: Mapping[str, Any]) -> None:
        """Record a deployment under an id chosen by the caller; the same id again changes nothing."""

    async def get(self, identifier: str) -> Mapping[str, Any] | None:
        """The deployment; None when there is none."""

    async def update(self, identifier: str, values: Mapping[str, Any]) -> None:
        """Change what is given; harmless when there is no such deployment."""

    async def delete(self, identifier: str) -> None:
        """Forget the deployment; harmless when there is none."""

    async def push(self, server_id: str) -> None:
        """Have a server that looks into the object store, or a queue, find its recorded metadata there."""


class Sources(Protocol):
    """What a stack was made from, besides its template."""

    files: Mapping[str, str]
    """The files that came with the template, by name."""

    def environment(self) -> Mapping[str, Any]:
        """The environment as plain data, without parameter values."""


class NoSources:
    """What is known where nothing but the resource is at hand."""

    def __init__(self) -> None:
        self.files: Mapping[str, str] = {}

    def environment(self) -> Mapping[str, Any]:
        """See Sources."""
        return {}


@dataclass(frozen=True, slots=True)
class ScalingNotice:
    """A group begins to change its size (`phase` start), has changed it (end) or could not (error).

    `facts` are what the notification says besides what is known of the stack.
    """

    phase: str
    facts: Mapping[str, Any]


@dataclass(slots=True)
class Call:
    """One entry into a lifecycle method.

    `properties` are final values (coerced, defaults filled in, names turned into ids), `previous` the ones that the
    resource was made with (None on create), `changed` the top-level properties that differ, with their new values.
    `replacement` are those of the resource of the same type that `make_way` is entered for, else None.
    `physical_name` is the same for the whole life of the resource. `created_at` is when the resource was recorded,
    which is before its object was made, `started_at` when this action began, `now` the time of this entry. `data`
    and `progress` may be changed in place. `metadata` is the resource's metadata; assign a new mapping to change
    it. `unrecorded` answers which of some physical ids belong to no recorded resource, so that `find` never takes
    another resource's object. `adopted` is the entry of the document that `adopt` takes the resource from,
    `sources` what the stack was made from. What is appended to `announced` is told on the operator's message bus,
    once what the entry leads to has been recorded.
    """

    name: str
    uuid: str
    type: str
    action: str
    physical_name: str
    physical_id: str | None
    properties: Mapping[str, Any]
    previous: Mapping[str, Any] | None
    changed: Mapping[str, Any]
    data: dict[str, Any]
    progress: dict[str, Any]
    metadata: Mapping[str, Any]
    stack: StackFacts
    cloud: Cloud
    child: ChildStack
    neighbours: Neighbours
    configs: SoftwareConfigs
    deployments: SoftwareDeployments
    created_at: float
    started_at: float
    now: float
    update_policy: Mapping[str, Any] = field(default_factory=dict)
    unrecorded: Unrecorded | None = None
    adopted: Mapping[str, Any] = field(default_factory=dict)
    sources: Sources = field(default_factory=NoSources)
    announced: list[ScalingNotice] = field(default_factory=list)
    replacement: Mapping[str, Any] | None = None

    @property
    def elapsed(self) -> float:
        """Seconds since this action began."""
        return self.now - self.started_at


class Unrecorded(Protocol):
    """See `Call.unrecorded`."""

    async def __call__(self, physical_ids: Collection[str]) -> set[str]: ...


@dataclass(frozen=True, slots=True)
class Node:
    """A resource as the dependency graph sees it before anything exists.

    In `properties` a reference to another resource is an `Unknown` that equals every other reference to
    the same thing; older spellings are merged and defaults filled in.
    """

    name: str
    type: str
    properties: Mapping[str, Any]
    requires: frozenset[str]


class Graph(Protocol):
    """The other resources of the definition, for `implicit_requirements`."""

    def of_type(self, *type_names: str) -> Iterable[Node]:
        """All resources of these types, in template order."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What reference-id and preview code may know of a resource without calling anything."""

    name: str
    physical_name: str
    physical_id: str | None
    data: Mapping[str, Any]
    properties: Mapping[str, Any]
