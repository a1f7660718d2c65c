"""The contract of a resource type.

A type is a class with declarations (`properties`, `attributes`, …) and a few coroutines. One instance serves all
stacks, and must therefore be stateless: its input is a `Call`, and it stores state in `call.data` (for the life of the
resource) and `call.progress` (for the running action). The engine commits both after every call, together with the
physical ID, before it continues.

Every method may be called again at any time, also by another process after a crash:

* `create` with `call.physical_id` None creates the object and returns `InProgress(physical_id=…)` at once; called with
  the ID, it checks whether the object is ready.
* After a crash between the two, the engine calls `find` to look for the object before it calls `create`.

What only some types do, such as to take signals, is in `stoker.plugins.capabilities`: a type defines the method.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar
from weakref import WeakKeyDictionary

from stoker.plugins.call import (
    COLLECTED,
    AttributeKey,
    Call,
    ChildRequest,
    ChildStack,
    EngineAccess,
    Graph,
    Member,
    MethodReport,
    Neighbour,
    Neighbours,
    NoActionRequired,
    Node,
    NoSources,
    ResourceFacts,
    ScalingNotice,
    Snapshot,
    SoftwareConfigs,
    SoftwareDeployments,
    Sources,
    StackFacts,
    Unrecorded,
)
from stoker.plugins.exclusion import Exclusion
from stoker.plugins.former_names import accept_former_methods, accept_former_overrides
from stoker.plugins.id_form import IdForm
from stoker.plugins.listing import CollectionLocation, InventoryLocation, SharedList
from stoker.plugins.object_ids import ObjectIds
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.preflight import Conflict, Consumption
from stoker.plugins.pricing import Charge
from stoker.plugins.recovery import Recovery
from stoker.schema.live import Live
from stoker.schema.property import SUPPORTED, Attribute, Finalizer, Property, Support, Traits

if TYPE_CHECKING:
    pass

__all__ = [
    "ADDRESS",
    "COLLECTED",
    "NAME",
    "AttributeKey",
    "Call",
    "ChildRequest",
    "ChildStack",
    "ContentCopy",
    "EngineAccess",
    "FetchedTemplate",
    "Graph",
    "Member",
    "MethodReport",
    "Neighbour",
    "Neighbours",
    "NoActionRequired",
    "NoSources",
    "Node",
    "ResourceFacts",
    "ResourceType",
    "ScalingNotice",
    "Snapshot",
    "SoftwareConfigs",
    "SoftwareDeployments",
    "Sources",
    "StackFacts",
    "Unrecorded",
    "Waiter",
    "index_object",
    "indexed_keys",
    "traits_of",
]

_FORMER_METHODS = {
    "give_up": "cancel",
    "kept_signals": "stored_signals",
    "lets_use": "user_may_use",
    "make_way": "prepare_for_replacement",
    "take_back": "revert_replacement",
}
"""Methods of types that 0.1.0 has under other names."""

_FORMER_WAITER_METHODS = {"judge": "outcome"}
"""The same of `Waiter`."""


class ResourceType(ABC):
    """Base of every resource type: declarations, and defaults that suit most types."""

    # -- properties and attributes -----------------------------------------------------------------------------

    type_name: ClassVar[str]
    """What templates call the type: `OS::Cinder::Volume`."""
    description: str = ""
    """What the type creates, in a sentence, for its page in the reference."""
    support: Support = SUPPORTED
    """Since which version the type exists, and whether it is deprecated or hidden."""
    properties: Mapping[str, Property] = {}
    """The properties by name."""
    attributes: Mapping[str, Attribute] = {}
    """The attributes by name, besides those that every type has."""
    update_policy: Mapping[str, Property] = {}
    """The keys of the update policy that templates may give to resources of the type."""
    creation_policy: Mapping[str, Property] = {}
    """The keys of the creation policy; types without keys accept no creation policy."""
    instead_of_creation_policy: ClassVar[frozenset[str]] = frozenset()
    """Properties in whose place a creation policy is given."""
    references_only: ClassVar[Mapping[str, str]] = {}
    """Properties that must refer to another resource of the template, with what that must be."""
    any_properties: ClassVar[bool] = False
    """Whether any properties are accepted without checks."""
    ignores_properties: ClassVar[bool] = False
    """Whether properties are not even resolved."""
    any_attribute: ClassVar[bool] = False
    """Whether there are attributes that are not declared (a group: those of its members)."""
    missing_attribute_is_null: ClassVar[bool] = False
    """Whether outputs may read attributes that do not exist: the value is null."""
    path_in_attribute: ClassVar[bool] = False
    """Whether `read_attributes` also receives the path that follows an attribute's name (`resource.0.addr`)."""
    unchecked: ClassVar[bool] = False
    """Whether this type stands for one that is not known, about whose use nothing is reported."""

    # -- requirements of the cloud -----------------------------------------------------------------------------

    service: ClassVar[str | None] = None
    """The name of the service (`nova`, `neutron`, …); None for none."""
    extension: ClassVar[str | None] = None
    """The alias of an API extension that the service must have loaded."""
    for_administrators: ClassVar[bool] = False
    """Whether the service's default policies let only administrators create objects."""
    roles: ClassVar[tuple[str, ...]] = ()
    """The roles, in lower case, of which the service's default policies ask for one; empty for any role."""
    roles_asked_at: ClassVar[str] = ""
    """The path of the service that users without these roles may not even read; `{project}` is the project's ID."""
    local: ClassVar[bool] = False
    """Whether the type calls no service and has no effect outside Stoker's database, so that the engine need not record
    the intent first."""
    consults: ClassVar[bool] = False
    """Whether services check property values before any change is made (`consult`)."""

    # -- what is checked before the first change -----------------------------------------------------------------

    consumes: ClassVar[tuple[Consumption, ...]] = ()
    """What an object takes of the project's quotas."""
    conflicts: ClassVar[tuple[Conflict, ...]] = ()
    """The checks that look for what would make the creation of an object fail."""
    charges: ClassVar[tuple[Charge, ...]] = ()
    """The items of a price list that an object takes; one of a type without them needs a price of the type."""

    # -- identity of the object --------------------------------------------------------------------------------

    recovery: ClassVar[Recovery | None] = None
    """How `find` identifies the object of an interrupted creation; required unless the type is local."""
    named_in: ClassVar[tuple[str, str, str] | None] = None
    """Where objects are found by a user-defined name: service, path of the collection, property with the name."""
    listed: ClassVar[CollectionLocation | None] = None
    """The list in which the service shows the type's objects, by physical ID; None if there is no such list."""
    shared_lists: ClassVar[tuple[SharedList, ...]] = ()
    """The lists that tell what `observe` asks for each object, so that one serves many resources."""
    inventory: ClassVar[InventoryLocation | None] = None
    """Where the module is that describes existing objects as resources of a generated template; None if none does."""
    physical_name_limit: int | None = 255
    """The length of generated names, in characters; None for no limit."""
    advice: ClassVar[Mapping[str, str]] = {}
    """What to do instead of properties that authors expect and the type does not have, by their names."""
    id_is_new: ClassVar[bool] = False
    """Whether the service never uses the ID of an object again."""
    object_ids: ClassVar[ObjectIds | None] = None
    """How IDs identify objects that belong to one resource at most; None for what is no object of its own, such as a
    quota, a route or an association. With `id_is_new`, they do so in the whole cloud by default."""
    id_property: ClassVar[str] = ""
    """The property whose value, if it has one, is the ID of a new object; empty if the ID is never known before."""
    id_form: ClassVar[IdForm] = IdForm.NAME
    """What of the physical ID names the object in requests."""
    addresses_at: ClassVar[tuple[str, ...]] = ()
    """Where an object, as its service shows it, has IP addresses of its own: paths such as `fixed_ips.*.ip_address`.
    The search over all stacks finds the resource by them."""
    part_of: ClassVar[str | None] = None
    """The type whose object contains this one, and whose physical ID this one shares; None for most."""
    exclusion: ClassVar[Exclusion | None] = None
    """When an object is deleted before its replacement is created, since the service allows only one."""

    live_otherwise: ClassVar[Live | None] = None
    """How the live values of properties are known that do not declare it (see `stoker.plugins.live_values`)."""
    derived_live: ClassVar[Mapping[str, Live]] = {}
    """How live values are known that need not declare it, since the rest of the declaration says it."""

    # -- lifecycle ---------------------------------------------------------------------------------------------

    nested: ClassVar[bool] = False
    """Whether the resource is a nested stack, or a group of them."""
    fetched_template: ClassVar[FetchedTemplate | None] = None
    """Where the template of the nested stack is fetched from; None for types that fetch none."""
    updates_with_parent: ClassVar[bool | str] = False
    """Whether every update of the stack updates its resources of the type. A Boolean property's name in place of True:
    those for which it is true."""
    replaced_with_parent: ClassVar[bool] = False
    """Whether every update of the stack replaces its resources of the type."""
    connects: ClassVar[bool] = False
    """Whether it connects the objects of the resources that it refers to. Updates of these in place take turns, as each
    may take the connection apart for a while."""
    checkable: ClassVar[bool] = False
    """Whether the type implements `check`; that need not be declared."""
    always_replace_on_check_failed: ClassVar[bool] = True
    """Whether a resource whose check has failed is replaced without a look at its object."""

    # -- user data in the object -------------------------------------------------------------------------------

    content: ClassVar[str] = ""
    """What users lose with an object, for plans: `the data on the volume`; empty for nothing."""
    copy: ClassVar[ContentCopy | None] = None
    """The type of the copies that snapshots make of the content; None for objects without content."""
    snapshot_on_delete: bool = False
    """Whether deletion policy Snapshot is accepted."""
    unsaved: ClassVar[frozenset[str]] = frozenset({"CREATE", "UPDATE"})
    """The actions after whose failure deletion policy Snapshot makes no copy, since there is no content."""

    # -- signals and secrets -----------------------------------------------------------------------------------

    signalable: ClassVar[bool] = False
    """Whether resources accept signals."""
    no_signals_during: ClassVar[frozenset[str]] = frozenset({"SUSPEND", "DELETE"})
    """The actions during which they do not."""
    redacted_data: frozenset[str] = frozenset()
    """Keys of `Call.data` with secrets, which are redacted wherever they are shown and sealed in exports, and names of
    attributes with secrets, which are redacted in the properties that read them."""

    def __init_subclass__(cls, **arguments: object) -> None:
        super().__init_subclass__(**arguments)
        accept_former_methods(cls, _FORMER_METHODS)
        cls.checkable = cls.check is not ResourceType.check

    def configure(self, options: Mapping[str, object]) -> None:  # noqa: B027  most types have no options
        """Apply the operator's options (heat.conf names) to the declarations; called once, before any use."""

    # -- evaluated before any change; pure ---------------------------------------------------------------------

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        """Return error messages about combinations of property values, some of which may be unknown."""
        return ()

    def reference_id(self, resource: Snapshot) -> object:
        """Return the value of `get_resource`: the physical ID, or the logical name while there is none."""
        return resource.physical_id if resource.physical_id is not None else resource.name

    # -- lifecycle --------------------------------------------------------------------------------------------

    async def find(self, call: Call) -> str | None:
        """Return the physical ID of the object that an interrupted `create` created; None when there is none.

        Two resources may search for identical objects; therefore the engine runs such searches one at a time, each
        until its result is recorded.
        """
        return None

    async def create(self, call: Call) -> Outcome:
        """Create the object, then wait until it is ready."""
        return Done()

    async def update(self, call: Call) -> Outcome:
        """Apply `call.changed` in place."""
        return Done()

    async def delete(self, call: Call) -> Outcome:
        """Delete the object, if it still exists. `call.physical_id` may be None after a failed create."""
        return Done()

    async def check(self, call: Call) -> Outcome:
        """Compare the object with its definition; `Failed` when it does not exist or is unhealthy."""
        return Done(note="not supported by this resource type")

    async def adopt(self, call: Call) -> Outcome:
        """Check that `call.physical_id` names an object that the resource can adopt, with `call.data`.

        Both come from the user who adopts the stack: where the type uses permissions that the user does not have, it
        must verify that the object belongs to the user. The default is `check`, which types without one pass.
        """
        return await self.check(call) if self.checkable else Done()

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        """Return the actual values of properties that differ from `call.properties`; None when the object is gone.

        Only values that the service shows can be compared; properties that the template does not set never differ.
        The properties that are neither returned nor in `call.report.compared` are reported as not compared, with the
        reason in `call.report.unread` or the declared one. A type for whose object to exist means that all of them are
        as declared adds all to `call.report.compared`. One with an object of an `external_id` is asked only whether the
        object exists.
        """
        return {}

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        """Return whether a resource whose last action failed must be replaced rather than updated."""
        return True

    # -- reading ----------------------------------------------------------------------------------------------

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        """Return the values of the attributes; None for those that are not available."""
        return dict.fromkeys(keys)


_SOONEST = 0.25
_PART_OF_ELAPSED = 0.25


def poll_pause(elapsed: float, most: float = 5.0) -> float:
    """Return the seconds until the next request, `elapsed` seconds into an action: ever more, up to `most`."""
    return min(most, max(_SOONEST, elapsed * _PART_OF_ELAPSED))


@dataclass(frozen=True, slots=True)
class Waiter:
    """Determines from an object's status whether an action on it is complete, continues or has failed.

    `every` is the longest interval between two requests, in seconds: the first intervals are shorter, each being a
    quarter of the time waited so far. With `tolerant`, a status in none of the sets means pending; otherwise it means
    failure. The comparison of statuses is case-sensitive.
    """

    done: frozenset[str]
    pending: frozenset[str] = frozenset()
    failed: frozenset[str] = frozenset()
    every: float = 5.0
    tolerant: bool = False

    def __init_subclass__(cls) -> None:
        accept_former_overrides(cls, _FORMER_WAITER_METHODS)

    @classmethod
    def until(
        cls, *done: str, pending: tuple[str, ...] = (), failed: tuple[str, ...] = ("ERROR",), every: float = 5.0
    ) -> Waiter:
        """Create a waiter from statuses separated by spaces; without `pending`, all other statuses mean pending."""
        return cls(frozenset(done), frozenset(pending), frozenset(failed), every, tolerant=not pending)

    def outcome(self, status: str | None, reason: str | None = None, elapsed: float | None = None) -> Outcome:
        """Return a lifecycle method's result for an object in this status, `elapsed` seconds into its action.

        `reason` is the service's own explanation of a failure.
        """
        if status in self.done:
            return Done()
        words = f": {reason}" if reason else ", without a reason"
        if status in self.failed:
            return Failed(f"the service reports status {status}{words}", in_error=True)
        if status in self.pending or self.tolerant:
            return InProgress(after=self.pause(elapsed))
        expected = ", ".join(sorted(self.done | self.pending))
        return Failed(f"the service reports status {status}{words}; expected {expected}", "ResourceUnknownStatus")

    def pause(self, elapsed: float | None = None) -> float:
        """Return the seconds until the next request."""
        return self.every if elapsed is None else poll_pause(elapsed, self.every)


accept_former_overrides(Waiter, _FORMER_WAITER_METHODS)


_TRAITS: WeakKeyDictionary[ResourceType, Traits] = WeakKeyDictionary()


def traits_of(kind: ResourceType) -> Traits:
    """Return what the properties of a configured type declare, at any depth."""
    traits = _TRAITS.get(kind)
    if traits is None:
        traits = _TRAITS[kind] = Traits.of(kind.properties)
    return traits


class FetchedTemplate(ABC):
    """The template of a nested stack that has to be fetched; requests check it before anything is done."""

    @abstractmethod
    def url(self, properties: Mapping[str, object]) -> str | None:
        """Return the URL of the template for these values; None while it is unknown."""

    @abstractmethod
    async def fetch(self, url: str, project_id: str, options: Mapping[str, object]) -> str:
        """Fetch the template within the limits of the operator's options.

        Raises BadValue, RequestLimitExceeded, and Overloaded while the project has too many fetches in progress.
        """

    @abstractmethod
    def child(self, properties: Mapping[str, object], template: Mapping[str, object]) -> ChildRequest:
        """Return the nested stack for these values, of which some may be unknown, with the template."""


class ContentCopy(ResourceType):
    """A copy of another resource's content: an image of a server, a backup of a volume.

    It is a resource of the snapshot that it belongs to: it is created, found after a crash, and deleted like any other
    resource, and it can outlive the resource that it is a copy of. `of` returns its properties. The snapshot's document
    includes its ID in the resource's data, under the key `noted_as`.
    """

    any_properties = True
    noted_as: ClassVar[str]

    def has_content(self, resource: Snapshot) -> bool:
        """Return whether the resource has content of its own to copy; otherwise only its record is saved."""
        return True

    async def obstacle(self, call: Call) -> str:
        """Return why content cannot be restored to the object as it is now; empty if it can. `call` is the resource's.

        It is asked before a snapshot is restored: an object with an obstacle is replaced by one with the content.
        """
        return ""

    @abstractmethod
    def of(self, resource: Snapshot) -> Mapping[str, object]:
        """Return the copy's properties, which refer to the content of the resource."""

    @abstractmethod
    def restored(self, properties: Mapping[str, object], copy: Snapshot) -> Mapping[str, object]:
        """Return the properties that restore the content, from those in the template."""


# -- observed objects ------------------------------------------------------------------------------------

NAME = "name"
ADDRESS = "address"
"""What the search over all stacks finds a resource by: keys of `MethodReport.seen`."""


def index_object(call: Call, shown: Mapping[str, Any] | None, name: str | None, addresses: Iterable[str]) -> None:
    """Note in `call.report.seen` what the service shows of an object: its name, in the field `name`, and the IP
    addresses at the paths `addresses` (see `ResourceType.addresses_at`). What an answer leaves out is not noted.
    """
    if not shown:
        return
    if name is not None and name in shown:
        call.report.seen[NAME] = frozenset({shown[name]} if isinstance(shown[name], str) else ())
    paths = [parts for path in addresses if (parts := path.split("."))[0] in shown]
    if paths:
        found = (value for path in paths for value in _at(shown, path))
        call.report.seen[ADDRESS] = frozenset(value for value in found if isinstance(value, str))


def indexed_keys(kind: ResourceType) -> frozenset[str]:
    """Return which of both the objects of a type have: none if they are not objects of its own."""
    own = kind.id_is_new or kind.object_ids is not None
    named = {NAME} if own and kind.named_in is not None else set()
    return frozenset(named | ({ADDRESS} if kind.addresses_at else set()))


def _at(value: object, path: list[str]) -> Iterator[object]:
    """Yield the values at a path, whose part `*` stands for all elements of a list or values of a map."""
    if not path:
        yield value
    elif path[0] == "*":
        elements = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
        for element in elements:
            yield from _at(element, path[1:])
    elif isinstance(value, Mapping):
        yield from _at(value.get(path[0]), path[1:])


def finalized(type_: ResourceType, values: Mapping[str, Any]) -> Mapping[str, object]:
    """Return values in the form that the type's methods receive: converted, with defaults."""
    return values if type_.any_properties else Finalizer().properties(type_.properties, values)
