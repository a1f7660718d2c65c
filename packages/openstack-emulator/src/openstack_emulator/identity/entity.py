"""What all kinds of Keystone's objects have in common: create, show, list, change and delete, from a description."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from openstack_emulator.core.cloud import Routes
from openstack_emulator.core.errors import bad_request, forbidden
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Collection, Record, public
from openstack_emulator.identity.lists import answer, filtered
from openstack_emulator.identity.policy import Subject, enforce, own, visible
from openstack_emulator.identity.records import IdentityRecords
from openstack_emulator.identity.validation import Fields, checked, invalid, mapping


def _nothing(identity: IdentityRecords, record: Record, changes: Any) -> None:
    """No rule of its own."""


@dataclass(frozen=True)
class Entity:
    """A kind of object, as data.

    singular, plural: names in bodies, paths and policy rules (`get_<singular>`, `list_<plural>`, `write_<singular>`).
    place: what stands before the plural in paths (`/OS-OAUTH1`).
    collection: name of the attribute of `IdentityRecords` that holds the records.
    fields: what requests may say; `extra`: whether other attributes are kept too. columns: what Keystone stores in
    columns of its own; if given, the answer to a change shows all other attributes as `extra` again.
    prepare: fill in what the request leaves open from the token, before the caller's rights are looked at.
    create: make the record from checked values. change: check a change, and act on it before it is stored.
    remove: delete the record and what hangs on it.
    subject: what the policy looks at. view: the record as shown, without links. filters: fields lists filter by.
    fixed: fields whose value cannot be changed.
    """

    singular: str
    plural: str
    collection: str
    fields: Fields
    create: Callable[[IdentityRecords, Record], Record]
    remove: Callable[[IdentityRecords, Record], None]
    subject: Callable[[Record], Subject]
    filters: tuple[str, ...] = ()
    extra: bool = False
    columns: frozenset[str] = frozenset()
    prepare: Callable[[IdentityRecords, Record, Request], None] = _nothing
    change: Callable[[IdentityRecords, Record, Record], None] = _nothing
    view: Callable[[IdentityRecords, Record], Record] = lambda identity, record: public(record)
    fixed: frozenset[str] = frozenset()
    place: str = ""

    def routes(self) -> Routes:
        """The five usual calls."""
        return {
            f"{self.place}/{self.plural}": {"GET": self.handle_list, "POST": self.handle_create},
            f"{self.place}/{self.plural}/{{id}}": {
                "GET": self.handle_show,
                "PATCH": self.handle_update,
                "DELETE": self.handle_delete,
            },
        }

    def held_by(self, identity: IdentityRecords) -> Collection:
        held: Collection = getattr(identity, self.collection)
        return held

    def shown(self, identity: IdentityRecords, request: Request, record: Record) -> Record:
        """The record as an answer has it, with its link."""
        link = f"{request.base}/v3{self.place}/{self.plural}/{record['id']}"
        return {**self.view(identity, record), "links": {"self": link}}

    def required(self, identity: IdentityRecords, request: Request, key: str, rule: str, verb: str = "") -> Record:
        """The record when the caller may; strangers learn nothing about which ids exist. verb: see `enforce`."""
        record = self.held_by(identity).get(key)
        enforce(request.context, rule, self.subject(record) if record is not None else None, verb)
        return self.held_by(identity).require(key)

    def rows(self, identity: IdentityRecords, request: Request, records: Sequence[Record], rule: str) -> list[Record]:
        """Of these the ones the caller may see and asked for, as shown."""
        seen = visible(request.context, rule, ((self.subject(record), record) for record in records))
        return [self.shown(identity, request, record) for record in filtered(seen, request.query, self.filters)]

    def handle_list(self, identity: IdentityRecords, request: Request) -> Response:
        rule = f"list_{self.plural}"
        enforce(request.context, rule, own(request.context))
        return answer(request, self.plural, self.rows(identity, request, list(self.held_by(identity)), rule))

    def handle_create(self, identity: IdentityRecords, request: Request) -> Response:
        given = request.object(self.singular)
        asked = dict(given)
        self.prepare(identity, given, request)
        enforce(request.context, f"write_{self.singular}", self.subject(given), "create")
        values = checked(self.fields, given, self.extra, where=self.singular, asked=asked)
        record = self.create(identity, values)
        return Response({self.singular: self.shown(identity, request, record)}, 201)

    def handle_show(self, identity: IdentityRecords, request: Request) -> Response:
        record = self.required(identity, request, request.vars["id"], f"get_{self.singular}")
        return Response({self.singular: self.shown(identity, request, record)})

    def handle_update(self, identity: IdentityRecords, request: Request) -> Response:
        given = request.object(self.singular)
        record = self.required(identity, request, request.vars["id"], f"write_{self.singular}", "update")
        changes = checked(self.fields, given, self.extra, partial=True)
        if given.get("id", record["id"]) != record["id"]:
            raise bad_request(f"Cannot change {self.singular} ID")
        for name in self.fixed:
            if name in changes and changes[name] != record.get(name):
                label = "Domain ID" if name == "domain_id" else f"{name} of a {self.singular}."
                raise bad_request(f"Cannot change {label}")
        if "options" in changes:
            changes["options"] = merged_options(record["options"], changes["options"])
        self._refuse_immutable(record, changes)
        self.change(identity, record, changes)
        self.held_by(identity).update(record, **changes)
        shown = self.shown(identity, request, record)
        if self.columns:
            shown["extra"] = {name: value for name, value in public(record).items() if name not in self.columns}
        return Response({self.singular: shown})

    def handle_delete(self, identity: IdentityRecords, request: Request) -> Response:
        record = self.required(identity, request, request.vars["id"], f"write_{self.singular}", "delete")
        self._refuse_immutable(record, {})
        self.remove(identity, record)
        return Response(status=204)

    def _refuse_immutable(self, record: Record, changes: Record) -> None:
        """An object with the option `immutable` can only be made mutable again."""
        opened = changes.get("options", {}).get("immutable") is not True and set(changes) == {"options"}
        if record.get("options", {}).get("immutable") and not opened:
            raise forbidden(
                f"Cannot change or delete immutable {self.singular} {record['id']}: set its option `immutable` to "
                "false first."
            )


def merged_options(old: Record, changes: Record) -> Record:
    """Options with changes made; null takes one away."""
    return {name: value for name, value in {**old, **changes}.items() if value is not None}


def options(**checks: Callable[[Any], str | None]) -> Callable[[Any], str | None]:
    """A check of an `options` object with these known names."""

    def check(value: Any) -> str | None:
        if (complaint := mapping(value)) is not None:
            return complaint
        for name, given in value.items():
            if name not in checks:
                return f"Additional properties are not allowed ('{name}' was unexpected)"
            if given is not None and (complaint := checks[name](given)) is not None:
                raise invalid(f"options.{name}", given, complaint)
        return None

    return check


def whole_body(request: Request) -> Record:
    """The body of a call whose fields stand in no object of their own; 400 when it is no JSON object."""
    if not isinstance(request.json, dict):
        raise bad_request("The request body must be a JSON object.")
    return request.json


def caller_domain(request: Request) -> str:
    """The domain new things go to when the request names none: that of the token's scope or else of the caller."""
    caller = request.context
    return caller.domain_id or caller.project_domain_id or caller.user_domain_id


def fill_domain(identity: IdentityRecords, given: Record, request: Request) -> None:
    """A missing or null `domain_id` is that of the token."""
    if given.get("domain_id") is None:
        given["domain_id"] = caller_domain(request)
