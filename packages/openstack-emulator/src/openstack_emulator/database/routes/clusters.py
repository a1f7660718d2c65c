"""Clusters over HTTP."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.rules import visible
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.problems import Check
from openstack_emulator.database.records import Cluster
from openstack_emulator.database.routes.bodies import action_of, key_of
from openstack_emulator.database.routes.contents import superuser
from openstack_emulator.database.routes.lists import list_response
from openstack_emulator.database.rules.composition import DatabaseService
from openstack_emulator.database.rules.creation import DATASTORE_FORMS
from openstack_emulator.database.rules.validation import check, filled_list, objects
from openstack_emulator.database.views import cluster_view, member_view

ID = "id"
_FORMS: Mapping[str, Check] = {
    "name": fields.text(1, 255),
    "datastore": fields.nullable(fields.mapping),
    "instances": filled_list,
    "locality": fields.nullable(fields.one_of("affinity", "anti-affinity")),
    "configuration": fields.nullable(fields.text(1)),
}


def _cluster(service: DatabaseService, request: Request) -> Cluster:
    return visible(service.clusters.rows, request.context, key_of(request))


def _idle_cluster(service: DatabaseService, request: Request) -> Cluster:
    return service.clusters.idle(request.context, key_of(request))


def create(service: DatabaseService, request: Request) -> Response:
    body = check("cluster", request.object("cluster"), _FORMS, ("name", "datastore", "instances"))
    if body.get("configuration"):
        raise bad_request("This cloud does not support configuration groups of clusters.")
    version = service.datastores.chosen(check("datastore", body["datastore"], DATASTORE_FORMS))
    members, locality = body["instances"], body.get("locality")
    cluster = service.clusters.create(request, body["name"], version, locality, members)
    return Response({"cluster": cluster_view(service, request, cluster)}, 202)


def index(service: DatabaseService, request: Request) -> Response:
    rows = service.clusters.rows.select(project_id=request.context.project)
    return list_response(request, "clusters", rows, lambda row: cluster_view(service, request, row))


def show(service: DatabaseService, request: Request) -> Response:
    return Response({"cluster": cluster_view(service, request, _cluster(service, request))})


def delete(service: DatabaseService, request: Request) -> Response:
    service.clusters.delete(_idle_cluster(service, request))
    return Response(status=202)


def act(service: DatabaseService, request: Request) -> Response:
    """Grow or shrink a cluster, or end a task that hangs."""
    name, arguments = action_of(request)
    if name == "reset-status":
        request.context.require()
        service.clusters.end_task(_cluster(service, request))
    elif name == "grow":
        service.clusters.grow(request, _idle_cluster(service, request), arguments)
    elif name == "shrink":
        cluster = _idle_cluster(service, request)
        keys = {member[ID] for member in objects("shrink", arguments, {ID: fields.text(1)}, (ID,))}
        service.clusters.shrink(cluster, keys)
    else:
        raise bad_request(f"The action '{name}' is not supported; actions are grow, shrink, reset-status.")
    return Response(status=202)


def show_root(service: DatabaseService, request: Request) -> Response:
    members = service.clusters.members(_cluster(service, request))
    return Response({"rootEnabled": any(member.root_enabled for member in members)})


def enable_root(service: DatabaseService, request: Request) -> Response:
    cluster = _idle_cluster(service, request)
    user = superuser(request)
    service.clusters.enable_root(cluster)
    return Response({"user": user})


def show_instance(service: DatabaseService, request: Request) -> Response:
    """One instance of a cluster."""
    key = request.vars["instance"]
    for row in service.clusters.members(_cluster(service, request)):
        if row.id == key:
            return Response({"instance": member_view(request, row)})
    raise service.instances.rows.missing(key)
