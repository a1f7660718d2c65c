"""OS::Heat::TestResource"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Collection, Iterable, Mapping

from stoker.base.errors import CloudError
from stoker.cloud.services import services
from stoker.plugins.capabilities import ConditionallyReplaced
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.resource import AttributeKey, Call, ResourceType, Snapshot
from stoker.resources.base import value_at
from stoker.resources.declare import custom
from stoker.resources.heat.pause import seconds_left
from stoker.schema.property import Attribute, Change, Property, Support, Type

_POLL = 1.0


def _seconds(description: str) -> Property:
    return Property(Type.NUMBER, description, change=Change.UPDATE)


class TestResource(ResourceType, ConditionallyReplaced):
    """Behaves as its properties state: waits, fails, or requires replacement. For tests of stacks."""

    __test__ = False

    type_name = "OS::Heat::TestResource"
    description = "For tests: behaves as its properties state; waits, fails, or requires replacement."
    support = Support(version="5.0.0")
    local = True

    properties = {
        "value": Property(
            description="The value of the attribute `output`.", default="test_string", change=Change.UPDATE
        ),
        "fail": Property(Type.BOOLEAN, "Whether creating and updating fail.", default=False, change=Change.UPDATE),
        "update_replace": Property(
            Type.BOOLEAN, "Whether a changed value replaces the resource.", default=False, change=Change.UPDATE
        ),
        "update_replace_value": Property(
            description="Any string; changing it replaces the resource.", support=Support(version="7.0.0")
        ),
        "wait_secs": Property(
            Type.NUMBER,
            "Seconds that each action takes; with a negative number, actions never end.",
            default=0,
            change=Change.UPDATE,
        ),
        "action_wait_secs": Property(
            Type.MAP,
            "Seconds that single actions take, instead of `wait_secs`.",
            schema={
                "create": _seconds("Seconds that creating takes."),
                "update": _seconds("Seconds that updating takes."),
                "delete": _seconds("Seconds that deleting takes."),
            },
            change=Change.UPDATE,
        ),
        "attr_wait_secs": Property(
            Type.NUMBER,
            "Seconds that reading attributes takes.",
            default=0,
            change=Change.UPDATE,
            support=Support(version="6.0.0"),
        ),
        "constraint_prop_secs": Property(
            Type.NUMBER,
            "A value for the constraint `test_constr`.",
            default=0,
            constraints=custom("test_constr"),
            change=Change.UPDATE,
            support=Support(version="6.0.0"),
        ),
        "client_name": Property(
            description="A service to send a request to during each wait (`nova`).", default="", change=Change.UPDATE
        ),
        "entity_name": Property(
            description="The collection in the request's path (`servers`).", default="", change=Change.UPDATE
        ),
    }
    attributes = {"output": Attribute("The value.", live=True)}

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        service = properties["client_name"]
        if isinstance(service, str) and service and service not in services():
            yield f"client_name: unknown service {service!r}; the known services are {', '.join(sorted(services()))}"

    def replacement_reason(
        self, before: Mapping[str, object], after: Mapping[str, object], changed: Mapping[str, object]
    ) -> str | None:
        return "update_replace is true" if "value" in changed and after["update_replace"] else None

    async def create(self, call: Call) -> Outcome:
        if not call.properties["fail"]:
            call.data["value"] = call.properties["value"]
        return await self._wait(call, "create", call.properties["fail"])

    async def update(self, call: Call) -> Outcome:
        fail, changed = call.properties["fail"], "value" in call.changed
        if changed and not fail:
            call.data["value"] = call.properties["value"]
        return await self._wait(call, "update", fail) if changed or fail else Done()

    async def delete(self, call: Call) -> Outcome:
        return await self._wait(call, "delete", False)

    async def _wait(self, call: Call, action: str, fail: bool) -> Outcome:
        own = (call.properties["action_wait_secs"] or {}).get(action)
        seconds = call.properties["wait_secs"] if own is None else own
        remaining = seconds_left(call, seconds)
        if seconds < 0 or remaining > 0:
            return await self._pause(call, None if seconds < 0 else remaining)
        return Failed(f"Test Resource failed {call.resource.name}", "ValueError") if fail else _made(call)

    async def _pause(self, call: Call, remaining: float | None) -> Outcome:
        """Send the request that the properties name, if any, then wait: `remaining` seconds, None for no limit."""
        service, collection = call.properties["client_name"], call.properties["entity_name"]
        if not (service and collection):
            return InProgress(after=remaining, physical_id=call.physical_name)
        with contextlib.suppress(CloudError):
            await call.cloud.get(service, f"/{collection}/{call.physical_name}")
        return InProgress(after=_POLL if remaining is None else min(_POLL, remaining), physical_id=call.physical_name)

    async def check(self, call: Call) -> Outcome:
        return (
            Done() if call.physical_id is not None else Failed("the resource has not been created", "ResourceInError")
        )

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        await asyncio.sleep(call.properties["attr_wait_secs"])
        value = call.data.get("value")
        return {key: value_at(value, key[1:]) if key[0] == "output" else None for key in keys}

    def reference_id(self, resource: Snapshot) -> object:
        return resource.physical_name if resource.physical_id is not None else resource.name


def _made(call: Call) -> Done:
    return Done(physical_id=call.physical_name)
