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
from functools import cached_property
from typing import Any, ClassVar

from stoker.base.errors import NotSupported
from stoker.cloud.session import Cloud
from stoker.plugins.call import (
    COLLECTED,
    AttributeKey,
    Call,
    ChildRequest,
    ChildStack,
    Graph,
    Member,
    Neighbour,
    Neighbours,
    NoActionRequired,
    Node,
    NoSources,
    ScalingNotice,
    Snapshot,
    SoftwareConfigs,
    SoftwareDeployments,
    Sources,
    StackFacts,
    Unrecorded,
)
from stoker.plugins.names import resolves_names
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.recovery import Recovery
from stoker.schema.property import SUPPORTED, Attribute, Property, Support, has_custom_constraints, has_secrets

__all__ = [
    "COLLECTED",
    "AttributeKey",
    "Call",
    "ChildRequest",
    "ChildStack",
    "ContentCopy",
    "Graph",
    "Member",
    "Neighbour",
    "Neighbours",
    "NoActionRequired",
    "NoSources",
    "Node",
    "ResourceType",
    "ScalingNotice",
    "Snapshot",
    "SoftwareConfigs",
    "SoftwareDeployments",
    "Sources",
    "StackFacts",
    "Unrecorded",
]


class ResourceType(ABC):
    """Base of every resource type: declarations, and defaults for what most types have in common.

    `service` is the plugin name of the cloud service that it needs (`nova`, `neutron`, …), None for none.
    `extension` is the alias of an API extension that this service must have loaded besides.
    `local` types make no call and have no side effect outside the record, so no intent is recorded beforehand.
    `any_properties` types take whatever properties they are given, unchecked; those that `ignores_properties` do not
    even have them resolved.
    `recovery` says how `find` recognises the object of an interrupted creation; every type that is not local has one.
    `part_of` is the type whose object this one is a part of, and whose physical id is also this one's; None for most.
    `id_is_new` types are those whose service gives each object that it makes an id that no other object has had.
    `named_in` says where objects are found by a name of the user's choice: the service, the path of the collection, and
    the property that has the name.
    `deaf_during` are the actions during which a signalable type takes no signals.
    `updates_with_parent` types are updated whenever their stack is, `replaced_with_parent` ones replaced.
    `any_attribute` types answer to attributes that they do not declare (a group: those of its members).
    `path_in_attribute` types get the path that follows an attribute's name too (`resource.0.addr`).
    `consults` types have services complain about property values before anything is done.
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
    consults: ClassVar[bool] = False
    path_in_attribute: ClassVar[bool] = False
    any_properties: ClassVar[bool] = False
    ignores_properties: ClassVar[bool] = False
    any_attribute: ClassVar[bool] = False
    physical_name_limit: int | None = 255
    snapshot_on_delete: bool = False
    always_replace_on_check_failed: ClassVar[bool] = True
    updates_with_parent: ClassVar[bool] = False
    replaced_with_parent: ClassVar[bool] = False
    signalable: ClassVar[bool] = False
    deaf_during: ClassVar[frozenset[str]] = frozenset({"SUSPEND", "DELETE"})
    hidden_data: ClassVar[frozenset[str]] = frozenset()
    recovery: ClassVar[Recovery | None] = None
    part_of: ClassVar[str | None] = None
    id_is_new: ClassVar[bool] = False
    named_in: ClassVar[tuple[str, str, str] | None] = None
    copy: ClassVar[ContentCopy | None] = None
    unsaved: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})

    @cached_property
    def checkable(self) -> bool:
        """Whether the type can compare its object with what it should be: one that says how, in `check`."""
        return type(self).check is not ResourceType.check

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

    async def consult(self, properties: Mapping[str, Any], cloud: Cloud, sources: Sources) -> Iterable[str]:
        """As `validate`, for what only services can tell; `cloud` is that of whoever asks. Of types that `consults`."""
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

    async def give_up(self, call: Call, why: str) -> None:
        """Time is up, or the operation is called off, in the middle of a method: whoever works for the resource, of
        their own accord, is told that nobody waits any more, and why. May be entered again.
        """
        return None

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

    async def kept_signals(self, call: Call) -> Mapping[str, Mapping[str, Any] | None]:
        """The signals that another service keeps for the resource, oldest first, by ids that stay the same.

        They are left where they are, and those in `call.data[COLLECTED]` may be left out. Raises BadValue for what is
        no signal.
        """
        return {}

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
