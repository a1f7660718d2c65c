"""Base of software configurations: this service stores them itself, and they are immutable."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from stoker.plugins.object_ids import ObjectIds
from stoker.plugins.outcome import Done, Failed, Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import AttributeKey, Call, ResourceType
from stoker.resources.base import value_at
from stoker.resources.declare import one_of
from stoker.schema.property import Attribute, Property, Type
from stoker.schema.unknown import is_unknown
from stoker.template.parameter_types import BY_CFN_NAME

UNGROUPED = "Heat::Ungrouped"

_IO_TYPES = ("String", "Number", "CommaDelimitedList", "Json", "Boolean")
_NAME = Property(description="The name.", required=True)
_DESCRIPTION = Property(description="Description of the value.")
_TYPE = Property(description="The type of the value.", default="String", constraints=one_of(*_IO_TYPES))

INPUTS = Property(
    Type.LIST,
    "Input values of the configuration.",
    items=Property(
        Type.MAP,
        schema={
            "name": _NAME,
            "description": _DESCRIPTION,
            "type": _TYPE,
            "default": Property(Type.ANY, "The value if a deployment gives none."),
            "replace_on_change": Property(
                Type.BOOLEAN, "Whether a changed value replaces the deployment.", default=False
            ),
        },
    ),
)
OUTPUTS = Property(
    Type.LIST,
    "Output values that the software reports.",
    items=Property(
        Type.MAP,
        schema={
            "name": _NAME,
            "description": _DESCRIPTION,
            "type": _TYPE,
            "error_output": Property(
                Type.BOOLEAN, "Whether a reported value means that the deployment has failed.", default=False
            ),
        },
    ),
)
OPTIONS = Property(Type.MAP, "Settings for the tool that applies the configuration.")


class StoredConfig(ResourceType):
    """A configuration stored under the resource's own ID, so that storing it is idempotent."""

    service = "heat"
    object_ids = ObjectIds(kind="heat software_configs")
    recovery = Recovery(
        RecoveryMethod.IDENTIFIER,
        "The configuration's ID is the resource's ID, and storing it again changes nothing.",
    )
    attributes = {"config": Attribute("The configuration as stored.", Type.STRING)}

    def validate(self, properties: Mapping[str, object]) -> Iterator[str]:
        inputs = properties.get("inputs")
        for index, entry in enumerate(inputs if isinstance(inputs, list) else []):
            if not is_unknown(entry):
                yield from (f"inputs.{index}: {problem}" for problem in _default_problems(entry))

    @abstractmethod
    async def body(self, call: Call) -> dict[str, Any]:
        """Return what is stored besides the name: `config`, `group`, `inputs`, `outputs`, `options`.

        `stacks` are the IDs of other stacks whose configurations are part of it.
        """

    async def create(self, call: Call) -> Outcome:
        stored = await self.body(call)
        if stored.get("inputs"):
            stored["inputs"] = [_with_typed_default(entry) for entry in stored["inputs"]]
        makers = [call.stack.id, *(stored.get("stacks") or ())]
        named = {"name": call.physical_name, "group": UNGROUPED, **stored, "stacks": makers}
        await call.engine.configs.create(call.resource.uuid, named)
        return Done(physical_id=call.resource.uuid)

    async def adopt(self, call: Call) -> Outcome:
        if await call.engine.configs.get(str(call.physical_id)) is None:
            return Failed(f"software configuration {call.physical_id} does not exist", "NotFound")
        return Done()

    async def delete(self, call: Call) -> Outcome:
        await call.engine.configs.delete(call.physical_id or call.resource.uuid)
        return Done()

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        stored = await call.engine.configs.get(call.physical_id) if call.physical_id is not None else None
        config = None if stored is None else stored.get("config")
        return {key: value_at(config, key[1:]) if key[0] == "config" else None for key in keys}


def _default_problems(entry: Mapping[str, Any]) -> Iterator[str]:
    try:
        _with_typed_default(entry)
    except ValueError:
        yield f"the default {entry['default']!r} is not {BY_CFN_NAME[entry['type']].expects}"


def _with_typed_default(entry: Mapping[str, Any]) -> Mapping[str, object]:
    """Return an input with its default converted to its type; the empty string means no value in every type."""
    default = entry["default"]
    if default is None or default == "" or is_unknown(default) or is_unknown(entry["type"]):
        return entry
    return {**entry, "default": BY_CFN_NAME[entry["type"]].convert(default)}
