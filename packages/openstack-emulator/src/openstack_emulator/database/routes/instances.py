"""Instances over HTTP: creation, lists, changes and deletion."""

from __future__ import annotations

from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.database.records import Instance
from openstack_emulator.database.routes.bodies import key_of
from openstack_emulator.database.routes.lists import list_response
from openstack_emulator.database.rules.composition import DatabaseService
from openstack_emulator.database.rules.creation import access_of
from openstack_emulator.database.rules.errors import unavailable
from openstack_emulator.database.rules.instances import require_standalone
from openstack_emulator.database.rules.validation import check
from openstack_emulator.database.views import instance_detail, instance_summary

_TEXT = fields.nullable(fields.text(0, 255))
_CHANGES = {
    "name": fields.text(1, 255),
    "configuration": _TEXT,
    "remove_configuration": fields.boolean,
    "replica_of": _TEXT,
    "slave_of": _TEXT,
    "datastore_version": fields.text(1),
    "access": fields.mapping,
}


def reach(service: DatabaseService, request: Request) -> Instance:
    """The instance in the path, which the caller may see. Raises ApiError 404."""
    return service.instances.reach(request.context, key_of(request))


def standalone_instance(service: DatabaseService, request: Request) -> Instance:
    """The instance in the path, which can be changed now and is not part of a cluster. Raises ApiError."""
    return service.instances.standalone_instance(request.context, key_of(request))


def create(service: DatabaseService, request: Request) -> Response:
    return Response({"instance": instance_detail(service, request, service.creation.create(request))})


def _rows(service: DatabaseService, request: Request) -> list[Instance]:
    rows = service.instances.rows.select(project_id=request.context.project)
    if not request.query.boolean("include_clustered"):
        rows = [row for row in rows if row.cluster_id is None]
    return rows


def index(service: DatabaseService, request: Request) -> Response:
    rows = _rows(service, request)
    return list_response(request, "instances", rows, lambda row: instance_summary(service, request, row))


def detail(service: DatabaseService, request: Request) -> Response:
    rows = _rows(service, request)
    return list_response(request, "instances", rows, lambda row: instance_detail(service, request, row))


def show(service: DatabaseService, request: Request) -> Response:
    return Response({"instance": instance_detail(service, request, reach(service, request))})


def show_default_configuration(service: DatabaseService, request: Request) -> Response:
    """The parameters that are set on an instance without a configuration group."""
    values = service.configurations.default_values(reach(service, request))
    return Response({"instance": {"configuration": values}})


def delete(service: DatabaseService, request: Request) -> Response:
    instance = reach(service, request)
    require_standalone(instance)
    service.instances.delete(instance)
    return Response(status=202)


def edit(service: DatabaseService, request: Request) -> Response:
    """Change what the request names; the rest stays."""
    instance, instances = reach(service, request), service.instances
    require_standalone(instance)
    body = check("instance", request.object("instance"), _CHANGES)
    if instance.status == "BUILD":
        raise unavailable(instance)
    if (name := body.get("name")) is not None:
        instances.rows.update(instance, name=name)
    if (access := body.get("access")) is not None:
        instances.rows.update(instance, access=access_of(access))
    configuration = body.get("configuration")
    if configuration or "configuration" in body or as_boolean(body.get("remove_configuration", False)):
        service.configurations.attach(request.context, instance, configuration)
    for source in ("replica_of", "slave_of"):
        if source in body:
            instances.detach(instance, body[source])
    if (version := body.get("datastore_version")) is not None:
        _upgrade(service, instance, version)
    return Response(status=202)


def replace(service: DatabaseService, request: Request) -> Response:
    """Like `edit`, but an empty object removes the configuration group."""
    if request.object("instance"):
        return edit(service, request)
    instance = reach(service, request)
    require_standalone(instance)
    service.configurations.attach(request.context, instance, None)
    return Response(status=202)


def _upgrade(service: DatabaseService, instance: Instance, key: str) -> None:
    datastores = service.datastores
    service.instances.require_ready(instance)
    store = datastores.store_of(datastores.versions.require(instance.datastore_version_id))
    service.instances.change(instance, "UPGRADE", datastore_version_id=datastores.version(store, key).id)


# -- for administrators -------------------------------------------------------------------------------------------


def list_all(service: DatabaseService, request: Request) -> Response:
    rows = list(service.instances.rows)
    if (project := request.query.get("project_id")) is not None:
        rows = [row for row in rows if row.project_id == project]
    if request.query.boolean("include_clustered") is False:
        rows = [row for row in rows if row.cluster_id is None]
    return list_response(request, "instances", rows, lambda row: instance_detail(service, request, row))
