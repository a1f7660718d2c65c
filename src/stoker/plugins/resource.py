"""The contract of a resource type.

A type is a class with declarations (`properties`, `attributes`, …) and a few coroutines. One instance serves
all stacks, so it holds no state; what it needs to know comes in a `Call`, what it has to remember goes
into `call.data` (for the resource's life) and `call.progress` (for the running action). The engine commits both
after every entry, together with the physical id, before anything else happens.

Every method may be entered again at any moment, also by another process after a crash:

* `create` with `call.physical_id` None makes the object and answers `Again(physical_id=…)` at once;
  entered with the id, it looks whether the object is ready.
* After a crash between the two, the engine asks `find` for an object that was begun, before it enters `create`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Protocol

from stoker.base.errors import NotSupported
from stoker.cloud.session import Cloud
from stoker.plugins.names import resolves_names
from stoker.plugins.outcome import Done, Outcome
from stoker.schema.property import SUPPORTED, Attribute, Property, Support, has_custom_constraints, has_secrets

AttributeKey = tuple[str | int, ...]
"""An attribute's name and the path that follows it in the reference."""


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
        """Have a server that looks into the object store find its recorded metadata there."""


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


@dataclass(slots=True)
class Call:
    """One entry into a lifecycle method.

    `properties` are final values (coerced, defaults filled in, names turned into ids), `previous` the ones that the
    resource was made with (None on create), `changed` the top-level properties that differ, with their new
    values. `physical_name` is the same for the whole life of the resource. `started_at` is when this action began,
    `now` the time of this entry. `data` and `progress` may be changed in place. `metadata` is the resource's
    metadata; assign a new mapping to change it. `unrecorded` answers which of some physical ids
    belong to no recorded resource, so that `find` never takes another resource's object. `adopted` is the entry
    of the document that `adopt` takes the resource from, `sources` what the stack was made from.
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
    started_at: float
    now: float
    update_policy: Mapping[str, Any] = field(default_factory=dict)
    unrecorded: Unrecorded | None = None
    adopted: Mapping[str, Any] = field(default_factory=dict)
    sources: Sources = field(default_factory=NoSources)

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


class ResourceType(ABC):
    """Base of every resource type: declarations, and defaults for what most types have in common.

    `service` is the plugin name of the cloud service that it needs (`nova`, `neutron`, …), None for none.
    `extension` is the alias of an API extension that this service must have loaded besides.
    `local` types make no call and have no side effect outside the record, so no intent is recorded beforehand.
    `any_properties` types take whatever properties they are given, unchecked.
    `recovery` says how `find` recognizes the object of an interrupted creation; every type that is not local has one.
    `deaf_during` are the actions during which a signalable type takes no signals.
    `updates_with_parent` types are updated whenever their stack is, `replaced_with_parent` ones replaced.
    `any_attribute` types answer to attributes that they do not declare (a group: those of its members).
    `path_in_attribute` types get the path that follows an attribute's name too (`resource.0.addr`).
    `hidden_data` are keys of `Call.data` that hold secrets: they are shown to nobody, and leave this service sealed.
    `copy` is what a snapshot makes to keep the content of the object, None for objects without content.
    `unsaved` are the actions after whose failure deletion policy Snapshot keeps nothing: there is nothing worth it.
    """

    type_name: ClassVar[str]
    properties: Mapping[str, Property] = {}
    attributes: Mapping[str, Attribute] = {}
    update_policy: Mapping[str, Property] = {}
    support: Support = SUPPORTED
    description: str = ""
    service: ClassVar[str | None] = None
    extension: ClassVar[str | None] = None
    local: ClassVar[bool] = False
    nested: ClassVar[bool] = False
    path_in_attribute: ClassVar[bool] = False
    any_properties: ClassVar[bool] = False
    any_attribute: ClassVar[bool] = False
    physical_name_limit: int | None = 255
    snapshot_on_delete: bool = False
    always_replace_on_check_failed: ClassVar[bool] = True
    updates_with_parent: ClassVar[bool] = False
    replaced_with_parent: ClassVar[bool] = False
    checkable: ClassVar[bool] = False
    signalable: ClassVar[bool] = False
    deaf_during: ClassVar[frozenset[str]] = frozenset({"SUSPEND", "DELETE"})
    hidden_data: ClassVar[frozenset[str]] = frozenset()
    recovery: ClassVar[str] = ""
    copy: ClassVar[ContentCopy | None] = None
    unsaved: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})

    @cached_property
    def looks_names_up(self) -> bool:
        """Whether a property takes a name where the service wants an id."""
        return resolves_names(self.properties)

    @cached_property
    def has_custom_constraints(self) -> bool:
        """Whether a property, at any depth, is to be checked by a plug-in."""
        return has_custom_constraints(self.properties)

    @cached_property
    def has_secrets(self) -> bool:
        """Whether a property, at any depth, is secret."""
        return has_secrets(self.properties)

    def configure(self, options: Mapping[str, Any]) -> None:  # noqa: B027  most types take nothing over
        """Take the operator's options (heat.conf names) over into the declarations; called once, before any use."""

    # -- decided before anything happens; pure -----------------------------------------------------------------

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        """Complaints about property values that only make sense together; unknown values may be among them."""
        return ()

    def child_of(self, properties: Mapping[str, Any]) -> ChildRequest | None:
        """The nested stack that these values (some may be unknown) ask for; None where there is none to look into."""
        return None

    def sample_of(self, properties: Mapping[str, Any]) -> ChildRequest | None:
        """As `child_of`, with one of a number of equal members only: enough to check them all."""
        return self.child_of(properties)

    def implicit_requirements(self, node: Node, graph: Graph) -> Iterable[str]:
        """Names of resources that must come first although no property refers to them."""
        return ()

    def replacement_reason(
        self, before: Mapping[str, Any], after: Mapping[str, Any], changed: Mapping[str, Any]
    ) -> str | None:
        """Why this change needs a new object though every changed property allows an update; None if it does not."""
        return None

    def reference_id(self, resource: Snapshot) -> Any:
        """What `get_resource` yields: the physical id, or the logical name while there is none."""
        return resource.physical_id if resource.physical_id is not None else resource.name

    def lets_use(self, resource: Snapshot, name: str, others: Mapping[str, Snapshot]) -> bool:
        """Whether the resource's own user may look at and signal the resource `name`, one of `others` by name."""
        return resource.name == name

    # -- the life of a resource -------------------------------------------------------------------------------

    async def find(self, call: Call) -> str | None:
        """The physical id of the object that an interrupted `create` made; None when it made none.

        Two resources may look for equal objects, so the engine lets one search at a time end in a recorded id.
        """
        return None

    async def create(self, call: Call) -> Outcome:
        """Make the object, then wait for it to be ready."""
        return Done()

    async def update(self, call: Call) -> Outcome:
        """Bring `call.changed` about in place."""
        return Done()

    async def make_way(self, call: Call) -> Outcome:
        """Give up what a replacement needs before it is made: a name, an address, a port. The object stays."""
        return Done()

    async def take_back(self, call: Call) -> Outcome:
        """Undo `make_way`: the replacement came to nothing, and this object is wanted again."""
        return Done()

    async def delete(self, call: Call) -> Outcome:
        """Remove the object; one that is gone already is done. `call.physical_id` may be None after a failed create."""
        return Done()

    async def snapshot_delete(self, call: Call) -> Outcome:
        """Keep a copy of the object's content, then remove it (deletion policy Snapshot)."""
        raise NotSupported(f"{self.type_name} has no snapshot on deletion.")

    async def check(self, call: Call) -> Outcome:
        """Compare the object with what it should be; `Failed` when it is not there or not well."""
        return Done(note="not supported by this resource type")

    async def suspend(self, call: Call) -> Outcome:
        """Put the object to sleep."""
        return Done()

    async def resume(self, call: Call) -> Outcome:
        """Wake the object up."""
        return Done()

    async def snapshot(self, call: Call) -> Outcome:
        """Take part in a snapshot of the stack, beside the copy that is made of what has content (`copy`)."""
        return Done()

    async def adopt(self, call: Call) -> Outcome:
        """See that `call.physical_id` names an object that the resource can take over, with `call.data`.

        Both come from whoever adopts the stack: what is about to be done with rights that this person lacks must be
        proved to be this person's. The default is a check, which a type without one passes.
        """
        return await self.check(call) if self.checkable else Done()

    async def abandon(self, call: Call) -> Outcome:
        """Let the object be: the resource is forgotten, and the object stays."""
        return Done()

    async def used_by(self, call: Call) -> Mapping[str, str]:
        """What keeps the object from being removed: physical ids of other objects, each with what it is, in words."""
        return {}

    async def observe(self, call: Call) -> Mapping[str, Any] | None:
        """Properties that the cloud has otherwise than `call.properties`, as it has them; None when the object is gone.

        Only what the service shows can be told, and what the template leaves open is no difference.
        """
        return {}

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        """Whether a resource whose last action failed must be made anew rather than updated."""
        return True

    # -- reading ----------------------------------------------------------------------------------------------

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, Any]:
        """Values of the attributes; one that cannot be had is None."""
        return dict.fromkeys(keys)

    # -- being spoken to --------------------------------------------------------------------------------------

    async def signal(self, call: Call, details: Mapping[str, Any] | None) -> str:
        """Take a signal; the text returned is the reason of its event. May change `call.metadata` and `call.data`."""
        raise NotSupported(f"{self.type_name} takes no signals.")

    async def receive(self, call: Call, message: Any) -> str:
        """Take a message of another resource of the stack; what came of it, for the event of who sent it.

        What is to be remembered goes through `call.child.begin`. Raises NoActionRequired when there is nothing to do.
        """
        raise NotSupported(f"{self.type_name} cannot be told anything by other resources.")

    async def child_ended(self, call: Call, succeeded: bool) -> None:  # noqa: B027  most have no nested stack
        """The operation that `call.child.begin` began has ended. May change `call.metadata` and `call.data`."""


class ContentCopy(ResourceType):
    """What keeps a copy of another resource's content: an image of a server, a backup of a volume.

    It is a resource of the snapshot that it belongs to: made, found after a crash, and deleted as any resource is, and
    it outlives the one that it was made of. Its properties are what `of` gives.
    """

    any_properties = True

    @abstractmethod
    def of(self, resource: Snapshot) -> Mapping[str, Any]:
        """The copy's properties: where the content of the resource is."""

    @abstractmethod
    def noted(self, copy: Snapshot) -> Mapping[str, Any]:
        """What the document of the snapshot shows of the copy among the resource's data."""

    @abstractmethod
    def restored(self, properties: Mapping[str, Any], copy: Snapshot) -> Mapping[str, Any]:
        """The properties that bring the content back, from those that the template gives."""
