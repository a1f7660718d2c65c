"""The attributes of each kind of record, as data, and how a request's body becomes a record.

The kinds themselves stand in `layer2` (networks, ports …), `layer3`, `security` and `services`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property
from typing import Any, Generic, TypeVar

from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.typed import stored_names
from openstack_emulator.core.validation.converting import Converter
from openstack_emulator.network.records.core import OwnedRecord
from openstack_emulator.network.rules.attributes import NAME, NEUTRON, NULLABLE_TEXT, anything
from openstack_emulator.network.rules.errors import disallowed, foreign_project

T = TypeVar("T", bound=OwnedRecord)
Values = Mapping[str, Any]
"""The attributes that a request gives, checked, by their names in the API."""
OWNERS = ("project_id", "tenant_id")
"""The attributes that name the project of a record."""


class Absent(Enum):
    """What a create without the attribute means."""

    REQUIRED = auto()
    OMITTED = auto()


REQUIRED = Absent.REQUIRED
OMITTED = Absent.OMITTED


class Deletion(Enum):
    """The effect of a deletion on a record that refers to the deleted one: it forbids that, or goes with it, or the
    rules of its kind see to it."""

    REFUSE = auto()
    CASCADE = auto()
    RULED = auto()


@dataclass(frozen=True)
class Actor:
    """Who does something: a project's member or an admin (whose project may be None)."""

    project_id: str | None
    admin: bool = False

    def owns(self, record: OwnedRecord) -> bool:
        return self.admin or record.project_id == self.project_id


CLOUD = Actor(None, admin=True)


@dataclass(frozen=True)
class Attribute:
    """One attribute of a kind.

    check: see `attributes`. default: a value, or a function that makes one (`list`), or an `Absent`.
    create, update: whether a request may give it. admin: only an admin may give anything but the default.
    hidden: only an admin sees it. refers: plural of the kind whose id it holds; on_delete: see `Deletion`.
    many: it holds a list of ids. is_request: what a request
    gives is not what is stored: the rules decide that.
    """

    check: Converter[object] = anything
    default: object = REQUIRED
    create: bool = True
    update: bool = True
    admin: bool = False
    hidden: bool = False
    refers: str | None = None
    on_delete: Deletion = Deletion.REFUSE
    many: bool = False
    is_request: bool = False


def read_only(default: object = OMITTED, hidden: bool = False, refers: str | None = None) -> Attribute:
    """An attribute that the service sets."""
    deletion = Deletion.RULED if refers else Deletion.REFUSE
    return Attribute(default=default, create=False, update=False, hidden=hidden, refers=refers, on_delete=deletion)


NAMED: Mapping[str, Attribute] = {
    "id": read_only(),
    "name": Attribute(NAME, ""),
    "description": Attribute(NULLABLE_TEXT, ""),
    "tenant_id": Attribute(NULLABLE_TEXT, OMITTED, update=False),
    "project_id": Attribute(NULLABLE_TEXT, OMITTED, update=False),
}
UNNAMED: Mapping[str, Attribute] = {key: value for key, value in NAMED.items() if key not in ("name", "description")}
TIMES: Mapping[str, Attribute] = {
    "created_at": read_only(),
    "updated_at": read_only(),
    "revision_number": read_only(),
}
STANDARD: Mapping[str, Attribute] = {**NAMED, **TIMES, "tags": read_only(list)}
"""What networks, subnets, ports, routers … have in common."""


@dataclass(frozen=True)
class ResourceKind(Generic[T]):
    """One kind of record.

    record: the class of its records. name, plural: body keys. path: of the collection below `/v2.0`.
    error: prefix of `…NotFound` and `…InUse`. label: how messages call it.
    in_use, unknown: messages of the conflict and of the 404, with `{id}` (and `{parent}`).
    quota: name of its quota.
    indexes: further fields that lists are often filtered by. derived: attributes made when it is shown.
    admin_write: only an admin may create, update or delete. shareable: it has `shared`, made of RBAC policies.
    parent: the attribute that holds the id its path begins with (`{parent_id}`).
    states: `status` when created, and soon after. lingers: a deleted one shows PENDING_DELETE for a while.
    owned: lists can be filtered by the project. owner: the attribute with the object that it is a part of, to which
    only the project of that object may add one.
    """

    record: type[T]
    name: str
    plural: str
    path: str
    error: str
    label: str
    attributes: Mapping[str, Attribute]
    in_use: str = "{label} {id} is in use."
    unknown: str = "{label} {id} could not be found."
    quota: str | None = None
    indexes: tuple[str, ...] = ()
    derived: frozenset[str] = frozenset()
    admin_write: bool = False
    shareable: bool = False
    parent: str = ""
    states: tuple[str, ...] = ()
    lingers: bool = False
    owned: bool = True
    owner: str = ""

    def missing(self, key: str, parent: str = "") -> ApiError:
        """404 for a record that is not there, or that the caller may not see. parent: the ID its path begins with."""
        message = self.unknown.format(label=self.label, id=key, parent=parent)
        return not_found(message, f"{self.error}NotFound")

    @cached_property
    def references(self) -> dict[str, Attribute]:
        """The attributes that hold ids of other records."""
        return {name: attribute for name, attribute in self.attributes.items() if attribute.refers is not None}

    @cached_property
    def indexed(self) -> frozenset[str]:
        single = {name for name, attribute in self.references.items() if not attribute.many}
        return frozenset({"project_id", *single, *self.indexes})

    @cached_property
    def stored(self) -> Mapping[str, str]:
        """The fields of records by the names in the API."""
        return stored_names(self.record)

    @cached_property
    def filterable(self) -> frozenset[str]:
        """The fields that lists may be filtered and sorted by."""
        fields = frozenset({*self.attributes, *self.derived, "project_id", *filter(None, (self.parent,))})
        return fields if self.owned else fields - {"project_id", "tenant_id"}

    @cached_property
    def required(self) -> frozenset[str]:
        return frozenset(name for name, attribute in self.attributes.items() if attribute.default is REQUIRED)

    @cached_property
    def hidden(self) -> tuple[str, ...]:
        return tuple(name for name, attribute in self.attributes.items() if attribute.hidden)

    @cached_property
    def fields(self) -> Mapping[str, str]:
        """The fields of a record, by the names of attributes whose values records have as they are given."""
        wishes = {name for name, attribute in self.attributes.items() if attribute.is_request}
        return {name: field for name, field in stored_names(self.record).items() if name not in wishes}

    @cached_property
    def _constants(self) -> dict[str, Any]:
        return {self.fields[name]: a.default for name, a in self._defaulted if not callable(a.default)}

    @cached_property
    def _factories(self) -> list[tuple[str, Callable[[], object]]]:
        return [(self.fields[name], a.default) for name, a in self._defaulted if callable(a.default)]

    @property
    def _defaulted(self) -> list[tuple[str, Attribute]]:
        known = [(name, a) for name, a in self.attributes.items() if name in self.fields]
        return [(name, a) for name, a in known if not isinstance(a.default, Absent)]

    def draft(self, key: str, project_id: str, attributes: Values) -> T:
        """A new record with the attributes that a request gives, and the defaults of the others."""
        values = {**self._constants, **{name: make() for name, make in self._factories}, **self._known(attributes)}
        return self.record(**{**values, "id": key, "project_id": project_id})

    def changed(self, record: T, values: Values) -> T:
        """A copy of a record with the attributes that a request gives."""
        after = copy(record)
        for name, value in self._known(values).items():
            setattr(after, name, value)
        return after

    def differences(self, record: T, after: T) -> dict[str, Any]:
        """The fields by which a record differs from what it is to be."""
        names = stored_names(self.record).values()
        return {name: value for name in names if (value := getattr(after, name)) is not getattr(record, name)}

    def _known(self, values: Values) -> dict[str, object]:
        fields = self.fields
        return {fields[name]: value for name, value in values.items() if name in fields}

    def for_create(self, body: Mapping[str, object], actor: Actor) -> Values:
        """The given attributes, checked; 400 for unknown, missing, read-only or bad ones, 403 for an admin's."""
        if absent := self.required - body.keys():
            name = min(absent)
            raise bad_request(f"Failed to parse request. Required attribute '{name}' not specified")
        return {name: self._accept(name, value, actor, "create") for name, value in body.items()}

    def for_update(self, body: Mapping[str, object], actor: Actor) -> Values:
        """As `for_create`, for changes."""
        return {name: self._accept(name, value, actor, "update") for name, value in body.items()}

    def _accept(self, name: str, value: object, actor: Actor, action: str) -> object:
        attribute = self.attributes.get(name)
        if attribute is None:
            raise bad_request(f"Unrecognized attribute(s) '{name}'")
        if action == "create" and not attribute.create:
            raise bad_request(f"Attribute '{name}' not allowed in POST")
        if name in OWNERS and value != actor.project_id and not actor.admin:
            raise foreign_project()
        if action == "update" and not attribute.update:
            raise bad_request(f"Cannot update read-only attribute {name}")
        checked = NEUTRON.converted(name, value, attribute.check)
        changed = action == "update" or checked != attribute.default
        if attribute.admin and changed and not actor.admin:
            raise disallowed(f"{action}_{self.name}:{name}")
        return checked


@dataclass
class Catalog:
    """All kinds by plural, and who refers to whom."""

    kinds: dict[str, ResourceKind[Any]] = field(default_factory=dict)

    def add(self, *kinds: ResourceKind[Any]) -> None:
        self.kinds.update({kind.plural: kind for kind in kinds})

    @cached_property
    def by_record(self) -> dict[type[OwnedRecord], ResourceKind[Any]]:
        """The kinds by the classes of their records."""
        return {kind.record: kind for kind in self.kinds.values()}

    @cached_property
    def referrers(self) -> dict[str, list[tuple[ResourceKind[Any], str, Attribute]]]:
        """Plural → the attributes, of which kinds, that hold ids of it."""
        result: dict[str, list[tuple[ResourceKind[Any], str, Attribute]]] = {plural: [] for plural in self.kinds}
        for kind in self.kinds.values():
            for name, attribute in kind.references.items():
                result[str(attribute.refers)].append((kind, name, attribute))
        return result
