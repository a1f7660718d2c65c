"""The arguments of a resource type's methods: a `Call`, and the interfaces that it provides.

Methods that run before resources exist, or without calls to services, get a `Node` or a `Snapshot`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol

from stoker.base.ids import arn
from stoker.plugins.outcome import Outcome

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud

AttributeKey = tuple[str | int, ...]
"""An attribute's name and the path that follows it in the reference."""


COLLECTED = "collected_signals"
"""The key of `Call.data` for the ids of the signals that have been collected from another service."""


@dataclass(frozen=True, slots=True)
class StackFacts:
    """Information about the stack of a resource.

    `path` has the names of the resources that lead to the stack from the root stack; `deadline` is the time (seconds
    since the epoch) at which the running action times out; `user_project_id` is the project of the stack users, None
    until it has been created; `options` are the operator's settings that types may read (heat.conf names).
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
    """The desired definition of a nested stack.

    `template` is a parsed template's plain data, or None to keep the current one; `template_name` is the name of its
    file, for error messages. `parameters` are the values of the nested stack's parameters. `round` counts the requests
    of one action (batches of a rolling update): requests with the same round are one request. `registry` maps types in
    the nested stack's template that the environment does not map.
    """

    template: Mapping[str, Any] | None = None
    template_name: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    round: int = 0
    timeout_minutes: int | None = None
    registry: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Member:
    """A resource of a nested stack, as its parent sees it; `properties` are the latest values that it was given.

    `is_moved` says that it had another name or stack before, so that the nested stack's template may not have it yet.
    """

    name: str
    type: str
    action: str
    status: str
    reference_id: object
    physical_id: str | None
    created_at: float
    properties: Mapping[str, Any] = field(default_factory=dict)
    is_moved: bool = False


class ChildStack(Protocol):
    """The nested stack of a resource; every call is idempotent."""

    async def run(self, action: str, request: ChildRequest) -> Outcome:
        """Carry out `action` (CREATE, UPDATE, DELETE, SUSPEND, …) on the child with the definition `request`.

        The first call starts the child's operation; later ones return `InProgress(after=None)` while it runs, then
        `Done(physical_id=child id)` or `Failed` with the child's reason.
        """

    async def outcome_of(self, action: str, round: int) -> Outcome | None:
        """Return what `run` returns for a request that the running action has made; None if it has not made it yet.

        So a request whose definition takes long to determine is composed once, not at each call.
        """

    async def begin(
        self, action: str, request: ChildRequest, *, metadata: Mapping[str, object], data: Mapping[str, object]
    ) -> None:
        """Update the child to `request` outside of any action of the resource, in response to a signal or message.

        The resource's `metadata`, and its data with the additions in `data`, are recorded together with the child's
        operation. When that has ended, the type's `child_ended` is called. Raises ActionInProgress, and records
        nothing, while another operation on the child runs.
        """

    async def revise_metadata(
        self, member: str, revise: Callable[[Mapping[str, object]], Mapping[str, object]]
    ) -> None:
        """Replace the metadata of one of the child's resources by `revise` of them, without an operation of the child.

        No effect when there is no such resource. Raises ActionInProgress while an operation on the child runs.
        """

    async def members(self) -> list[Member]:
        """Return the child's current resources in creation order; empty when there is no child."""

    async def member_attribute(self, member: str, key: AttributeKey) -> object:
        """Return an attribute of one of the child's resources; None when it has no value."""

    async def outputs(self) -> Mapping[str, Any]:
        """Return the child's resolved outputs; None for those that cannot be resolved."""

    async def template(self) -> Mapping[str, Any] | None:
        """Return the child's current template as plain data; None when there is no child."""


class Neighbours(Protocol):
    """The other resources of the same stack, as recorded."""

    async def by_reference(self, reference_id: object) -> Neighbour | None:
        """Return the resource with this reference ID; None when there is none."""

    async def by_name(self, name: str) -> Neighbour | None:
        """Return the current resource (not a replaced one) with this name; None when there is none."""

    async def of_type(self, type_name: str) -> list[Neighbour]:
        """Return the current resources (not replaced ones) of this type."""

    async def collect(self, reference_id: object) -> None:
        """Deliver the signals that another service stores for the resource with this reference ID.

        The type's `stored_signals` returns them; each is delivered once. No effect when there is no such resource.
        Raises BadValue for an invalid signal.
        """

    async def send(self, reference_id: object, message: object) -> str:
        """Send a message to the resource with this reference ID (its type's `receive`), and return the result.

        Raises EntityNotFound when there is none, NoActionRequired while an action of the resource is in progress.
        """

    async def replace(self, name: str, reason: str) -> str:
        """Mark the resource with this name unhealthy, begin an update that replaces it, and return the result.

        Raises NoActionRequired when there is none, while an operation runs on the stack,
        after a user's operation has failed, and during the pause after earlier attempts.
        """


class NoActionRequired(Exception):
    """The signal was accepted but requires no action at present; the message states why."""


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
    """The software configurations of the stack owner's project, stored by this service itself."""

    async def create(self, identifier: str, body: Mapping[str, object]) -> None:
        """Store a configuration under an ID chosen by the caller; no effect if the ID already exists."""

    async def get(self, identifier: str) -> Mapping[str, Any] | None:
        """Return the configuration; None when there is none."""

    async def delete(self, identifier: str) -> None:
        """Delete the configuration; no effect when there is none."""


class SoftwareDeployments(Protocol):
    """The software deployments of the stack owner's project, stored by this service itself.

    A deployment is a map: `server_id`, `config_id` (the derived configuration), `action`, `status` (IN_PROGRESS,
    COMPLETE or FAILED), `status_reason`, `input_values`, `output_values`, `stack_user_project_id`, `delivered_at` (when
    the agent on the server requested it from this service; None if it has not, or reads its metadata elsewhere).
    """

    async def create(self, identifier: str, body: Mapping[str, object]) -> None:
        """Record a deployment under an ID chosen by the caller; no effect if the ID already exists."""

    async def get(self, identifier: str) -> Mapping[str, Any] | None:
        """Return the deployment; None when there is none."""

    async def update(self, identifier: str, values: Mapping[str, object]) -> None:
        """Change the given values; no effect when there is no such deployment."""

    async def delete(self, identifier: str) -> None:
        """Delete the deployment; no effect when there is none."""

    async def push(self, server_id: str) -> None:
        """Write a server's metadata to the object store or queue that its agent polls, if it uses one of these."""


class Sources(Protocol):
    """The inputs of a stack besides its template."""

    files: Mapping[str, str]
    """The files that came with the template, by name."""

    def environment(self) -> Mapping[str, Any]:
        """Return the environment as plain data, without parameter values."""

    def parameters(self) -> Mapping[str, Any]:
        """Return the values of the template's parameters; those without a value are left out, or None."""


class NoSources:
    """Empty sources, for contexts in which only the resource is known."""

    def __init__(self) -> None:
        self.files: Mapping[str, str] = {}

    def environment(self) -> Mapping[str, Any]:
        """See Sources."""
        return {}

    def parameters(self) -> Mapping[str, Any]:
        """See Sources."""
        return {}


@dataclass(frozen=True, slots=True)
class ScalingNotice:
    """The resizing of a group starts (`phase` start), has completed (end) or has failed (error).

    `facts` are the notification's data besides that of the stack.
    """

    phase: str
    facts: Mapping[str, Any]


class Unrecorded(Protocol):
    """See `EngineAccess.unrecorded`."""

    async def __call__(self, physical_ids: Collection[str]) -> set[str]: ...


@dataclass(frozen=True, slots=True)
class ResourceFacts:
    """Information about the resource of a call, besides its property values; it stays the same during an action.

    `created_at` is when the resource was recorded, which is before its object was created, `started_at` when the
    running action started (seconds since the epoch). `given` are the properties to which the template gives values,
    None if that is not known. `adopted` is the resource's entry in the document of an adopted stack. `replacement` are
    the properties of the replacement for which `prepare_for_replacement` is called, else None. `first_name` is the name
    with which the resource was created, if it has another one by now, `first_place` are the name and the ID of the
    stack in which it was created, and its name there, if it was moved to another one.
    """

    name: str
    uuid: str
    type: str
    created_at: float
    started_at: float
    update_policy: Mapping[str, Any] = field(default_factory=dict)
    creation_policy: Mapping[str, Any] = field(default_factory=dict)
    given: frozenset[str] | None = None
    adopted: Mapping[str, Any] = field(default_factory=dict)
    replacement: Mapping[str, Any] | None = None
    first_name: str | None = None
    first_place: Sequence[str] = ()


@dataclass(slots=True)
class EngineAccess:
    """What a method can ask the engine for.

    `child` is the resource's nested stack, `sources` are the stack's inputs. `unrecorded` returns which of some
    physical IDs do not belong to any recorded resource, so that `find` never returns another resource's object.
    """

    child: ChildStack
    neighbours: Neighbours
    configs: SoftwareConfigs
    deployments: SoftwareDeployments
    sources: Sources = field(default_factory=NoSources)
    unrecorded: Unrecorded | None = None


@dataclass(slots=True)
class MethodReport:
    """What a method reports besides its result; it adds to these collections.

    `observe` adds to `compared` the names of the properties that it has compared, and to `unread` those that it could
    not read, with the reasons. `seen` receives the names and addresses of the object when a method has read it (see
    `stoker.plugins.resource`). The notifications in `announced` are sent on the operator's message bus once the result
    of the call has been recorded.
    """

    compared: set[str] = field(default_factory=set)
    unread: dict[str, str] = field(default_factory=dict)
    seen: dict[str, frozenset[str]] = field(default_factory=dict)
    announced: list[ScalingNotice] = field(default_factory=list)


_MOVED: Mapping[str, str] = {
    **dict.fromkeys(("name", "uuid", "type", "created_at", "started_at"), "resource"),
    **dict.fromkeys(("update_policy", "creation_policy", "adopted", "replacement"), "resource"),
    **dict.fromkeys(("child", "neighbours", "configs", "deployments", "sources", "unrecorded"), "engine"),
    "announced": "report",
}
"""The fields that `Call` had in release 0.1.0, with the group that each of them is in."""


@dataclass(slots=True, weakref_slot=True)
class Call:
    """One call of a lifecycle method.

    `properties` are final values (converted, with defaults, names resolved to IDs), `previous` those that the resource
    was created with (None on create), `changed` the top-level properties that differ, with their new values.
    `physical_name` does not change during the life of the resource. `data` and `progress` may be changed in place.
    `metadata` is the resource's metadata; assign a new mapping to change it. `now` is the time of this call, in seconds
    since the epoch.

    What few methods need is in groups: facts about the `resource`, what the `engine` offers, and the `report` that a
    method makes besides its result. Types for 0.1.0 read it as fields of the call, such as `call.child`: this is
    accepted for one release, with a DeprecationWarning.
    """

    action: str
    physical_name: str
    physical_id: str | None
    properties: Mapping[str, Any]
    previous: Mapping[str, Any] | None
    changed: Mapping[str, Any]
    data: dict[str, Any]
    progress: dict[str, Any]
    metadata: Mapping[str, Any]
    now: float
    stack: StackFacts
    cloud: Cloud
    resource: ResourceFacts
    engine: EngineAccess
    report: MethodReport = field(default_factory=MethodReport)

    @property
    def elapsed(self) -> float:
        """Seconds since this action started."""
        return self.now - self.resource.started_at

    @property
    def url_name(self) -> str:
        """The name of the resource in its URLs, which stay when it gets another name."""
        resource = self.resource
        return resource.first_place[2] if resource.first_place else resource.first_name or resource.name

    @property
    def url_stack(self) -> StackFacts:
        """The stack in the URLs of the resource, which stay when it is moved to another stack."""
        if not self.resource.first_place:
            return self.stack
        name, identifier, _ = self.resource.first_place
        return replace(self.stack, name=name, id=identifier, arn=arn(self.stack.project_id, name, identifier))

    def gives(self, name: str) -> bool:
        """Return whether the template gives the property a value; where that is not known, whether it has one."""
        names = self.resource.given
        return self.properties.get(name) is not None if names is None else name in names

    if not TYPE_CHECKING:  # so that type checkers refuse the former names

        def __getattr__(self, name: str) -> object:
            group = _MOVED.get(name)
            if group is None:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
            warnings.warn(f"`call.{name}` is `call.{group}.{name}` since 0.2.0.", DeprecationWarning, stacklevel=2)
            return getattr(getattr(self, group), name)


@dataclass(frozen=True, slots=True)
class Node:
    """A resource in the dependency graph, before any resource exists.

    In `properties` a reference to another resource is an `Unknown`; references to the same value are equal. Older names
    of properties are resolved and defaults filled in.
    """

    name: str
    type: str
    properties: Mapping[str, Any]
    requires: frozenset[str]


class Graph(Protocol):
    """The other resources of the definition, for `implicit_requirements`."""

    def of_type(self, *type_names: str) -> Iterable[Node]:
        """Return all resources of these types, in template order."""

    def resources(self) -> Iterable[Node]:
        """Return all resources whose types exist, in template order."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A resource as it is recorded, for code that must not call services, such as reference IDs and previews."""

    name: str
    physical_name: str
    physical_id: str | None
    data: Mapping[str, Any]
    properties: Mapping[str, Any]
