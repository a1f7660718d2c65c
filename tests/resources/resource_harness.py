"""Acts as the engine for one resource: calls its methods, records what they store, advances time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, cast

from stoker.base.ids import new_id, physical_name
from stoker.cloud.session import Cloud
from stoker.engine.calls.building import resolve_names
from stoker.plugins import capabilities
from stoker.plugins.live_values import live_values
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome, Replace
from stoker.plugins.resource import (
    AttributeKey,
    Call,
    EngineAccess,
    Neighbour,
    ResourceFacts,
    ResourceType,
    Snapshot,
    StackFacts,
)
from stoker.schema.property import Finalizer
from stoker_foundation.clock import ManualClock

MOST_ENTRIES = 200


class BadProperties(AssertionError):
    """The declarations or `validate` refuse the properties."""


class ActionFailed(AssertionError):
    """A method returned Failed."""

    def __init__(self, failed: Failed) -> None:
        super().__init__(f"{failed.kind}: {failed.reason}")
        self.failed = failed


@dataclass
class Resource:
    """Return what the engine would have recorded, after a round trip through JSON."""

    name: str
    uuid: str
    properties: dict[str, Any] = field(default_factory=dict)
    physical_id: str | None = None
    data: dict[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    given: frozenset[str] | None = None
    reference: Any = None


class Alone:
    """A stack without other resources."""

    async def by_reference(self, reference_id: Any) -> Neighbour | None:
        """Return None: there is no other resource."""
        return None

    async def by_name(self, name: str) -> Neighbour | None:
        """Return None: there is no other resource."""
        return None

    async def of_type(self, type_name: str) -> list[Neighbour]:
        """Return no resources."""
        return []

    async def collect(self, reference_id: Any) -> None:
        """Do nothing: there is no other resource."""

    async def send(self, reference_id: Any, message: Any) -> str:
        """Fail: there is no other resource."""
        raise AssertionError(f"There is no resource {reference_id} to notify of {message}")


class Bench:
    """One type on one cloud. `advance(seconds)` moves the emulated cloud's time; the engine's `clock` with it."""

    def __init__(
        self,
        kind: type[ResourceType],
        cloud: Cloud,
        clock: ManualClock,
        advance: Callable[[float], None] = lambda seconds: None,
        stack: StackFacts | None = None,
        **services: Any,
    ) -> None:
        self.kind = kind()
        self.cloud = cloud
        self.clock = clock
        self.recorded: set[str] = set()
        self.entries: list[Outcome] = []
        self.stack = stack or StackFacts("stack-id", "web", cloud.project_id or "", "stack-id", "arn:web")
        self._advance = advance
        self._services = services

    # -- for tests -----------------------------------------------------------------------------------

    async def create(self, properties: Mapping[str, Any], name: str = "thing") -> Resource:
        """Create a resource and wait until it is ready. Raises BadProperties, ActionFailed, CloudError."""
        resource = self.resource(name)
        resource.properties = await self.finalized(properties)
        resource.given = self._given(properties)
        await self.run("create", resource)
        await self.observed(resource)
        return resource

    async def update(self, resource: Resource, properties: Mapping[str, Any]) -> Outcome:
        """Update the resource to new properties in place; return Done or Replace."""
        new_properties = await self.finalized(properties)
        changed = {
            name: new_properties.get(name)
            for name in new_properties
            if new_properties.get(name) != resource.properties.get(name)
        }
        if isinstance(self.kind, capabilities.ConditionallyReplaced):
            reason = self.kind.replacement_reason(resource.properties, new_properties, changed)
            if reason is not None:
                return Replace(reason)
        outcome = await self.run(
            "update", resource, previous=resource.properties, properties=new_properties, changed=changed
        )
        resource.properties, resource.given = new_properties, self._given(properties)
        if isinstance(outcome, Done):
            await self.observed(resource)
        return outcome

    async def observed(self, resource: Resource) -> None:
        """Check that the object has the properties that it has been created or updated with."""
        call = self.call(resource, "CHECK", resource.properties)
        found = await self.kind.observe(call)
        assert found == {}, f"{self.kind.type_name} shows other values than it was given: {found}"
        assert call.report.compared <= self.kind.properties.keys(), (
            f"{self.kind.type_name} compares {call.report.compared}"
        )
        readable = {name for name in resource.given or () if call.properties[name] is not None and self._is_read(name)}
        left = readable - call.report.compared - call.report.unread.keys()
        assert not left, f"{self.kind.type_name} declares that the live values of {sorted(left)} are known"

    def _is_read(self, name: str) -> bool:
        live = live_values(self.kind).get(name)
        return live is not None and live.is_compared

    def _given(self, properties: Mapping[str, Any]) -> frozenset[str]:
        """Return the properties that a template gives, by their present names."""
        newer = {prop.replaces: name for name, prop in self.kind.properties.items() if prop.replaces}
        return frozenset(newer.get(name, name) for name in properties)

    async def delete(self, resource: Resource) -> None:
        """Delete the resource and wait until it is deleted."""
        await self.run("delete", resource)

    async def replaced(self, old: Resource, properties: Mapping[str, Any], name: str = "new") -> Resource:
        """Replace a resource as the engine does: one that excludes its replacement is deleted first."""
        call = self.call(old, "UPDATE", old.properties)
        call.resource = replace(call.resource, replacement=await self.finalized(properties))
        exclusion = self.kind.exclusion
        if first := exclusion is not None and await exclusion.applies(self.kind, call):
            await self.delete(old)
        new = await self.create(properties, name)
        if not first:
            await self.delete(old)
        return new

    def excludes(self, properties: Mapping[str, Any], replacement: Mapping[str, Any]) -> bool:
        """Whether an object excludes its replacement, as far as their properties show."""
        return self.kind.exclusion is not None and self.kind.exclusion.rule(properties, replacement)

    async def attribute(self, resource: Resource, *key: str | int) -> Any:
        """One attribute, by name and path."""
        return (await self.attributes(resource, [key]))[key]

    async def attributes(self, resource: Resource, keys: Collection[AttributeKey]) -> dict[AttributeKey, Any]:
        """Several attributes in one call."""
        return await self.kind.read_attributes(self.call(resource, "READ", resource.properties), keys)

    async def crash_after_create(self, properties: Mapping[str, Any], name: str = "thing") -> Resource:
        """Call `create` once and discard the outcome, as an engine that dies does; return what `find` finds."""
        resource = self.resource(name)
        resource.properties = await self.finalized(properties)
        started = self.clock.now()
        await self.kind.create(self.call(resource, "CREATE", resource.properties, started=started))
        resource.physical_id = await self.kind.find(self.call(resource, "CREATE", resource.properties, started=started))
        return resource

    def reference(self, resource: Resource) -> Any:
        """Return the value of `get_resource`."""
        return self.kind.reference_id(
            Snapshot(
                resource.name, self._physical_name(resource), resource.physical_id, resource.data, resource.properties
            )
        )

    # -- acting as the engine ------------------------------------------------------------------------------------

    def resource(self, name: str = "thing") -> Resource:
        return Resource(name, new_id())

    async def finalized(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        """Coerced, defaulted, validated, names resolved."""
        finalizer = Finalizer()
        values = finalizer.properties(self.kind.properties, properties)
        problems = [problem.message for problem in finalizer.problems] + list(self.kind.validate(values))
        if problems:
            raise BadProperties("; ".join(problems))
        return await resolve_names(self.kind.properties, values, self.cloud)

    async def run(
        self,
        method: str,
        resource: Resource,
        *,
        properties: Mapping[str, Any] | None = None,
        previous: Mapping[str, Any] | None = None,
        changed: Mapping[str, Any] | None = None,
    ) -> Outcome:
        """Call a method until it is done, recording what it stores."""
        progress: dict[str, Any] = {}
        started = self.clock.now()
        self.entries = []
        for _ in range(MOST_ENTRIES):
            call = self.call(resource, method.upper(), properties or resource.properties, started=started)
            call.previous, call.changed, call.progress = previous, changed or {}, progress
            outcome: Outcome = await getattr(self.kind, method)(call)
            self.entries.append(outcome)
            progress = self._keep(resource, call, outcome)
            if isinstance(outcome, Done | Replace):
                return outcome
            if isinstance(outcome, Failed):
                raise ActionFailed(outcome)
            self.advance(outcome.after or 0.0)
        raise AssertionError(f"{method} is not done after {MOST_ENTRIES} entries: {self.entries[-3:]}")

    def _keep(self, resource: Resource, call: Call, outcome: Outcome) -> dict[str, Any]:
        if isinstance(outcome, Done | InProgress) and outcome.physical_id is not None:
            resource.physical_id = outcome.physical_id
            self.recorded.add(outcome.physical_id)
        resource.data, resource.metadata = json.loads(json.dumps(call.data)), call.metadata
        return cast(dict[str, Any], json.loads(json.dumps(call.progress)))

    def advance(self, seconds: float) -> None:
        """Advance the time of the engine and of the cloud."""
        if seconds > 0:
            self.clock.advance(seconds)
            self._advance(seconds)

    def call(
        self, resource: Resource, action: str, properties: Mapping[str, Any], started: float | None = None
    ) -> Call:
        """Call a method once, as the engine does."""
        now = self.clock.now()
        started = now if started is None else started
        return Call(
            action=action,
            physical_name=self._physical_name(resource),
            physical_id=resource.physical_id,
            properties=properties,
            previous=None,
            changed={},
            data=resource.data,
            progress={},
            metadata=resource.metadata,
            now=now,
            stack=self.stack,
            cloud=self.cloud,
            resource=ResourceFacts(
                resource.name, resource.uuid, self.kind.type_name, started, started, given=resource.given
            ),
            engine=EngineAccess(
                child=self._services.get("child"),  # type: ignore[arg-type]
                neighbours=self._services.get("neighbours", Alone()),
                configs=self._services.get("configs"),  # type: ignore[arg-type]
                deployments=self._services.get("deployments"),  # type: ignore[arg-type]
                unrecorded=self._unrecorded,
            ),
        )

    def _physical_name(self, resource: Resource) -> str:
        return physical_name(self.stack.name, resource.name, resource.uuid, self.kind.physical_name_limit)

    async def _unrecorded(self, physical_ids: Collection[str]) -> set[str]:
        await asyncio.sleep(0)
        return set(physical_ids) - self.recorded
