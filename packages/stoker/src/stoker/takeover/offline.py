"""Read attributes of resources from their records alone: a type that needs a service has none here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from stoker.base.ids import arn
from stoker.engine.calls.children import members_of
from stoker.engine.planning.planner import DesiredState
from stoker.engine.planning.rehearsal import NotPredictable, at_once
from stoker.engine.records.scope import RecordedScope
from stoker.engine.records.services import EngineServices
from stoker.engine.records.state import ResourceState
from stoker.plugins.resource import AttributeKey, Call, EngineAccess, Member, ResourceFacts, StackFacts, finalized
from stoker.resources.heat.signals.signal_url import SIGNAL, signed_url
from stoker.schema.unknown import Unknown
from stoker.store.records import Stack


class _Absent:
    """Replaces everything outside the record."""

    def __getattr__(self, name: str) -> object:
        raise NotPredictable(f"it needs {name}")


class OfflineChild:
    """A nested stack that is not recorded yet, as attributes of its parent resource read it."""

    def __init__(
        self, stack: Stack, current: Mapping[str, ResourceState], desired: DesiredState, scope: RecordedScope
    ) -> None:
        self._stack = stack
        self._current = current
        self._desired = desired
        self._scope = scope

    async def members(self) -> list[Member]:
        """Return the resources in creation order."""
        return await members_of(self._current.values())

    async def member_attribute(self, member: str, key: AttributeKey) -> object:
        """Return an attribute of a resource. Raises NotPredictable if it is not known."""
        value = self._scope.attribute(member, str(key[0]), key[1:])
        if isinstance(value, Unknown):
            raise NotPredictable(f"the attribute {key[0]} of {member} is not recorded")
        return value

    async def outputs(self) -> Mapping[str, Any]:
        """Return the outputs, unknown where they depend on a service."""
        definition = self._desired.definition
        return {
            name: definition.resolve(output.value, self._scope) if output.enabled else None
            for name, output in definition.outputs.items()
        }

    async def template(self) -> Mapping[str, Any]:
        """Return the template."""
        return self._desired.inputs.template.data


def read_offline(
    services: EngineServices, stack: Stack, state: ResourceState, key: AttributeKey, child: OfflineChild | None
) -> object:
    """Return an attribute that the record determines; an unknown value if a service is needed."""
    unknown = Unknown.of(state.row.name, *key)  # type: ignore[arg-type]
    if state.type.nested and child is None:
        return unknown
    try:
        return at_once(state.type.read_attributes(_call(services, stack, state, child), {key})).get(key)
    except NotPredictable:
        return unknown


def sign_url(services: EngineServices, stack: Stack, state: ResourceState) -> str | None:
    """Return the signed URL of a scaling policy from its key pair; None if its address is not configured."""
    try:
        return signed_url(_call(services, stack, state, None), SIGNAL)
    except NotPredictable:
        return None


def _call(services: EngineServices, stack: Stack, state: ResourceState, child: OfflineChild | None) -> Call:
    absent, now = cast(Any, _Absent()), services.clock.now()
    return Call(
        action=state.row.action,
        physical_name=state.physical_name,
        physical_id=state.row.physical_id,
        properties=finalized(state.type, state.properties),
        previous=None,
        changed={},
        data=dict(state.stored.data),
        progress={},
        metadata=state.stored.metadata,
        now=now,
        stack=_facts(services, stack),
        cloud=absent,
        resource=ResourceFacts(state.row.name, state.row.uuid, state.row.type, state.row.created_at, started_at=now),
        engine=EngineAccess(
            child=cast(Any, child) if child is not None else absent,
            neighbours=absent,
            configs=absent,
            deployments=absent,
        ),
    )


def _facts(services: EngineServices, stack: Stack) -> StackFacts:
    name = arn(stack.project_id, stack.name, stack.id)
    return StackFacts(
        stack.id, stack.name, stack.project_id, stack.root_id, name, created_at=stack.created_at,
        user_project_id=stack.user_project_id, region=services.settings.region_name,
        options=services.settings.type_options,
    )  # fmt: skip
