"""OS::Heat::Value"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from stoker.plugins.outcome import Done, Failed, Outcome
from stoker.plugins.resource import AttributeKey, Call, ResourceType, Snapshot
from stoker.resources.base import value_at
from stoker.resources.declare import one_of
from stoker.schema.property import Attribute, Change, Finalizer, Property, Support, Type

_TYPES = {
    "string": Type.STRING,
    "number": Type.NUMBER,
    "comma_delimited_list": Type.LIST,
    "json": Type.MAP,
    "boolean": Type.BOOLEAN,
}


class Value(ResourceType):
    """A value that other resources refer to."""

    type_name = "OS::Heat::Value"
    description = "A value that is computed once and referenced from several places."
    support = Support(version="7.0.0")
    local = True

    properties = {
        "value": Property(Type.ANY, "The value.", required=True, change=Change.UPDATE),
        "type": Property(
            description="The type that the value must have; any type if not given.",
            constraints=one_of("string", "number", "comma_delimited_list", "json", "boolean"),
            change=Change.UPDATE,
        ),
    }
    attributes = {"value": Attribute("The value, converted to the type if one is given.")}

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        finalizer = Finalizer()
        _converted(finalizer, properties)
        return [f"value: {problem.message}" for problem in finalizer.problems]

    async def create(self, call: Call) -> Outcome:
        return self._failure(call) or Done(physical_id=call.physical_name)

    async def update(self, call: Call) -> Outcome:
        return self._failure(call) or Done()

    def _failure(self, call: Call) -> Outcome | None:
        """Return the failure of a value that validation could not check; None if it is valid."""
        problem = next(iter(self.validate(call.properties)), None)
        return Failed(problem, "ValueError") if problem else None

    async def read_attributes(self, call: Call, keys: Collection[AttributeKey]) -> dict[AttributeKey, object]:
        value = _converted(Finalizer(), call.properties)
        return {key: value_at(value, key[1:]) if key[0] == "value" else None for key in keys}

    def reference_id(self, resource: Snapshot) -> object:
        return resource.physical_name if resource.physical_id is not None else resource.name


def _converted(finalizer: Finalizer, properties: Mapping[str, object]) -> object:
    kind = _TYPES.get(str(properties.get("type")), Type.ANY)
    return finalizer.value(Property(kind), properties.get("value"), ())
