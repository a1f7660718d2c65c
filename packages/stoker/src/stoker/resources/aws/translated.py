"""Types whose object is that of another type, with the names and meanings that CloudFormation gives to properties."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, TypeVar

from stoker.plugins import capabilities
from stoker.plugins.capabilities import (
    HealthReporter,
    ReplacementPreparer,
    ReplacementReverter,
    Resumable,
    SnapshotBeforeDelete,
    Suspendable,
    UsageReporter,
)
from stoker.plugins.exclusion import Exclusion
from stoker.plugins.live_values import live_values
from stoker.plugins.outcome import Outcome
from stoker.plugins.resource import AttributeKey, Call, ResourceType
from stoker.schema.property import Finalizer

Result = TypeVar("Result")

_TAKEN_OVER = frozenset(
    {
        "recovery", "id_is_new", "service", "connects", "physical_name_limit", "redacted_data", "named_in", "listed",
        "object_ids", "addresses_at", "shared_lists",
    }
)  # fmt: skip
"""Declarations of the target that hold for the translated type too."""


class Translated(
    ResourceType,
    HealthReporter,
    UsageReporter,
    ReplacementPreparer,
    ReplacementReverter,
    Resumable,
    SnapshotBeforeDelete,
    Suspendable,
):
    """A type that translates its properties to those of the type `target`, and leaves all calls to that type.

    `translated` returns the properties of the target; those that it omits get their defaults. It is called for every
    version of the properties that a call contains, and must return the same values at every call.
    `spelled` are the names of the target's properties by the names of this type's, for comparisons with the cloud.
    """

    target: ClassVar[type[ResourceType]]
    spelled: ClassVar[Mapping[str, str]] = {}

    def __init__(self) -> None:
        self._target = self.target()

    def __init_subclass__(cls, **arguments: object) -> None:
        super().__init_subclass__(**arguments)
        if "target" in cls.__dict__:
            for name in _TAKEN_OVER - cls.__dict__.keys():
                setattr(cls, name, getattr(cls.target, name))
            cls.checkable = cls.target.checkable
            known = live_values(cls.target())
            cls.derived_live = {own: known[name] for own, name in cls.spelled.items()}
            if (exclusion := cls.target.exclusion) is not None:
                cls.exclusion = _translated(exclusion, cls.target)

    def configure(self, options: Mapping[str, object]) -> None:
        self._target.configure(options)
        self.physical_name_limit = self._target.physical_name_limit

    async def translated(self, call: Call, properties: Mapping[str, object]) -> Mapping[str, object]:
        """Return the target's properties for the own `properties`."""
        raise NotImplementedError(f"{self.type_name} does not translate its properties")

    async def find(self, call: Call) -> str | None:
        return await self.enter(self._target.find, call)

    async def create(self, call: Call) -> Outcome:
        return await self.enter(self._target.create, call)

    async def update(self, call: Call) -> Outcome:
        return await self.enter(self._target.update, call)

    async def prepare_for_replacement(self, call: Call) -> Outcome:
        return await self.enter(partial(capabilities.prepare_for_replacement, self._target), call)

    async def revert_replacement(self, call: Call) -> Outcome:
        return await self.enter(partial(capabilities.revert_replacement, self._target), call)

    async def delete(self, call: Call) -> Outcome:
        return await self.enter(self._target.delete, call)

    async def snapshot_delete(self, call: Call) -> Outcome:
        return await self.enter(partial(capabilities.snapshot_delete, self._target), call)

    async def suspend(self, call: Call) -> Outcome:
        return await self.enter(partial(capabilities.suspend, self._target), call)

    async def resume(self, call: Call) -> Outcome:
        return await self.enter(partial(capabilities.resume, self._target), call)

    async def check(self, call: Call) -> Outcome:
        return await self.enter(self._target.check, call)

    async def unhealthy_reason(self, call: Call) -> str | None:
        return await self.enter(partial(capabilities.unhealthy_reason, self._target), call)

    async def adopt(self, call: Call) -> Outcome:
        return await self.enter(self._target.adopt, call)

    async def used_by(self, call: Call) -> Mapping[str, str]:
        return await self.enter(partial(capabilities.used_by, self._target), call)

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        """Return the properties that differ; their live values have the target's form, and are returned as None."""
        translated = await self.translate(call)
        found = await self._target.observe(translated)
        if found is None:
            return None
        given = {own: name for own, name in self.spelled.items() if call.properties[own] is not None}
        call.report.compared.update(own for own, name in given.items() if name in translated.report.compared)
        call.report.unread.update(
            {own: translated.report.unread[name] for own, name in given.items() if name in translated.report.unread}
        )
        return {own: None for own, name in given.items() if name in found}

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        return await self.enter(self._target.needs_replacement_after_failure, call)

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        return await self._target.read_attributes(await self.translate(call), keys)

    async def shown(self, call: Call) -> Any:
        """Return the target's object as its service shows it; None when there is none."""
        show: AttributeKey = ("show",)
        return (await self._target.read_attributes(await self.translate(call), [show]))[show]

    async def enter(self, method: Callable[[Call], Awaitable[Result]], call: Call) -> Result:
        """Call a method of the target with translated properties; metadata and physical ID are copied back."""
        translated = await self.translate(call)
        try:
            return await method(translated)
        finally:
            call.metadata = translated.metadata
            call.physical_id = translated.physical_id

    async def translate(self, call: Call) -> Call:
        """Return the call with the target's properties."""
        properties = await self._properties(call, call.properties)
        previous = None if call.previous is None else await self._properties(call, call.previous)
        replacement = (
            None if call.resource.replacement is None else await self._properties(call, call.resource.replacement)
        )
        changed = {}
        if previous is not None:
            changed = {name: value for name, value in properties.items() if previous.get(name) != value}
        return replace(
            call,
            properties=properties,
            previous=previous,
            changed=changed,
            resource=replace(call.resource, replacement=replacement, given=None),
            report=replace(call.report, compared=set(), unread={}),
        )

    async def _properties(self, call: Call, properties: Mapping[str, object]) -> Mapping[str, object]:
        translated = await self.translated(call, properties)
        return Finalizer().properties(self._target.properties, translated)


def _translated(exclusion: Exclusion, target: type[ResourceType]) -> Exclusion:
    """Return the exclusion of a type that translates its properties for `target`, which only calls can do."""

    async def ask(kind: Translated, call: Call) -> bool:
        return await kind.enter(partial(exclusion.applies, target()), call)

    return Exclusion(lambda properties, replacement: False, ask)
