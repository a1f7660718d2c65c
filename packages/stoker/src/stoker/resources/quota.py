"""Quotas of a project, which a service has in any case: a resource sets them, and its deletion resets them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, ClassVar
from urllib.parse import quote

from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import AttributeKey, Call, ResourceType, Snapshot
from stoker.resources.base import value_at
from stoker.resources.declare import between
from stoker.schema.live import LISTED
from stoker.schema.property import SUPPORTED, Change, Property, Support, Type

PROJECT = Property(description="The project, by name or ID.", required=True, reference="keystone.project")


def limit(what: str, support: Support = SUPPORTED) -> Property:
    """Declare a quota: the number of `what` that the project may have."""
    return Property(
        Type.INTEGER,
        f"Limit of {what}; -1 for no limit.",
        constraints=between(-1),
        change=Change.UPDATE,
        support=support,
    )


class ProjectQuota(ResourceType):
    """A type that sets quotas of a project.

    `path` is the collection, `member` the key around one set of quotas in bodies, `defaults` the last part of the path
    of the default quotas.
    """

    path: ClassVar[str]
    member: ClassVar[str]
    defaults: ClassVar[str] = "defaults"
    live_otherwise = LISTED
    recovery = Recovery(
        RecoveryMethod.NOTHING,
        "A project has one set of quotas; setting the same values again changes nothing.",
    )

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        if not any(value is not None for name, value in properties.items() if name != "project"):
            yield "at least one quota must be given"

    def reference_id(self, resource: Snapshot) -> object:
        return resource.physical_name if resource.physical_id is not None else resource.name

    async def create(self, call: Call) -> Outcome:
        await self.set_quotas(call, _given(call.properties))
        return Done(physical_id=call.physical_name)

    async def update(self, call: Call) -> Outcome:
        """Set the quotas; those that are no longer given get their default values."""
        dropped = [name for name, value in call.changed.items() if value is None]
        defaults: Mapping[str, Any] = {}
        if dropped:
            answer = await call.cloud.get(str(self.service), f"{self._path(call)}/{self.defaults}")
            defaults = {name: answer[self.member][name] for name in dropped if name in answer[self.member]}
        await self.set_quotas(call, {**_given(call.properties), **defaults})
        return Done()

    async def set_quotas(self, call: Call, quotas: Mapping[str, int]) -> None:
        """Set the quotas of the project."""
        await call.cloud.put(str(self.service), self._path(call), {self.member: quotas})

    async def delete(self, call: Call) -> Outcome:
        if call.physical_id is not None:
            await call.cloud.delete(str(self.service), self._path(call), ok=(404,))
        return Done()

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        shown = await self._shown(call)
        call.report.compared.update(("project", *(shown.keys() & self.properties.keys())))
        return {name: shown[name] for name, value in _given(call.properties).items() if shown.get(name, value) != value}

    async def needs_replacement_after_failure(self, call: Call) -> bool:
        return False

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        values = {"show": await self._shown(call)}
        return {key: value_at(values, key) for key in keys}

    async def _shown(self, call: Call) -> Mapping[str, object]:
        shown: Mapping[str, object] = (await call.cloud.get(str(self.service), self._path(call)))[self.member]
        return shown

    def _path(self, call: Call) -> str:
        return f"{self.path}/{quote(str(call.properties['project']), safe='')}"


def _given(properties: Mapping[str, Any]) -> dict[str, int]:
    return {name: value for name, value in properties.items() if name != "project" and value is not None}
