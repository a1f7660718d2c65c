"""What all kinds of Keystone's objects have in common: create, show, list, change and delete, from a description."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic

from openstack_emulator.core.cloud import new_hex_id
from openstack_emulator.core.errors import bad_request, forbidden
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import T, Table
from openstack_emulator.core.typed import Readable, TypedRecord
from openstack_emulator.core.validation.fields import form, optional
from openstack_emulator.core.validation.problems import Check
from openstack_emulator.identity.records import Extensible
from openstack_emulator.identity.routes.lists import filtered, list_response
from openstack_emulator.identity.routes.validation import Fields, checked
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.identity.rules.kept import RecordCollection, changed, draft
from openstack_emulator.identity.rules.policy import Subject, allowed, enforce, own
from openstack_emulator.identity.views import View, link, record_view

Values = dict[str, Any]
"""What a request says about an object."""


def _nothing(identity: Identity, values: Values, request: Request) -> None:
    """The request leaves nothing open."""


def _plainly(identity: Identity, record: TypedRecord) -> View:
    return record_view(record)


def create(entity: Entity[T], identity: Identity, values: Values) -> T:
    """Make a record of what a request gives."""
    return entity.rules(identity).create(draft(entity.kind, new_hex_id(), values))


def change(entity: Entity[T], identity: Identity, record: T, changes: Values) -> None:
    """Make a record what a request wants it to be."""
    entity.rules(identity).change(record, changed(record, changes))


class _SubjectOf:
    """What the policy looks at, of an object, by the names of its fields; most conditions look at nothing."""

    __slots__ = ("_fields", "_source")

    def __init__(self, source: Readable, fields: Mapping[str, str]) -> None:
        self._source = source
        self._fields = fields

    def get(self, name: str) -> Any:
        field = self._fields.get(name)
        return None if field is None else self._source.get(field)


@dataclass(frozen=True)
class Entity(Generic[T]):
    """A kind of object, as data.

    kind: the class of its records. rules: what holds for them.
    singular, plural: names in bodies and policy rules (`get_<singular>`, `list_<plural>`, `write_<singular>`).
    path: of the collection below the version; the plural by default.
    fields: what requests may say; `extra`: whether other attributes are kept too. in_columns: Keystone stores the
    fields in columns of their own; the answer to a change shows the other attributes as `extra` again.
    prepare: fill in what the request leaves open from the token, before the caller's rights are looked at.
    create: make the record from checked values. change: check a change, and make it.
    subject: what the policy looks at, and the fields that say it. view: the record as shown, without links.
    filters: fields lists filter by. fixed: fields whose value cannot be changed.
    """

    kind: type[T]
    rules: Callable[[Identity], RecordCollection[T]]
    singular: str
    plural: str
    fields: Fields
    path: str = ""
    extra: bool = False
    in_columns: bool = False
    prepare: Callable[[Identity, Values, Request], None] = _nothing
    create: Callable[[Entity[T], Identity, Values], T] = create
    change: Callable[[Entity[T], Identity, T, Values], None] = change
    subject: Mapping[str, str] = field(default_factory=dict)
    view: Callable[[Identity, T], View] = _plainly
    filters: tuple[str, ...] = ()
    fixed: frozenset[str] = frozenset()

    def rows(self, identity: Identity) -> Table[T]:
        """The table of the records."""
        return self.rules(identity).rows

    def subject_of(self, source: Readable) -> Subject:
        """What the policy looks at, of a record or of what a request gives."""
        return _SubjectOf(source, self.subject)

    def shown(self, identity: Identity, request: Request, record: T) -> View:
        """The record as an answer has it, with its link."""
        shown = self.view(identity, record)
        shown |= {"links": link(request, f"{self.path or self.plural}/{record.id}")}
        return shown

    def required(self, identity: Identity, request: Request, rule: str, verb: str = "") -> T:
        """The record of the path when the caller may; strangers learn nothing about which ids exist. verb: see
        `enforce`."""
        key, rows = request.vars["id"], self.rows(identity)
        record = rows.get(key)
        enforce(request.context, rule, self.subject_of(record) if record is not None else None, verb)
        return rows.require(key)

    def visible_records(self, identity: Identity, request: Request, records: Iterable[T], rule: str) -> list[View]:
        """Of these the ones the caller may see and asked for, as shown."""
        caller, fields = request.context, self.subject
        visible = [record for record in records if allowed(caller, rule, _SubjectOf(record, fields))]
        return [self.shown(identity, request, each) for each in filtered(visible, request.query, self.filters)]

    def index(self, identity: Identity, request: Request) -> Response:
        """List the objects that the caller may see."""
        rule = f"list_{self.plural}"
        enforce(request.context, rule, own(request.context))
        return list_response(request, self.plural, self.visible_records(identity, request, self.rows(identity), rule))

    def add(self, identity: Identity, request: Request) -> Response:
        """Create an object."""
        body = request.object(self.singular)
        quoted = dict(body)
        self.prepare(identity, body, request)
        enforce(request.context, f"write_{self.singular}", self.subject_of(body), "create")
        values = checked(self.fields, body, self.extra, where=self.singular, quotation=quoted)
        record = self.create(self, identity, values)
        return Response({self.singular: self.shown(identity, request, record)}, 201)

    def show(self, identity: Identity, request: Request) -> Response:
        """Show an object."""
        record = self.required(identity, request, f"get_{self.singular}")
        return Response({self.singular: self.shown(identity, request, record)})

    def update(self, identity: Identity, request: Request) -> Response:
        """Change an object."""
        values = request.object(self.singular)
        record = self.required(identity, request, f"write_{self.singular}", "update")
        changes = checked(self.fields, values, self.extra, partial=True)
        if values.get("id", record.id) != record.id:
            raise bad_request(f"Cannot change {self.singular} ID")
        for name in self.fixed:
            if name in changes and changes[name] != record.get(name):
                label = "Domain ID" if name == "domain_id" else f"{name} of a {self.singular}."
                raise bad_request(f"Cannot change {label}")
        if (requested := changes.get("options")) is not None:
            changes |= {"options": merged_options(record.get("options"), requested)}
        self._refuse_immutable(record, changes)
        self.change(self, identity, record, changes)
        shown = self.shown(identity, request, record)
        if self.in_columns and isinstance(record, Extensible):
            shown |= {"extra": record.extra}
        return Response({self.singular: shown})

    def delete(self, identity: Identity, request: Request) -> Response:
        """Delete an object, with what depends on it."""
        record = self.required(identity, request, f"write_{self.singular}", "delete")
        self._refuse_immutable(record, {})
        self.rules(identity).remove(record)
        return Response(status=204)

    def _refuse_immutable(self, record: T, changes: Values) -> None:
        """An object with the option `immutable` can only be made mutable again."""
        options = record.get("options") or {}
        opened = set(changes) == {"options"} and changes.get("options", {}).get("immutable") is not True
        if options.get("immutable") and not opened:
            raise forbidden(
                f"Cannot change or delete immutable {self.singular} {record.id}: set its option `immutable` to false "
                "first."
            )


def merged_options(old: Mapping[str, object], changes: Mapping[str, object]) -> Values:
    """Options with changes made; null takes one away."""
    return {name: value for name, value in {**old, **changes}.items() if value is not None}


def options(**checks: Check) -> Check:
    """A check of an `options` object with these known names."""
    return form({name: optional(check) for name, check in checks.items()})


def whole_body(request: Request) -> Values:
    """The body of a call whose fields stand in no object of their own; 400 when it is no JSON object."""
    if not isinstance(request.json, dict):
        raise bad_request("The request body must be a JSON object.")
    return request.json


def fill_domain(identity: Identity, values: Values, request: Request) -> None:
    """A missing or null `domain_id` is that of the token's scope or else of the caller."""
    if values.get("domain_id") is None:
        caller = request.context
        values |= {"domain_id": caller.domain_id or caller.project_domain_id or caller.user_domain_id}
