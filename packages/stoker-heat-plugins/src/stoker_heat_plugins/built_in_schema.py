"""Declarations of Stoker's own types as declarations of the interface, which plug-ins copy and change.

What a plug-in has not changed keeps all of Stoker's declaration, of which the interface has only a part.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy

from heat.engine import attributes, constraints, properties, support
from stoker.schema import constraints as own
from stoker.schema.property import Attribute, Change, Property, Support


class BuiltInSchema(properties.Schema):
    """The declaration of a property. `declared` is Stoker's, and `former` what the interface has of it."""

    def __init__(self, declared: Property) -> None:
        schema: object = None
        if declared.schema is not None:
            schema = {name: BuiltInSchema(each) for name, each in declared.schema.items()}
        elif declared.items is not None:
            schema = BuiltInSchema(declared.items)
        super().__init__(
            str(declared.type),
            declared.description,
            default=declared.default,
            schema=schema,
            required=declared.required,
            constraints=[made for each in declared.constraints if (made := _constraint(each)) is not None],
            implemented=declared.implemented,
            update_allowed=declared.change is Change.UPDATE,
            immutable=declared.change is Change.REFUSE,
            support_status=_support(declared.support),
        )
        self.declared = declared
        self.former = {**vars(self), "constraints": list(self.constraints)}

    def __deepcopy__(self, memo: dict[int, object]) -> BuiltInSchema:
        copied = BuiltInSchema(self.declared)
        copied.schema = deepcopy(self.schema, memo)
        for name in self.changed():
            setattr(copied, name, deepcopy(getattr(self, name), memo))
        return copied

    def changed(self) -> set[str]:
        """Return the names of the fields that a plug-in has changed, other than `schema`."""
        return {name for name in _SIMPLE if getattr(self, name) != self.former[name]}


_SIMPLE = (
    "type", "description", "default", "required", "constraints", "implemented", "update_allowed", "immutable",
)  # fmt: skip


class BuiltInAttribute(attributes.Schema):
    """The declaration of an attribute; `declared` is Stoker's."""

    def __init__(self, declared: Attribute) -> None:
        super().__init__(
            declared.description,
            _support(declared.support),
            type=str(declared.type) if declared.type is not None else None,
        )
        self.declared = declared


def _constraint(rule: own.Constraint) -> constraints.Constraint | None:
    description = rule.description or None
    match rule:
        case own.Length():
            return constraints.Length(rule.min, rule.max, description)
        case own.Range():
            return constraints.Range(rule.min, rule.max, description)
        case own.Modulo():
            return constraints.Modulo(rule.step, rule.offset, description)
        case own.AllowedValues():
            return constraints.AllowedValues(rule.values, description)
        case own.Offered():
            return constraints.AllowedValues(list(rule.names()), description)
        case own.AllowedPattern():
            return constraints.AllowedPattern(rule.pattern, description)
        case own.CustomConstraint():
            return constraints.CustomConstraint(rule.name, description)
    return None


def _support(status: Support) -> support.SupportStatus:
    previous = _support(status.previous) if status.previous is not None else None
    return support.SupportStatus(status.status, status.message, status.version, previous)


def inner_schemata(schema: object) -> Mapping[str, properties.Schema]:
    """Return the declarations inside one: those of a map's keys, or that of a list's elements under `*`."""
    if isinstance(schema, properties.Schema):
        return {"*": schema}
    return properties.schemata(schema) if isinstance(schema, Mapping) else {}
