"""What only some resource types do, besides what `ResourceType` asks of all.

A type has a capability if it defines its method; to have a type checker compare the signature, it may name the class
among its bases as well. Where nothing happens for other types, the engine asks with `isinstance`. The functions of the
same names are what it calls otherwise: they ask a type that has the capability, and return for others what their
docstrings say.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from stoker.base.errors import NotSupported
from stoker.plugins.call import Call, ChildRequest, Graph, Node, Snapshot, Sources
from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.resource import ResourceType

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud


class Capability(ABC):  # noqa: B024  each capability has its own method
    """Base of the capabilities: a type that defines the method is an instance without naming the class as its base."""

    @classmethod
    def __subclasshook__(cls, candidate: type) -> bool:
        if Capability not in cls.__bases__:  # a type that names a capability as its base
            return super().__subclasshook__(candidate)
        return all(hasattr(candidate, name) for name in cls.__abstractmethods__)


# -- evaluated before any change; pure ---------------------------------------------------------------------------------


class ServiceValidated(Capability):
    """Properties can only be checked with the help of services (with the declaration `consults`)."""

    @abstractmethod
    async def consult(self, properties: Mapping[str, object], cloud: Cloud, sources: Sources) -> Iterable[str]:
        """Like `ResourceType.validate`; `cloud` is the caller's."""


async def consult(
    kind: ResourceType, properties: Mapping[str, object], cloud: Cloud, sources: Sources
) -> Iterable[str]:
    """Return what services tell about properties; nothing by default."""
    return await kind.consult(properties, cloud, sources) if isinstance(kind, ServiceValidated) else ()


class ImplicitlyDependent(Capability):
    """Resources depend on others to which no property refers."""

    @abstractmethod
    def implicit_requirements(self, node: Node, graph: Graph) -> Iterable[str]:
        """Return the names of resources that this one depends on although no property refers to them."""


class ConditionallyReplaced(Capability):
    """Some changes require a replacement although every changed property allows an update."""

    @abstractmethod
    def replacement_reason(
        self, before: Mapping[str, object], after: Mapping[str, object], changed: Mapping[str, object]
    ) -> str | None:
        """Return why this change requires a replacement; else None.

        For a plan, `changed` has only the values that are known, and others in `after` may be unknown.
        """


class ConditionalContent(Capability):
    """What is lost with an object depends on the values of its properties."""

    @abstractmethod
    def lost_content(self, properties: Mapping[str, object], changed: Collection[str] | None = None) -> str:
        """Return what is lost with an object of these properties, some of which may be unknown; empty for nothing.

        With `changed`, return what an update in place that changes these properties loses.
        """


def lost_content(kind: ResourceType, properties: Mapping[str, object], changed: Collection[str] | None = None) -> str:
    """Return what is lost with an object, or with an update in place; by default, the content and nothing."""
    if isinstance(kind, ConditionalContent):
        return kind.lost_content(properties, changed)
    return kind.content if changed is None else ""


class UserOwner(Capability):
    """The resource has a user of its own, who may use other resources of the stack."""

    @abstractmethod
    def user_may_use(self, resource: Snapshot, name: str, others: Mapping[str, Snapshot]) -> bool:
        """Return whether the resource's own user may read and signal the resource `name`, one of `others` by name."""


def user_may_use(kind: ResourceType, resource: Snapshot, name: str, others: Mapping[str, Snapshot]) -> bool:
    """Return whether a resource's own user may use the resource `name`; by default, only if that is the resource."""
    return kind.user_may_use(resource, name, others) if isinstance(kind, UserOwner) else resource.name == name


# -- nested stacks -----------------------------------------------------------------------------------------------------


class ParentOfStack(Capability):
    """Resources are nested stacks (with the declaration `nested`)."""

    @abstractmethod
    def child_of(self, properties: Mapping[str, object]) -> ChildRequest | None:
        """Return the nested stack for these values (some may be unknown); None where there is none to validate."""


def child_of(kind: ResourceType, properties: Mapping[str, object]) -> ChildRequest | None:
    """Return the nested stack for these values; None by default."""
    return kind.child_of(properties) if isinstance(kind, ParentOfStack) else None


class ParentOfEqualMembers(Capability):
    """Nested stacks have equal members, of which one suffices for validation."""

    @abstractmethod
    def sample_of(self, properties: Mapping[str, object]) -> ChildRequest | None:
        """Like `child_of`, with only one of several equal members."""


def sample_of(kind: ResourceType, properties: Mapping[str, object]) -> ChildRequest | None:
    """Return the nested stack to validate for these values: the whole one by default."""
    return kind.sample_of(properties) if isinstance(kind, ParentOfEqualMembers) else child_of(kind, properties)


class ParentInAnotherService(Capability):
    """Resources are stacks of another service: objects to the engine, and templates to those who only read these."""

    @abstractmethod
    def remote_stack_of(self, properties: Mapping[str, object]) -> ChildRequest | None:
        """Return the stack for these values (some may be unknown); None where its template is not known."""


def remote_stack_of(kind: ResourceType, properties: Mapping[str, object]) -> ChildRequest | None:
    """Return the stack of another service that the resource is; None if it is none, or its template is not known."""
    return kind.remote_stack_of(properties) if isinstance(kind, ParentInAnotherService) else None


def readable_of(kind: ResourceType, properties: Mapping[str, object]) -> ChildRequest | None:
    """Return the stack that linters and graphs look into: the nested stack, or that of another service."""
    return remote_stack_of(kind, properties) or sample_of(kind, properties)


class ChildObserver(Capability):
    """Resources learn of the end of operations that they began on their nested stack."""

    @abstractmethod
    async def child_ended(self, call: Call, succeeded: bool) -> None:
        """The operation that `call.engine.child.begin` started has ended. May change `call.metadata`, `call.data`."""


async def child_ended(kind: ResourceType, call: Call, succeeded: bool) -> None:
    """Tell a resource that the operation which `call.engine.child.begin` started has ended."""
    if isinstance(kind, ChildObserver):
        await kind.child_ended(call, succeeded)


# -- lifecycle ---------------------------------------------------------------------------------------------------------


class Cancelable(Capability):
    """Something outside works on behalf of the resource, which can be stopped."""

    @abstractmethod
    async def cancel(self, call: Call, why: str) -> None:
        """Stop external work on behalf of the resource: its action has timed out or was canceled, as `why` states.

        May be called again. May change `call.metadata` and `call.data`.
        """


async def cancel(kind: ResourceType, call: Call, why: str) -> None:
    """Stop external work on behalf of a resource, if there is any."""
    if isinstance(kind, Cancelable):
        await kind.cancel(call, why)


class ReplacementPreparer(Capability):
    """An object has what its replacement needs before it is created: a name, an address, a port."""

    @abstractmethod
    async def prepare_for_replacement(self, call: Call) -> Outcome:
        """Release what a replacement needs before it is created. The object is kept.

        Without `call.resource.replacement`, the resource releases an object that it uses, which has to be deleted.
        """


async def prepare_for_replacement(kind: ResourceType, call: Call) -> Outcome:
    """Release what a replacement needs; nothing by default."""
    return await kind.prepare_for_replacement(call) if isinstance(kind, ReplacementPreparer) else Done()


class ReplacementReverter(Capability):
    """A replacement takes something from the object, which gets it back if the replacement fails."""

    @abstractmethod
    async def revert_replacement(self, call: Call) -> Outcome:
        """Undo what the preparation and the replacement did: it has failed, and this object is used again."""


async def revert_replacement(kind: ResourceType, call: Call) -> Outcome:
    """Restore what an object has lost to a replacement that failed; nothing by default."""
    return await kind.revert_replacement(call) if isinstance(kind, ReplacementReverter) else Done()


class SnapshotBeforeDelete(Capability):
    """Deletion policy Snapshot is supported (with the declaration `snapshot_on_delete`)."""

    @abstractmethod
    async def snapshot_delete(self, call: Call) -> Outcome:
        """Make a copy of the object's content, then delete it."""


async def snapshot_delete(kind: ResourceType, call: Call) -> Outcome:
    """Make a copy of the object's content, then delete it. Raises NotSupported by default."""
    if not isinstance(kind, SnapshotBeforeDelete):
        raise NotSupported(f"{kind.type_name} does not support deletion policy Snapshot.")
    return await kind.snapshot_delete(call)


class Suspendable(Capability):
    """Objects can be suspended."""

    @abstractmethod
    async def suspend(self, call: Call) -> Outcome:
        """Suspend the object."""


async def suspend(kind: ResourceType, call: Call) -> Outcome:
    """Suspend the object; by default, this does nothing."""
    return await kind.suspend(call) if isinstance(kind, Suspendable) else Done()


class Resumable(Capability):
    """Objects that are suspended can be resumed."""

    @abstractmethod
    async def resume(self, call: Call) -> Outcome:
        """Resume the object."""


async def resume(kind: ResourceType, call: Call) -> Outcome:
    """Resume the object; by default, this does nothing."""
    return await kind.resume(call) if isinstance(kind, Resumable) else Done()


class SnapshotParticipant(Capability):
    """Resources have something to do for a snapshot of the stack."""

    @abstractmethod
    async def snapshot(self, call: Call) -> Outcome:
        """Participate in a snapshot of the stack, in addition to the copy of the object's content (`copy`)."""


async def snapshot(kind: ResourceType, call: Call) -> Outcome:
    """Participate in a snapshot of the stack; by default, this does nothing."""
    return await kind.snapshot(call) if isinstance(kind, SnapshotParticipant) else Done()


class Abandonable(Capability):
    """Resources have something to do when they are removed without their objects."""

    @abstractmethod
    async def abandon(self, call: Call) -> Outcome:
        """Keep the object: only the resource's record is deleted."""


async def abandon(kind: ResourceType, call: Call) -> Outcome:
    """Keep the object of a resource whose record is deleted; by default, this does nothing."""
    return await kind.abandon(call) if isinstance(kind, Abandonable) else Done()


# -- reading the object ------------------------------------------------------------------------------------------------


class UsageReporter(Capability):
    """The service tells what uses an object, and refuses to delete it meanwhile."""

    @abstractmethod
    async def used_by(self, call: Call) -> Mapping[str, str]:
        """Return what prevents the object's deletion: the physical IDs of other objects, each with a description."""


async def used_by(kind: ResourceType, call: Call) -> Mapping[str, str]:
    """Return what prevents the object's deletion; by default, nothing is known."""
    return await kind.used_by(call) if isinstance(kind, UsageReporter) else {}


class HealthReporter(Capability):
    """Objects can be beyond repair although they exist."""

    @abstractmethod
    async def unhealthy_reason(self, call: Call) -> str | None:
        """Return why the object must be replaced without a request of a user; None otherwise.

        Unlike `check`, which reports every deviation, this only reports what does not end by itself and loses nothing
        that a replacement could keep.
        """


async def unhealthy_reason(kind: ResourceType, call: Call) -> str | None:
    """Return why an object must be replaced; by default, that it does not exist any more."""
    if isinstance(kind, HealthReporter):
        return await kind.unhealthy_reason(call)
    return "the object does not exist any more" if await kind.observe(call) is None else None


# -- signals and messages ----------------------------------------------------------------------------------------------


class Signalable(Capability):
    """Resources accept signals (with the declaration `signalable`)."""

    @abstractmethod
    async def signal(self, call: Call, details: Mapping[str, object] | None) -> str:
        """Handle a signal; the result is the reason in its event. May change `call.metadata` and `call.data`."""


async def signal(kind: ResourceType, call: Call, details: Mapping[str, object] | None) -> str:
    """Have a resource handle a signal. Raises NotSupported by default."""
    if not isinstance(kind, Signalable):
        raise NotSupported(f"{kind.type_name} takes no signals.")
    return await kind.signal(call, details)


class ExternallySignalled(Capability):
    """Another service receives the signals, and stores them until they are asked for."""

    @abstractmethod
    async def stored_signals(self, call: Call) -> Mapping[str, Mapping[str, object] | None]:
        """Return the signals that another service stores for the resource, oldest first, by stable IDs.

        They are not removed there, and those in `call.data[COLLECTED]` may be omitted. Raises BadValue for an invalid
        signal.
        """


async def stored_signals(kind: ResourceType, call: Call) -> Mapping[str, Mapping[str, object] | None]:
    """Return the signals that another service stores for a resource; none by default."""
    return await kind.stored_signals(call) if isinstance(kind, ExternallySignalled) else {}


class MessageReceiver(Capability):
    """Other resources of the stack send messages to a resource (`Neighbours.send`)."""

    @abstractmethod
    async def receive(self, call: Call, message: object) -> str:
        """Handle a message of another resource of the stack; return the result, for the event of the sender.

        State is recorded with `call.engine.child.begin`. Raises NoActionRequired when there is nothing to do.
        """


async def receive(kind: ResourceType, call: Call, message: object) -> str:
    """Have a resource handle a message of another one. Raises NotSupported by default."""
    if not isinstance(kind, MessageReceiver):
        raise NotSupported(f"{kind.type_name} does not accept messages from other resources.")
    return await kind.receive(call, message)
