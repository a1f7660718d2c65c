"""Datastores, their versions and parameters over HTTP."""

from __future__ import annotations

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.core.validation.problems import Problem, specific
from openstack_emulator.database.records import Datastore, DatastoreVersion
from openstack_emulator.database.routes.lists import list_response
from openstack_emulator.database.rules.composition import DatabaseService
from openstack_emulator.database.rules.errors import missing
from openstack_emulator.database.rules.inputs import NewVersion
from openstack_emulator.database.rules.validation import check
from openstack_emulator.database.views import datastore_view, managed_version, parameter_view, version_view

_VERSION_FORMS = {
    "datastore_name": fields.text(1),
    "datastore_manager": fields.text(1),
    "name": fields.text(1),
    "image": fields.nullable(fields.text(1)),
    "image_tags": fields.items(fields.text(1)),
    "packages": fields.items(fields.text(1)),
    "active": fields.boolean,
    "default": fields.boolean,
    "version": fields.nullable(fields.text(1)),
}
_CHANGED = {
    "datastore_manager": "manager",
    **{name: name for name in ("name", "image", "image_tags", "packages", "version")},
}
"""What a request can change of a version, with the names of the fields."""


def _store(service: DatabaseService, request: Request) -> Datastore:
    return service.datastores.datastore(request.vars["datastore"])


def _key(request: Request) -> str:
    return request.vars["version"]


def _version(service: DatabaseService, request: Request) -> DatastoreVersion:
    """The version in the path, of a datastore in the path if there is one. Raises ApiError 400 and 404."""
    key, versions = _key(request), service.datastores.versions
    if "datastore" in request.vars:
        found = service.datastores.version(_store(service, request), key)
    else:
        found = versions.require(key)
    if not found.active and not request.context.is_admin:
        raise versions.missing(key)
    return found


def _visible_versions(service: DatabaseService, request: Request, store: Datastore) -> list[DatastoreVersion]:
    found = service.datastores.versions.select(datastore_id=store.id)
    return [version for version in found if version.active or request.context.is_admin]


def _view(service: DatabaseService, request: Request, store: Datastore) -> dict[str, object]:
    return datastore_view(request, store, _visible_versions(service, request, store))


def index(service: DatabaseService, request: Request) -> Response:
    rows = list(service.datastores.rows)
    return list_response(request, "datastores", rows, lambda row: _view(service, request, row))


def show(service: DatabaseService, request: Request) -> Response:
    return Response({"datastore": _view(service, request, _store(service, request))})


def delete(service: DatabaseService, request: Request) -> Response:
    service.datastores.remove(_store(service, request))
    return Response(status=202)


def list_versions(service: DatabaseService, request: Request) -> Response:
    rows = _visible_versions(service, request, _store(service, request))
    return list_response(request, "versions", rows, lambda row: version_view(request, row))


def show_version(service: DatabaseService, request: Request) -> Response:
    return Response({"version": version_view(request, _version(service, request))})


def list_parameters(service: DatabaseService, request: Request) -> Response:
    version = _version(service, request)
    shown = [parameter_view(version, parameter) for parameter in service.datastores.parameters(version)]
    return Response({"configuration-parameters": shown})


def show_parameter(service: DatabaseService, request: Request) -> Response:
    name, version = request.vars["name"], _version(service, request)
    for parameter in service.datastores.parameters(version):
        if parameter.name == name:
            return Response(parameter_view(version, parameter))
    raise missing(name)


# -- for administrators -------------------------------------------------------------------------------------------


def create_version(service: DatabaseService, request: Request) -> Response:
    body = check("version", request.object("version"), _VERSION_FORMS, ("datastore_name", "datastore_manager", "name"))
    if not body.get("image") and not body.get("image_tags"):
        raise bad_request("Either image or image_tags must be specified.")
    name = body["name"]
    service.datastores.add_version(
        NewVersion(
            datastore=body["datastore_name"],
            manager=body["datastore_manager"],
            name=name,
            is_default=bool(as_boolean(body.get("default", False))),
            active=bool(as_boolean(body.get("active", True))),
            version=body.get("version") or name,
            image=body.get("image"),
            image_tags=body.get("image_tags", []),
            packages=body.get("packages", []),
        )
    )
    return Response(status=202)


def list_all_versions(service: DatabaseService, request: Request) -> Response:
    rows = list(service.datastores.versions)
    return list_response(request, "versions", rows, lambda row: managed_version(service.datastores.store_of(row), row))


def show_any_version(service: DatabaseService, request: Request) -> Response:
    version = service.datastores.versions.require(_key(request))
    return Response({"version": managed_version(service.datastores.store_of(version), version)})


def _unchangeable(value: object) -> Problem | None:
    return specific(value, "cannot be changed")


def change_version(service: DatabaseService, request: Request) -> Response:
    datastores = service.datastores
    version = datastores.versions.require(_key(request))
    body = check("body", request.json, {**_VERSION_FORMS, "datastore_name": _unchangeable})
    changes = {field: body[name] for name, field in _CHANGED.items() if name in body}
    if (active := as_boolean(body.get("active"))) is not None:
        changes |= {"active": active}
    datastores.versions.update(version, **changes)
    store = datastores.store_of(version)
    is_default = as_boolean(body.get("default"))
    if is_default:
        datastores.set_default(store, version.id)
    elif is_default is not None and store.default_version == version.id:
        datastores.set_default(store, None)
    return Response(status=202)
