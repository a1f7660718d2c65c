"""What every kind has: list, show, create one or many, update, delete, tags."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic

from openstack_emulator.core.cloud import Handler
from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.network.records.core import OwnedRecord, RevisedRecord
from openstack_emulator.network.routes.lists import listed, trimmed
from openstack_emulator.network.rules.attributes import NEUTRON, TAGS
from openstack_emulator.network.rules.composition import NetworkService
from openstack_emulator.network.rules.errors import disallowed, invalid_input, missing
from openstack_emulator.network.rules.kinds.kind import Actor, ResourceKind, T
from openstack_emulator.network.rules.resources import Resources
from openstack_emulator.network.views.api import announced, view

Methods = Mapping[str, Handler]
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


class Endpoint(Generic[T]):
    """The handlers of one kind.

    collection, item, tags_of, tag: the methods of the paths of all records, of one, of its tags, and of one tag.
    """

    def __init__(self, kind: ResourceKind[T]) -> None:
        self.kind = kind
        self.collection: Methods = {"GET": self.index, "POST": self.create}
        self.item: Methods = {"GET": self.show, "PUT": self.update, "DELETE": self.delete}
        self.tags_of: Methods = {
            "GET": self.tags,
            "PUT": self.set_tags,
            "POST": self.add_tags,
            "DELETE": self.clear_tags,
        }
        self.tag: Methods = {"GET": self.has_tag, "PUT": self.add_tag, "DELETE": self.remove_tag}

    def index(self, network: NetworkService, request: Request) -> Response:
        actor = actor_of(request)
        if self.kind.name == "security_group":
            _ensure_default_groups(network, request)
        return Response(listed(self._resources(network), actor, request, self._parent(network, actor, request)))

    def create(self, network: NetworkService, request: Request) -> Response:
        resources, actor = self._resources(network), writer_of(request, f"create_{self.kind.name}")
        parent = self._parent(network, actor, request)
        many = _many(request, self.kind.plural)
        if many is not None:
            created = _create_all(resources, actor, [{**_object(entry, self.kind.name), **parent} for entry in many])
            shown = [announced(network.state, actor, record) for record in created]
            return Response({self.kind.plural: shown}, 201)
        record = resources.create(actor, {**self._body(request), **parent})
        return Response({self.kind.name: announced(network.state, actor, record)}, 201)

    def show(self, network: NetworkService, request: Request) -> Response:
        actor = actor_of(request)
        if not request.context.roles & READERS:
            raise ApiError(404, "The resource could not be found.", "HTTPNotFound", bare=True)
        shown = view(network.state, actor, self._reach(network, actor, request))
        return Response({self.kind.name: trimmed(shown, request.query.all("fields"))})

    def update(self, network: NetworkService, request: Request) -> Response:
        resources, actor = self._resources(network), writer_of(request, f"update_{self.kind.name}")
        record = self._reach(network, actor, request)
        _check_revision(record, request)
        resources.update(actor, record, self._body(request))
        return Response({self.kind.name: view(network.state, actor, record)})

    def delete(self, network: NetworkService, request: Request) -> Response:
        resources, actor = self._resources(network), writer_of(request, f"delete_{self.kind.name}")
        record = self._reach(network, actor, request)
        _check_revision(record, request)
        resources.delete(actor, record)
        return Response(status=204)

    # Tags

    def tags(self, network: NetworkService, request: Request) -> Response:
        return Response({"tags": self._tags_of(network, request)})

    def has_tag(self, network: NetworkService, request: Request) -> Response:
        _require_tag(self._tags_of(network, request), request.vars["tag"])
        return Response(status=204)

    def set_tags(self, network: NetworkService, request: Request) -> Response:
        return Response({"tags": self._retag(network, request, _tags(request))})

    def add_tags(self, network: NetworkService, request: Request) -> Response:
        present = self._tags_of(network, request)
        return Response({"tags": self._retag(network, request, [*present, *_tags(request)])})

    def add_tag(self, network: NetworkService, request: Request) -> Response:
        present = self._tags_of(network, request)
        self._retag(network, request, [*present, request.vars["tag"]])
        return Response(b"", 201, {"Content-Type": "application/json"})

    def remove_tag(self, network: NetworkService, request: Request) -> Response:
        present, dropped = self._tags_of(network, request), request.vars["tag"]
        _require_tag(present, dropped)
        self._retag(network, request, [tag for tag in present if tag != dropped])
        return Response(status=204)

    def clear_tags(self, network: NetworkService, request: Request) -> Response:
        self._retag(network, request, [])
        return Response(status=204)

    def _tags_of(self, network: NetworkService, request: Request) -> list[str]:
        tags: list[str] = self._reach(network, actor_of(request), request).get("tags")
        return tags

    def _retag(self, network: NetworkService, request: Request, tags: list[str]) -> list[str]:
        resources, actor = self._resources(network), writer_of(request, f"update_{self.kind.plural}_tags")
        record = self._reach(network, actor, request)
        resources.refuse_unauthorized(actor, record, "update")
        distinct = list(dict.fromkeys(tags))
        resources.change(record, tags=distinct)
        return distinct

    # Parts

    def _resources(self, network: NetworkService) -> Resources[T]:
        return network.state.of(self.kind.plural)

    def _body(self, request: Request) -> dict[str, object]:
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

    def _parent(self, network: NetworkService, actor: Actor, request: Request) -> Mapping[str, str]:
        """The field that the path fixes, its record being visible."""
        if not self.kind.parent:
            return {}
        key = request.vars["parent_id"]
        network.state.of(str(self.kind.attributes[self.kind.parent].refers)).reach(actor, key)
        return {self.kind.parent: key}

    def _reach(self, network: NetworkService, actor: Actor, request: Request) -> T:
        resources, key = self._resources(network), request.vars["id"]
        if self.kind.parent and key not in resources.rows:
            raise self.kind.missing(key, request.vars["parent_id"])
        record = resources.reach(actor, key)
        for name, value in self._parent(network, actor, request).items():
            if record.get(name) != value:
                raise self.kind.missing(record.id)
        return record


def _many(request: Request, plural: str) -> list[object] | None:
    """The items of a bulk create; None for another body."""
    try:
        body = request.json
    except ApiError:
        return None
    found = body.get(plural) if isinstance(body, dict) else None
    return found if isinstance(found, list) else None


def _create_all(resources: Resources[T], actor: Actor, bodies: list[dict[str, object]]) -> list[T]:
    """Create all or none."""
    created: list[T] = []
    try:
        for body in bodies:
            created.append(resources.create(actor, body))
    except ApiError:
        for record in reversed(created):
            resources.forget(record)
        raise
    return created


def _object(value: object, name: str) -> dict[str, object]:
    """An item of a bulk create; Neutron also takes each wrapped in its own name."""
    if isinstance(value, dict) and isinstance(value.get(name), dict) and len(value) == 1:
        value = value[name]
    if not isinstance(value, dict):
        raise bad_request(f"Invalid bulk request: each {name} must be an object.")
    return value


def _require_tag(present: list[str], tag: str) -> None:
    if tag not in present:
        raise missing("Tag", "Tag", tag)


def _tags(request: Request) -> list[str]:
    body = request.json
    if not isinstance(body, dict) or "tags" not in body:
        raise bad_request("Invalid tags body: it must be an object with a list 'tags'.")
    tags = body.get("tags")
    if not isinstance(tags, list):
        raise invalid_input(f"'{tags}' is not a list.")
    return NEUTRON.converted("tags", tags, TAGS)


def _check_revision(record: OwnedRecord, request: Request) -> None:
    """412 when the caller has seen another revision (`If-Match: revision_number=3`)."""
    condition = request.headers.get("if-match", "")
    present = record.revision_number if isinstance(record, RevisedRecord) else None
    if condition.startswith(REVISION) and condition.removeprefix(REVISION) != str(present):
        raise ApiError(
            412, f"Constrained to {condition.removeprefix(REVISION)}, but current revision is {present}",
            "RevisionNumberConstraintFailed",
        )  # fmt: skip


def _ensure_default_groups(network: NetworkService, request: Request) -> None:
    """A project gets its group `default` when its groups are first looked at."""
    named_projects = request.query.all("project_id") + request.query.all("tenant_id")
    known = network.cloud.of(Identity).projects.rows
    for project_id in {request.context.project_id, *named_projects}:
        if project_id and project_id in known:
            network.security_groups.default_of(project_id)
