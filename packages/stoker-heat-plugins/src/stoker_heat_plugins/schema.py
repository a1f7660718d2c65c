"""Declarations of plug-ins as declarations of Stoker: properties, attributes, constraints, support status."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from heat.engine import attributes, constraints, properties, resource, support
from stoker.schema import constraints as own
from stoker.schema.property import Attribute, Change, Property, Support, Type
from stoker_heat_plugins.built_in_schema import BuiltInAttribute, BuiltInSchema, inner_schemata


class Unsupported(Exception):
    """A declaration of a plug-in that Stoker does not support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Custom(own.Constraint):
    """A constraint of a class that the plug-in defines itself."""

    rule: Any

    def _problem(self, value: Any) -> str | None:
        try:
            self.rule.validate(value)
        except Exception as error:
            return str(error)
        return None

    def to_schema(self) -> dict[str, Any]:
        return self._described({})


def to_properties(kind: Any) -> dict[str, Property]:
    """Return the properties of a plug-in's class. Raises Unsupported."""
    updatable = {*(kind.update_allowed_properties or ())}
    changes = defines(kind, "handle_update")
    return {
        name: _property(schema, changes, name in updatable)
        for name, schema in properties.schemata(kind.properties_schema).items()
    }


def defines(kind: Any, name: str) -> bool:
    """Return whether a class, or one that it derives from, defines a method that the interface's base does not."""
    return getattr(kind, name, None) is not getattr(resource.Resource, name, None)


def _property(schema: properties.Schema, changes: bool, updatable: bool = False) -> Property:
    if isinstance(schema, BuiltInSchema):
        return _built_in_property(schema, changes)
    if schema.type not in properties.Schema.TYPES:
        raise Unsupported(f"a property has the type {schema.type!r}, which does not exist")
    inner: Mapping[str, Property] | None = None
    items: Property | None = None
    if isinstance(schema.schema, Mapping):
        inner = {name: _property(each, changes) for name, each in properties.schemata(schema.schema).items()}
        if schema.type == properties.Schema.LIST:
            items, inner = Property(Type.MAP, schema=inner), None
    elif isinstance(schema.schema, properties.Schema):
        items = _property(schema.schema, changes)
    if schema.immutable:
        change = Change.REFUSE
    else:
        change = Change.UPDATE if changes and (schema.update_allowed or updatable) else Change.REPLACE
    default = list(schema.default) if isinstance(schema.default, tuple) else schema.default
    return Property(
        type=Type(schema.type),
        description=str(schema.description or ""),
        required=bool(schema.required) and default is None,
        default=default,
        constraints=tuple(_constraint(each) for each in schema.constraints),
        schema=inner,
        items=items,
        change=change,
        support=to_support(schema.support_status),
        implemented=schema.implemented,
    )


def _built_in_property(schema: BuiltInSchema, changes: bool) -> Property:
    """Return Stoker's own declaration of a property, with what the plug-in has changed of it. Raises Unsupported."""
    declared, changed = schema.declared, schema.changed()
    if "type" in changed:
        raise Unsupported(f"a property of one of Stoker's types has another type, {schema.type!r}")
    changed_attributes: dict[str, Any] = {name: getattr(schema, name) for name in _SAME_NAMES & changed}
    if {"update_allowed", "immutable"} & changed:
        in_place = Change.UPDATE if schema.update_allowed and changes else Change.REPLACE
        changed_attributes["change"] = Change.REFUSE if schema.immutable else in_place
    if "constraints" in changed:
        changed_attributes["constraints"] = tuple(_constraint(each) for each in schema.constraints)
    inner = {name: _property(each, changes) for name, each in inner_schemata(schema.schema).items()}
    former = {"*": declared.items} if declared.items is not None else dict(declared.schema or {})
    if any(inner.get(name) is not former.get(name) for name in inner.keys() | former.keys()):
        changed_attributes |= {"items": inner["*"]} if declared.items is not None else {"schema": inner}
    return replace(declared, **changed_attributes) if changed_attributes else declared


_SAME_NAMES = {"description", "default", "required", "implemented"}
"""The fields that have the same names in the interface and in Stoker."""


def _constraint(rule: Any) -> own.Constraint:
    """Return Stoker's constraint for one of the interface. Raises Unsupported."""
    description = str(rule.description or "") if isinstance(rule, constraints.Constraint) else ""
    match rule:
        case constraints.Length():
            return own.Length(min=rule.min, max=rule.max, description=description)
        case constraints.Range():
            return own.Range(min=rule.min, max=rule.max, description=description)
        case constraints.Modulo():
            return own.Modulo(step=rule.step, offset=rule.offset, description=description)
        case constraints.AllowedValues():
            return own.AllowedValues(values=rule.allowed, description=description)
        case constraints.AllowedPattern():
            error = own.pattern_error(rule.pattern)
            if error is not None:
                raise Unsupported(f"the pattern {rule.pattern!r} cannot be used: {error}")
            return own.AllowedPattern(pattern=rule.pattern, description=description)
        case constraints.CustomConstraint():
            return own.CustomConstraint(name=rule.name, description=description)
    if callable(getattr(rule, "validate", None)):
        return Custom(rule=rule, description=description)
    raise Unsupported(f"a constraint of the class {type(rule).__qualname__} cannot be used")


def to_attributes(kind: Any) -> dict[str, Attribute]:
    """Return the attributes of a plug-in's class, `show` included; they are read each time."""
    found = {"show": Attribute("Detailed information about the resource.", live=True)}
    for name, schema in kind.attributes_schema.items():
        if isinstance(schema, BuiltInAttribute):
            found[name] = schema.declared
            continue
        if not isinstance(schema, attributes.Schema):
            schema = attributes.Schema(str(schema))
        declared = Type(schema.type) if schema.type in attributes.Schema.TYPES else None
        found[name] = Attribute(
            str(schema.description or ""), declared, live=True, support=to_support(schema.support_status)
        )
    return found


def to_support(status: support.SupportStatus | None) -> Support:
    """Return Stoker's support status for one of the interface."""
    if status is None:
        return Support()
    previous = to_support(status.previous_status) if status.previous_status is not None else None
    return Support(status.status, status.version, status.message, previous)
