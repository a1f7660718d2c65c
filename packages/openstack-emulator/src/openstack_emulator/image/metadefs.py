"""Metadata definitions: namespaces with the properties, objects and tags that images and other things may have.

A namespace is one record, `{id (its name), namespace, display_name, description, visibility, protected, project_id,
created_at, updated_at}`, with what it holds by name in `_resource_types`, `_properties`, `_objects` and `_tags`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.cloud import Routes
from openstack_emulator.core.errors import bad_request, conflict, forbidden, not_found
from openstack_emulator.core.http import Query, Request, Response
from openstack_emulator.core.paging import ordered, page
from openstack_emulator.core.store import Record
from openstack_emulator.image.attributes import check_value
from openstack_emulator.image.metadef_schemas import (
    ASSOCIATION,
    NAMESPACE,
    OBJECT,
    PROPERTY,
    SCHEMAS,
    TAG,
    TAGS,
    Schema,
)
from openstack_emulator.image.records import ImageRecords

PATH = "/v2/metadefs/namespaces"
RESOURCE_TYPES = (
    "OS::Cinder::Volume",
    "OS::Glance::Image",
    "OS::Nova::Aggregate",
    "OS::Nova::Flavor",
    "OS::Nova::Server",
    "OS::Trove::Instance",
)
OWN = ("display_name", "description", "visibility", "protected")
"""What a namespace says of itself."""
PARTS = {"resource_types": ASSOCIATION, "properties": PROPERTY, "objects": OBJECT, "tags": TAG}
REQUIRED = {"properties": ("title", "type")}
"""What parts must have besides a name."""


def checked(kind: str, schemas: Mapping[str, Schema], body: Any, required: tuple[str, ...] = ()) -> Record:
    """A body without what answers show and requests do not say; 400 when it is not what the schemas ask for."""
    if not isinstance(body, Mapping):
        raise bad_request("The request body must be a JSON object.")
    for name in required:
        if name not in body:
            raise bad_request(f"Provided object does not match schema '{kind}': '{name}' is a required property")
    for name, value in body.items():
        if name not in schemas:
            raise bad_request(
                f"Provided object does not match schema '{kind}': Additional properties are not allowed ('{name}')"
            )
        check_value(name, value, schemas[name], kind)
    return {name: value for name, value in body.items() if not schemas[name].get("readOnly")}


def _namespace(images: ImageRecords, request: Request) -> Record:
    """The namespace of the path; 404 for one that the caller may not see."""
    found = images.namespaces.get(request.vars["namespace"])
    if found is None or not (found["visibility"] == "public" or request.context.may_see(found)):
        raise not_found(f"Metadata definition namespace={request.vars['namespace']} was not found.")
    return found


def _writable(images: ImageRecords, request: Request) -> Record:
    if not request.context.is_admin:
        raise forbidden("You are not authorized to change metadata definitions.")
    return _namespace(images, request)


def _held(namespace: Record, part: str) -> dict[str, Record]:
    held: dict[str, Record] = namespace[f"_{part}"]
    return held


def namespace_view(namespace: Record) -> Record:
    """A namespace as a list shows it."""
    kept = {name: namespace[name] for name in ("namespace", *OWN) if namespace[name] is not None}
    return {
        **kept,
        "owner": namespace["project_id"],
        "created_at": namespace["created_at"],
        "updated_at": namespace["updated_at"],
        "resource_type_associations": list(_held(namespace, "resource_types").values()),
        "self": f"{PATH}/{namespace['id']}",
        "schema": "/v2/schemas/metadefs/namespace",
    }


def _object_view(namespace: Record, held: Record) -> Record:
    place = f"{PATH}/{namespace['id']}/objects/{held['name']}"
    return {"required": [], "properties": {}, **held, "self": place, "schema": "/v2/schemas/metadefs/object"}


def list_namespaces(images: ImageRecords, request: Request) -> Response:
    """Public namespaces and those of the caller's project."""
    query, context = request.query, request.context
    rows = [row for row in images.namespaces if row["visibility"] == "public" or context.may_see(row)]
    if (visibility := query.get("visibility")) is not None:
        rows = [row for row in rows if row["visibility"] == visibility]
    if (types := query.get("resource_types")) is not None:
        wanted = set(types.split(","))
        rows = [row for row in rows if wanted.intersection(_held(row, "resource_types"))]
    rows = ordered(rows, query, default=[("created_at", True)])
    shown = page(rows, query if "limit" in query else Query(f"{request.query_string}&limit=25"))
    body: Record = {
        "namespaces": [namespace_view(row) for row in shown.rows],
        "first": PATH,
        "schema": "/v2/schemas/metadefs/namespaces",
    }
    if shown.next_marker is not None and shown.rows[-1]["id"] != rows[-1]["id"]:
        body["next"] = f"{PATH}?{query.with_marker(shown.next_marker)}"
    return Response(body)


def create_namespace(images: ImageRecords, request: Request) -> Response:
    """A namespace, with what it is to hold from the beginning."""
    if not request.context.is_admin:
        raise forbidden("You are not authorized to change metadata definitions.")
    wanted = checked("namespace", NAMESPACE, request.json, ("namespace",))
    key, now = wanted["namespace"], images.timestamp()
    if key in images.namespaces:
        raise conflict(f"The metadata definition namespace={key} already exists.")
    properties = {name: {**value, "name": name} for name, value in wanted.get("properties", {}).items()}
    namespace = {
        "id": key,
        "namespace": key,
        "display_name": None,
        "description": None,
        "visibility": "private",
        "protected": False,
        **{name: wanted[name] for name in OWN if name in wanted},
        "project_id": wanted.get("owner") or request.context.project,
        "created_at": now,
        "updated_at": now,
        "_resource_types": _new(images, "resource_types", wanted.get("resource_type_associations", ())),
        "_properties": _new(images, "properties", properties.values()),
        "_objects": _new(images, "objects", wanted.get("objects", ())),
        "_tags": _new(images, "tags", wanted.get("tags", ())),
    }
    images.namespaces.add(namespace)
    return Response(namespace_view(namespace), 201, {"Location": f"{request.base}{PATH}/{key}"})


def _new(images: ImageRecords, part: str, given: Any) -> dict[str, Record]:
    """Parts of a namespace by name; properties have no times."""
    stamps = {} if part == "properties" else dict.fromkeys(("created_at", "updated_at"), images.timestamp())
    rows = [checked(part, PARTS[part], row, ("name", *REQUIRED.get(part, ()))) for row in given]
    return {row["name"]: {**row, **stamps} for row in rows}


def show_namespace(images: ImageRecords, request: Request) -> Response:
    """A namespace with all that is in it."""
    namespace = _namespace(images, request)
    parts = {
        "properties": _held(namespace, "properties"),
        "objects": [_object_view(namespace, held) for held in _held(namespace, "objects").values()],
        "tags": [{"name": name} for name in _held(namespace, "tags")],
    }
    return Response({**namespace_view(namespace), **{name: held for name, held in parts.items() if held}})


def update_namespace(images: ImageRecords, request: Request) -> Response:
    namespace = _writable(images, request)
    wanted = checked("namespace", NAMESPACE, request.json, ("namespace",))
    key = wanted["namespace"]
    if key != namespace["id"] and key in images.namespaces:
        raise conflict(f"The metadata definition namespace={key} already exists.")
    changes = {name: wanted[name] for name in OWN if name in wanted}
    if "owner" in wanted:
        changes["project_id"] = wanted["owner"]
    images.namespaces.remove(namespace)
    changed = {**namespace, **changes, "id": key, "namespace": key, "updated_at": images.timestamp()}
    images.namespaces.add(changed)
    return Response(namespace_view(changed))


def delete_namespace(images: ImageRecords, request: Request) -> Response:
    namespace = _writable(images, request)
    _refuse_protected(namespace)
    images.namespaces.remove(namespace)
    return Response(status=204)


def _refuse_protected(namespace: Record) -> None:
    if namespace["protected"]:
        raise forbidden(f"Metadata definition namespace {namespace['id']} is protected and cannot be deleted.")


def _view(part: str, namespace: Record, held: Record) -> Record:
    return _object_view(namespace, held) if part == "objects" else held


class Part:
    """The calls about one kind of part of namespaces, named by its plural."""

    def __init__(self, plural: str, listed_as: str | None = None) -> None:
        self.plural = plural
        self.listed_as = listed_as or plural

    def index(self, images: ImageRecords, request: Request) -> Response:
        namespace = _namespace(images, request)
        rows = [_view(self.plural, namespace, held) for held in _held(namespace, self.plural).values()]
        path = f"{PATH}/{namespace['id']}/{self.plural}"
        more = {"first": path, "schema": f"/v2/schemas/metadefs/{self.plural}"}
        if self.plural == "properties":
            return Response({"properties": {row["name"]: row for row in rows}})
        return Response({self.listed_as: rows, **({} if self.plural == "resource_types" else more)})

    def create(self, images: ImageRecords, request: Request) -> Response:
        namespace = _writable(images, request)
        [(name, made)] = _new(images, self.plural, [request.json]).items()
        return self._added(images, request, namespace, name, made)

    def _added(self, images: ImageRecords, request: Request, namespace: Record, name: str, made: Record) -> Response:
        held = _held(namespace, self.plural)
        if name in held:
            raise conflict(f"{name} already exists in the {self.plural} of the namespace {namespace['id']}.")
        held[name] = made
        images.namespaces.save(namespace)
        place = f"{request.base}{PATH}/{namespace['id']}/{self.plural}/{name}"
        return Response(_view(self.plural, namespace, made), 201, {"Location": place})

    def create_named(self, images: ImageRecords, request: Request) -> Response:
        """One that has nothing but the name in the path."""
        namespace = _writable(images, request)
        [(name, made)] = _new(images, self.plural, [{"name": request.vars["name"]}]).items()
        return self._added(images, request, namespace, name, made)

    def replace_all(self, images: ImageRecords, request: Request) -> Response:
        """Tags instead of those that are there, or after them when a header says so."""
        namespace = _writable(images, request)
        made = _new(images, self.plural, checked("tags", TAGS, request.json, ("tags",))["tags"])
        append = request.headers.get("x-openstack-append", "").lower() == "true"
        kept = _held(namespace, self.plural) if append else {}
        images.namespaces.update(namespace, **{f"_{self.plural}": {**kept, **made}})
        return Response({"tags": [{"name": name} for name in _held(namespace, self.plural)]}, 201)

    def _one(self, namespace: Record, request: Request) -> Record:
        held = _held(namespace, self.plural).get(request.vars["name"])
        if held is None:
            raise not_found(
                f"The namespace {namespace['id']} has nothing of the name {request.vars['name']} in its {self.plural}."
            )
        return held

    def show(self, images: ImageRecords, request: Request) -> Response:
        namespace = _namespace(images, request)
        return Response(_view(self.plural, namespace, self._one(namespace, request)))

    def update(self, images: ImageRecords, request: Request) -> Response:
        """Another one in its place, which may have another name."""
        namespace = _writable(images, request)
        old = self._one(namespace, request)
        [(name, made)] = _new(images, self.plural, [request.json]).items()
        held = _held(namespace, self.plural)
        if name != old["name"] and name in held:
            raise conflict(f"{name} already exists in the {self.plural} of the namespace {namespace['id']}.")
        if "created_at" in old:
            made["created_at"] = old["created_at"]
        renamed = {(name if key == old["name"] else key): row for key, row in held.items()}
        images.namespaces.update(namespace, **{f"_{self.plural}": {**renamed, name: made}})
        return Response(_view(self.plural, namespace, made))

    def delete(self, images: ImageRecords, request: Request) -> Response:
        namespace = _writable(images, request)
        _refuse_protected(namespace)
        del _held(namespace, self.plural)[self._one(namespace, request)["name"]]
        images.namespaces.save(namespace)
        return Response(status=204)

    def delete_all(self, images: ImageRecords, request: Request) -> Response:
        namespace = _writable(images, request)
        _refuse_protected(namespace)
        images.namespaces.update(namespace, **{f"_{self.plural}": {}})
        return Response(status=204)


def list_resource_types(images: ImageRecords, request: Request) -> Response:
    """The types that are known, and those that namespaces name."""
    named = {name for namespace in images.namespaces for name in _held(namespace, "resource_types")}
    now = images.timestamp()
    rows = [{"name": name, "created_at": now, "updated_at": now} for name in sorted(named.union(RESOURCE_TYPES))]
    return Response({"resource_types": rows})


def show_schema(images: ImageRecords, request: Request) -> Response:
    name = request.vars["name"]
    if name not in SCHEMAS:
        raise not_found(f"There is no schema 'metadefs/{name}'. There are: {', '.join(SCHEMAS)}.")
    return Response(SCHEMAS[name])


ASSOCIATIONS = Part("resource_types", "resource_type_associations")
PROPERTIES, OBJECTS, TAGS_PART = Part("properties"), Part("objects"), Part("tags")
ONE = "/metadefs/namespaces/{namespace}"
METADEF_ROUTES: Routes = {
    "/metadefs/namespaces": {"GET": list_namespaces, "POST": create_namespace},
    ONE: {"GET": show_namespace, "PUT": update_namespace, "DELETE": delete_namespace},
    "/metadefs/resource_types": {"GET": list_resource_types},
    "/schemas/metadefs/{name}": {"GET": show_schema},
    f"{ONE}/resource_types": {"GET": ASSOCIATIONS.index, "POST": ASSOCIATIONS.create},
    f"{ONE}/resource_types/{{name}}": {"DELETE": ASSOCIATIONS.delete},
    f"{ONE}/tags": {"GET": TAGS_PART.index, "POST": TAGS_PART.replace_all, "DELETE": TAGS_PART.delete_all},
    f"{ONE}/tags/{{name}}": {
        "GET": TAGS_PART.show,
        "POST": TAGS_PART.create_named,
        "PUT": TAGS_PART.update,
        "DELETE": TAGS_PART.delete,
    },
    **{
        path: methods
        for part in (PROPERTIES, OBJECTS)
        for path, methods in (
            (f"{ONE}/{part.plural}", {"GET": part.index, "POST": part.create, "DELETE": part.delete_all}),
            (f"{ONE}/{part.plural}/{{name}}", {"GET": part.show, "PUT": part.update, "DELETE": part.delete}),
        )
    },
}
