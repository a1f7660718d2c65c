"""Properties of a resource type: their declarations, and the values of one resource."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from heat.engine import constraints as constr
from heat.engine import support


class Schema:
    """The declaration of a property."""

    KEYS = (TYPE, DESCRIPTION, DEFAULT, SCHEMA, REQUIRED, CONSTRAINTS, UPDATE_ALLOWED, IMMUTABLE) = (
        "type",
        "description",
        "default",
        "schema",
        "required",
        "constraints",
        "update_allowed",
        "immutable",
    )
    TYPES = (INTEGER, STRING, NUMBER, BOOLEAN, MAP, LIST, ANY) = (
        "Integer",
        "String",
        "Number",
        "Boolean",
        "Map",
        "List",
        "Any",
    )

    def __init__(
        self,
        data_type: str,
        description: str | None = None,
        default: object = None,
        schema: object = None,
        required: bool = False,
        constraints: list[constr.Constraint] | None = None,
        implemented: bool = True,
        update_allowed: bool = False,
        immutable: bool = False,
        support_status: support.SupportStatus | None = None,
        allow_conversion: bool = False,
    ) -> None:
        self.type, self.description, self.default, self.schema = data_type, description, default, schema
        self.required, self.constraints, self.implemented = required, list(constraints or ()), implemented
        self.update_allowed, self.immutable, self.allow_conversion = update_allowed, immutable, allow_conversion
        self.support_status = support_status or support.SupportStatus()

    @classmethod
    def from_legacy(cls, legacy: Mapping[str, Any]) -> Schema:
        """Return the schema for the map of keys (`Type`, `Default`, …) that plug-ins declared before 2013."""
        bounds = {"Value": constr.Range, "Length": constr.Length}
        rules: list[constr.Constraint] = [
            kind(legacy.get(f"Min{name}"), legacy.get(f"Max{name}"))
            for name, kind in bounds.items()
            if f"Min{name}" in legacy or f"Max{name}" in legacy
        ]
        if "AllowedValues" in legacy:
            rules.append(constr.AllowedValues(legacy["AllowedValues"]))
        if "AllowedPattern" in legacy:
            rules.append(constr.AllowedPattern(legacy["AllowedPattern"]))
        inner = legacy.get("Schema")
        if isinstance(inner, Mapping):
            inner = cls.from_legacy(inner) if legacy["Type"] == cls.LIST else schemata(inner)
        return cls(
            legacy["Type"],
            legacy.get("Description"),
            legacy.get("Default"),
            inner,
            legacy.get("Required", False),
            rules,
            legacy.get("Implemented", True),
            legacy.get("UpdateAllowed", False),
        )


def schemata(declared: Mapping[str, Any]) -> dict[str, Schema]:
    """Return the declarations as `Schema` objects."""
    return {
        name: schema if isinstance(schema, Schema) else Schema.from_legacy(schema) for name, schema in declared.items()
    }


class Property:
    """One declared property."""

    def __init__(self, schema: Schema, name: str | None = None, context: object = None) -> None:
        self.schema, self.name, self.context = schema, name, context

    def required(self) -> bool:
        """Return whether a value is required."""
        return self.schema.required

    def implemented(self) -> bool:
        """Return whether the property has an effect."""
        return self.schema.implemented

    def update_allowed(self) -> bool:
        """Return whether the property can be changed in place."""
        return self.schema.update_allowed

    def has_default(self) -> bool:
        """Return whether the property has a default."""
        return self.schema.default is not None

    def default(self) -> Any:
        """Return the default."""
        return self.schema.default

    def type(self) -> str:
        """Return the type's name."""
        return self.schema.type


class Properties(Mapping[str, Any]):
    """The values of a resource's properties: every declared one, None for those without a value."""

    def __init__(
        self,
        schema: Mapping[str, object],
        data: Mapping[str, Any],
        resolver: Callable[[object], object] | None = None,
        parent_name: str | None = None,
        context: object = None,
        **_other: object,
    ) -> None:
        self.props = {name: Property(each, name, context) for name, each in schemata(schema).items()}
        self.context = context
        self.data: dict[str, Any] = deepcopy(dict(data))

    def __getitem__(self, name: str) -> object:
        if name not in self.props:
            raise KeyError(f"there is no property {name!r}")
        value = self.data.get(name)
        return self.props[name].default() if value is None else value

    def __iter__(self) -> Iterator[str]:
        return iter(self.props)

    def __len__(self) -> int:
        return len(self.props)

    def __contains__(self, name: object) -> bool:
        return name in self.props

    def get_user_value(self, name: str, validate: bool = False) -> object:
        """Return the value that the template gives, None for a default."""
        return self.data.get(name)

    def validate(self, with_value: bool = True) -> None:
        """The values have been checked before a plug-in gets them."""
