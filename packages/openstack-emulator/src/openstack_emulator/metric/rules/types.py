"""Types of resources: their attributes, and the checks of values of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.core.validation.fields import exact_boolean, exact_number, form, text, values
from openstack_emulator.core.validation.problems import Check, Problem, Reason, wrong_type
from openstack_emulator.metric.records import Attribute, Resource, ResourceType
from openstack_emulator.metric.rules.validation import (
    checked,
    identifier,
    integer,
    no_value,
    timestamp,
)

GENERIC, INSTANCE = "generic", "instance"
TYPES: Mapping[str, tuple[str, ...]] = {
    GENERIC: (),
    INSTANCE: ("display_name", "host", "image_ref", "flavor_id", "flavor_name", "server_group", "created_at",
               "launched_at", "deleted_at"),
    "image": ("name", "container_format", "disk_format"),
    "volume": ("display_name", "volume_type", "image_id", "instance_id"),
    "instance_disk": ("name", "instance_id"),
    "instance_network_interface": ("name", "instance_id"),
    "network": (),
    "loadbalancer": (),
    "stack": (),
}  # fmt: skip
"""The attributes of each type of a new cloud."""
OPTIONS: Mapping[str, dict[str, Check]] = {
    "string": {"min_length": integer(0), "max_length": integer(0)},
    "number": {"min": exact_number(), "max": exact_number()},
    "uuid": {},
    "bool": {},
    "datetime": {},
}
"""The types of attributes, with the options of each."""
RESERVED = frozenset({
    "id", "type", "metrics", "original_resource_id", "revision", "revision_start", "revision_end", "project_id",
    "user_id", "started_at", "ended_at", "creator", "created_by_user_id", "created_by_project_id", "get_metric",
})  # fmt: skip
"""Names that attributes cannot have."""
_TEXT = text(maximum=None)
LONGEST = 256
"""The length of a string, unless the attribute says otherwise."""


class ResourceTypes(Rules):
    """The types of resources."""

    def __init__(self, records: Records, resources: Table[Resource]) -> None:
        super().__init__(records)
        self.rows = records.table("resource_types", ResourceType, missing=_missing)
        self._resources = resources

    def seed(self) -> None:
        for name, attributes in TYPES.items():
            string = Attribute(type="string", required=False, min_length=0, max_length=255)
            self.rows.add(ResourceType(id=name, attributes=dict.fromkeys(attributes, string)))

    def require(self, name: str) -> ResourceType:
        """The type of this name. Raises ApiError 404."""
        return self.rows.require(name)

    def create(self, name: str, attributes: dict[str, Attribute]) -> ResourceType:
        """Add a type. Raises ApiError 409 for a name that is taken."""
        if name in self.rows:
            raise conflict(f"Resource type {name} already exists")
        return self.rows.add(ResourceType(id=name, attributes=attributes))

    def change(self, kind: ResourceType, attributes: dict[str, Attribute], filled: Mapping[str, object]) -> None:
        """Replace the attributes of a type; resources get the values `filled` of new ones, and lose removed ones."""
        kind.attributes = attributes
        self.rows.save(kind)
        for resource in self._resources.select(type=kind.id):
            values = {**resource.attributes, **filled}
            resource.attributes = {name: value for name, value in values.items() if name in attributes}
            self._resources.save(resource)

    def remove(self, kind: ResourceType) -> None:
        """Remove a type. Raises ApiError 400 while it is in use."""
        if kind.id == GENERIC or self._resources.first(type=kind.id) is not None:
            raise bad_request(f"Resource type {kind.id} is still in use")
        self.rows.remove(kind)


def _missing(key: str) -> ApiError:
    return not_found(f"Resource type {key} does not exist")


def described(attributes: Any) -> dict[str, Attribute]:
    """The complete descriptions of a new type's attributes. Raises ApiError 400."""
    checked({"attributes": attributes or {}}, form({"attributes": values(_attribute)}))
    for name in attributes or {}:
        if name in RESERVED:
            raise bad_request(f"Invalid input: Resource attribute name {name} is invalid")
    return {name: attribute(declaration) for name, declaration in (attributes or {}).items()}


def attribute(declaration: Any) -> Attribute:
    """The complete description of an attribute. Raises ApiError 400."""
    checked(declaration, _attribute)
    kind = declaration["type"]
    shortest, most = declaration.get("min_length", 0), declaration.get("max_length", LONGEST)
    return Attribute(
        type=kind,
        required=declaration.get("required", True),
        min_length=int(shortest) if kind == "string" else None,
        max_length=int(most) if kind == "string" else None,
        min=declaration.get("min"),
        max=declaration.get("max"),
    )


def _attribute(declaration: object) -> Problem | None:
    """The description of an attribute; one with wrong options has none of the types."""
    if not isinstance(declaration, dict):
        return wrong_type(declaration, "object")
    if "type" not in declaration:
        return Problem(Reason.MISSING, declaration, "type")
    options = OPTIONS.get(declaration["type"]) if isinstance(declaration["type"], str) else None
    if options is not None:
        checks: dict[str, Check] = {"type": _TEXT, "required": exact_boolean, "options": _fill, **options}
        if form(checks)(declaration) is None:
            return None
    return no_value(declaration["type"]).within("type")


def check_values(attributes: Mapping[str, Attribute]) -> dict[str, Check]:
    """The check of the values of each attribute."""
    return {name: _check(attribute) for name, attribute in attributes.items()}


def _check(attribute: Attribute) -> Check:
    checks: dict[str, Callable[[], Check]] = {
        "string": lambda: text(attribute.min_length or 0, attribute.max_length),
        "number": lambda: exact_number(attribute.min, attribute.max),
        "uuid": lambda: identifier,
        "bool": lambda: exact_boolean,
        "datetime": lambda: timestamp,
    }
    return checks[attribute.type]()


def required(attributes: Mapping[str, Attribute]) -> list[str]:
    """The names of the attributes that a resource must have."""
    return [name for name, attribute in attributes.items() if attribute.required]


def kept_values(values: Mapping[str, Any], attributes: Mapping[str, Attribute]) -> dict[str, object]:
    """The values of attributes in the form in which they are kept: floats, and UUIDs with dashes."""
    forms: dict[str, Callable[[Any], Any]] = {"number": float, "uuid": lambda value: str(UUID(str(value)))}
    return {
        name: value if value is None else forms.get(attributes[name].type, lambda kept: kept)(value)
        for name, value in values.items()
        if name in attributes
    }


def _fill(value: object) -> Problem | None:
    """The options of a new attribute: the value that existing resources get."""
    return None if isinstance(value, dict) and value.keys() <= {"fill"} else wrong_type(value, "object")
