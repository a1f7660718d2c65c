"""Metadata definitions over HTTP."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.errors import not_found
from openstack_emulator.core.http import Query, Request, Response
from openstack_emulator.core.paging import ordered, page
from openstack_emulator.image.records import Namespace
from openstack_emulator.image.rules.composition import ImageService
from openstack_emulator.image.rules.metadef_schemas import NAMESPACE_FORM, SCHEMAS, TAGS_FORM
from openstack_emulator.image.rules.metadefs import NAME, RESOURCE_TYPES, held, refuse_protected
from openstack_emulator.image.views import NAMESPACES, namespace_view, object_view, tags_view, whole_namespace


def _name(request: Request) -> str:
    """The last segment of the path."""
    return request.vars["name"]


def _visible(service: ImageService, request: Request) -> Namespace:
    return service.namespaces.visible(request.context, request.vars[NAME])


def _writable(service: ImageService, request: Request) -> Namespace:
    return service.namespaces.writable(request.context, request.vars[NAME])


def index(service: ImageService, request: Request) -> Response:
    """Public namespaces and those of the caller's project."""
    query = request.query
    rows = service.namespaces.listed(request.context)
    if (visibility := query.get("visibility")) is not None:
        rows = [row for row in rows if row.visibility == visibility]
    if (types := query.get("resource_types")) is not None:
        type_names = set(types.split(","))
        rows = [row for row in rows if type_names.intersection(row.resource_types)]
    rows = ordered(rows, query, default=[("created_at", True)])
    shown = page(rows, query if "limit" in query else Query(f"{request.query_string}&limit=25"))
    body: dict[str, Any] = {
        "namespaces": [namespace_view(row) for row in shown.rows],
        "first": NAMESPACES,
        "schema": "/v2/schemas/metadefs/namespaces",
    }
    if shown.next_marker is not None and shown.rows[-1].id != rows[-1].id:
        body["next"] = f"{NAMESPACES}?{query.with_marker(shown.next_marker)}"
    return Response(body)


def create(service: ImageService, request: Request) -> Response:
    """A namespace, with what it is to hold from the beginning."""
    service.namespaces.require_administrator(request.context)
    fields = NAMESPACE_FORM.checked(request.json)
    namespace = service.namespaces.create(fields.get("owner") or request.context.project, fields)
    return Response(namespace_view(namespace), 201, {"Location": f"{request.base}{NAMESPACES}/{namespace.id}"})


def show(service: ImageService, request: Request) -> Response:
    return Response(whole_namespace(_visible(service, request)))


def update(service: ImageService, request: Request) -> Response:
    namespace = _writable(service, request)
    service.namespaces.update(namespace, NAMESPACE_FORM.checked(request.json))
    return Response(namespace_view(namespace))


def delete(service: ImageService, request: Request) -> Response:
    service.namespaces.delete(_writable(service, request))
    return Response(status=204)


class PartRoutes:
    """The calls about one kind of part of namespaces, named by its plural."""

    def __init__(self, plural: str, listed_as: str | None = None) -> None:
        self.plural = plural
        self.listed_as = listed_as or plural

    def _view(self, namespace: Namespace, name: str, part: dict[str, object]) -> dict[str, object]:
        return object_view(namespace, name, part) if self.plural == "objects" else part

    def index(self, service: ImageService, request: Request) -> Response:
        namespace = _visible(service, request)
        rows = {name: self._view(namespace, name, part) for name, part in held(namespace, self.plural).items()}
        if self.plural == "properties":
            return Response({"properties": rows})
        path = f"{NAMESPACES}/{namespace.id}/{self.plural}"
        more = {"first": path, "schema": f"/v2/schemas/metadefs/{self.plural}"}
        return Response({self.listed_as: list(rows.values()), **({} if self.plural == "resource_types" else more)})

    def create(self, service: ImageService, request: Request) -> Response:
        return self._created(service, request, _writable(service, request), request.json)

    def create_named(self, service: ImageService, request: Request) -> Response:
        """One that has nothing but the name in the path."""
        return self._created(service, request, _writable(service, request), {"name": _name(request)})

    def _created(self, service: ImageService, request: Request, namespace: Namespace, body: object) -> Response:
        [(name, part)] = service.namespaces.parts(self.plural, [body]).items()
        service.namespaces.add_part(namespace, self.plural, name, part)
        place = f"{request.base}{NAMESPACES}/{namespace.id}/{self.plural}/{name}"
        return Response(self._view(namespace, name, part), 201, {"Location": place})

    def replace_all(self, service: ImageService, request: Request) -> Response:
        """Tags instead of those that are there, or after them when a header says so."""
        namespace = _writable(service, request)
        body = TAGS_FORM.checked(request.json)
        part = service.namespaces.parts(self.plural, body["tags"])
        append = request.headers.get("x-openstack-append", "").lower() == "true"
        present = held(namespace, self.plural) if append else {}
        service.namespaces.set_parts(namespace, self.plural, {**present, **part})
        return Response({"tags": tags_view(namespace)}, 201)

    def show(self, service: ImageService, request: Request) -> Response:
        namespace, name = _visible(service, request), _name(request)
        return Response(self._view(namespace, name, service.namespaces.part(namespace, self.plural, name)))

    def update(self, service: ImageService, request: Request) -> Response:
        """Another one in its place, which may have another name."""
        namespace, old = _writable(service, request), _name(request)
        service.namespaces.part(namespace, self.plural, old)
        [(name, part)] = service.namespaces.parts(self.plural, [request.json]).items()
        service.namespaces.replace_part(namespace, self.plural, old, name, part)
        return Response(self._view(namespace, name, part))

    def delete(self, service: ImageService, request: Request) -> Response:
        service.namespaces.remove_part(_writable(service, request), self.plural, _name(request))
        return Response(status=204)

    def delete_all(self, service: ImageService, request: Request) -> Response:
        namespace = _writable(service, request)
        refuse_protected(namespace)
        service.namespaces.set_parts(namespace, self.plural, {})
        return Response(status=204)


def list_resource_types(service: ImageService, request: Request) -> Response:
    """The types that are known, and those that namespaces name."""
    named = {name for namespace in service.namespaces.rows for name in namespace.resource_types}
    now = service.timestamp()
    rows = [{"name": name, "created_at": now, "updated_at": now} for name in sorted(named.union(RESOURCE_TYPES))]
    return Response({"resource_types": rows})


def show_schema(service: ImageService, request: Request) -> Response:
    name = _name(request)
    if name not in SCHEMAS:
        raise not_found(f"There is no schema 'metadefs/{name}'. There are: {', '.join(SCHEMAS)}.")
    return Response(SCHEMAS[name])


ASSOCIATIONS = PartRoutes("resource_types", "resource_type_associations")
PROPERTIES, OBJECTS, TAG_ROUTES = PartRoutes("properties"), PartRoutes("objects"), PartRoutes("tags")
