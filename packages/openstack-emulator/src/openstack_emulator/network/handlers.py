"""What every kind has: list, show, create one or many, update, delete, tags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.cloud import Handler, Routes
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.identity.records import IdentityRecords
from openstack_emulator.network.attributes import TAGS
from openstack_emulator.network.errors import disallowed, invalid, invalid_input, missing
from openstack_emulator.network.kinds import Actor, Kind
from openstack_emulator.network.lists import listed, trimmed
from openstack_emulator.network.records import NetworkRecords
from openstack_emulator.network.table import Table

WRITERS = frozenset({"admin", "manager", "member", "service"})
READERS = WRITERS | {"reader"}
REVISION = "revision_number="


def actor_of(request: Request) -> Actor:
    """The caller."""
    return Actor(request.context.project_id, request.context.is_admin)


def writer_of(request: Request, rule: str) -> Actor:
    """The caller of a change; 403 for callers who may not change anything."""
    if not request.context.roles & WRITERS:
        raise disallowed(rule)
    return actor_of(request)


class Endpoint:
    """The handlers of one kind."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    def routes(self) -> Routes:
        """Paths below `/v2.0`, with `_` for `-` too where tags are set."""
        path, item = self.kind.path, self.kind.path + "/{id}"
        routes: dict[str, dict[str, Handler]] = {
            path: {"GET": self.index, "POST": self.create},
            item: {"GET": self.show, "PUT": self.update, "DELETE": self.delete},
        }
        if "tags" in self.kind.attributes:
            for base in {path, f"/{self.kind.plural}"}:
                routes[f"{base}/{{id}}/tags"] = {
                    "GET": self.tags,
                    "PUT": self.set_tags,
                    "POST": self.add_tags,
                    "DELETE": self.clear_tags,
                }
                routes[f"{base}/{{id}}/tags/{{tag}}"] = {
                    "GET": self.has_tag,
                    "PUT": self.add_tag,
                    "DELETE": self.remove_tag,
                }
        return routes

    def index(self, network: NetworkRecords, request: Request) -> Response:
        actor = actor_of(request)
        if self.kind.name == "security_group":
            _ensure_default_groups(network, request)
        return Response(listed(self._table(network), actor, request, self._parent(network, actor, request)))

    def create(self, network: NetworkRecords, request: Request) -> Response:
        table, actor = self._table(network), writer_of(request, f"create_{self.kind.name}")
        parent = self._parent(network, actor, request)
        many = _many(request, self.kind.plural)
        if many is not None:
            created = _create_all(table, actor, [{**_object(one, self.kind.name), **parent} for one in many])
            return Response({self.kind.plural: [table.announced(actor, record) for record in created]}, 201)
        record = table.create(actor, {**self._body(request), **parent})
        return Response({self.kind.name: table.announced(actor, record)}, 201)

    def show(self, network: NetworkRecords, request: Request) -> Response:
        actor = actor_of(request)
        if not request.context.roles & READERS:
            raise ApiError(404, "The resource could not be found.", "HTTPNotFound", bare=True)
        shown = self._table(network).view(actor, self._reach(network, actor, request))
        return Response({self.kind.name: trimmed(shown, request.query.all("fields"))})

    def update(self, network: NetworkRecords, request: Request) -> Response:
        table, actor = self._table(network), writer_of(request, f"update_{self.kind.name}")
        record = self._reach(network, actor, request)
        _check_revision(record, request)
        table.update(actor, record, self._body(request))
        return Response({self.kind.name: table.view(actor, record)})

    def delete(self, network: NetworkRecords, request: Request) -> Response:
        table, actor = self._table(network), writer_of(request, f"delete_{self.kind.name}")
        record = self._reach(network, actor, request)
        _check_revision(record, request)
        table.delete(actor, record)
        return Response(status=204)

    # Tags

    def tags(self, network: NetworkRecords, request: Request) -> Response:
        return Response({"tags": self._reach(network, actor_of(request), request)["tags"]})

    def has_tag(self, network: NetworkRecords, request: Request) -> Response:
        record = self._reach(network, actor_of(request), request)
        self._require_tag(record, request.vars["tag"])
        return Response(status=204)

    def set_tags(self, network: NetworkRecords, request: Request) -> Response:
        return Response({"tags": self._retag(network, request, _tags(request))})

    def add_tags(self, network: NetworkRecords, request: Request) -> Response:
        present = self._reach(network, actor_of(request), request)["tags"]
        return Response({"tags": self._retag(network, request, [*present, *_tags(request)])})

    def add_tag(self, network: NetworkRecords, request: Request) -> Response:
        present = self._reach(network, actor_of(request), request)["tags"]
        self._retag(network, request, [*present, request.vars["tag"]])
        return Response(b"", 201, {"Content-Type": "application/json"})

    def remove_tag(self, network: NetworkRecords, request: Request) -> Response:
        record = self._reach(network, actor_of(request), request)
        self._require_tag(record, request.vars["tag"])
        self._retag(network, request, [tag for tag in record["tags"] if tag != request.vars["tag"]])
        return Response(status=204)

    def clear_tags(self, network: NetworkRecords, request: Request) -> Response:
        self._retag(network, request, [])
        return Response(status=204)

    def _retag(self, network: NetworkRecords, request: Request, tags: list[str]) -> list[str]:
        table, actor = self._table(network), writer_of(request, f"update_{self.kind.plural}_tags")
        record = self._reach(network, actor, request)
        table.refuse_strangers(actor, record, "update")
        kept = list(dict.fromkeys(tags))
        table.change(record, {"tags": kept})
        return kept

    def _require_tag(self, record: Record, tag: str) -> None:
        if tag not in record["tags"]:
            raise missing("Tag", "Tag", tag)

    # Parts

    def _table(self, network: NetworkRecords) -> Table:
        return network.state.table(self.kind.plural)

    def _body(self, request: Request) -> Record:
        name = self.kind.name
        try:
            body = request.json if request.body else {}
        except ApiError:
            raise bad_request("Body contains invalid data") from None
        if not isinstance(body, dict):
            raise bad_request("Body contains invalid data")
        if not isinstance(body.get(name), dict):
            raise bad_request(f"Unable to find '{name}' in request body")
        return dict(body[name])

    def _parent(self, network: NetworkRecords, actor: Actor, request: Request) -> Mapping[str, str]:
        """The field that the path fixes, its record being visible."""
        if not self.kind.parent:
            return {}
        key = request.vars["parent_id"]
        network.state.table(str(self.kind.attributes[self.kind.parent].refers)).reach(actor, key)
        return {self.kind.parent: key}

    def _reach(self, network: NetworkRecords, actor: Actor, request: Request) -> Record:
        table, key = self._table(network), request.vars["id"]
        if self.kind.parent and key not in table.rows:
            raise self.kind.missing(key, request.vars["parent_id"])
        record = table.reach(actor, key)
        for name, value in self._parent(network, actor, request).items():
            if record[name] != value:
                raise self.kind.missing(record["id"])
        return record


def _many(request: Request, plural: str) -> list[Any] | None:
    """The items of a bulk create; None for another body."""
    try:
        body = request.json
    except ApiError:
        return None
    found = body.get(plural) if isinstance(body, dict) else None
    return found if isinstance(found, list) else None


def _create_all(table: Table, actor: Actor, bodies: list[Record]) -> list[Record]:
    """Create all or none."""
    created: list[Record] = []
    try:
        for body in bodies:
            created.append(table.create(actor, body))
    except ApiError:
        for record in reversed(created):
            table.forget(record)
        raise
    return created


def _object(value: Any, name: str) -> Record:
    """An item of a bulk create; Neutron also takes each wrapped in its own name."""
    if isinstance(value, dict) and isinstance(value.get(name), dict) and len(value) == 1:
        value = value[name]
    if not isinstance(value, dict):
        raise bad_request(f"Invalid bulk request: each {name} must be an object.")
    return value


def _tags(request: Request) -> list[str]:
    body = request.json
    if not isinstance(body, dict) or "tags" not in body:
        raise bad_request("Invalid tags body: it must be an object with a list 'tags'.")
    if not isinstance(body["tags"], list):
        raise invalid_input(f"'{body['tags']}' is not a list.")
    try:
        tags: list[str] = TAGS(body["tags"])
    except ValueError as error:
        raise invalid("tags", str(error)) from None
    return tags


def _check_revision(record: Record, request: Request) -> None:
    """412 when the caller has seen another revision (`If-Match: revision_number=3`)."""
    given = request.headers.get("if-match", "")
    if given.startswith(REVISION) and given.removeprefix(REVISION) != str(record.get("revision_number")):
        raise ApiError(
            412, f"Constrained to {given.removeprefix(REVISION)}, but current revision is {record['revision_number']}",
            "RevisionNumberConstraintFailed",
        )  # fmt: skip


def _ensure_default_groups(network: NetworkRecords, request: Request) -> None:
    """A project gets its group `default` when its groups are first looked at."""
    asked = request.query.all("project_id") + request.query.all("tenant_id")
    known = network.cloud.of(IdentityRecords).projects
    for project_id in {request.context.project_id, *asked}:
        if project_id and project_id in known:
            network.security_groups.default_of(project_id)
