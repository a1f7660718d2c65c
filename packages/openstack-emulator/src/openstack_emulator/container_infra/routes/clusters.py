"""Clusters over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.container_infra.records import Cluster
from openstack_emulator.container_infra.routes.fields import (
    COUNT,
    FLAG,
    LABELS,
    NAMES,
    NUMBER,
    TEXT,
    Field,
    changed,
    fields_of,
    integer,
    since,
    text,
)
from openstack_emulator.container_infra.routes.patches import check_form, patched
from openstack_emulator.container_infra.rules.clusters import INHERITED
from openstack_emulator.container_infra.rules.composition import ContainerClusters
from openstack_emulator.container_infra.rules.inputs import NewCluster
from openstack_emulator.container_infra.rules.nodegroups import WORKER, count_of
from openstack_emulator.container_infra.views import cluster_view
from openstack_emulator.core.errors import bad_request, forbidden
from openstack_emulator.core.http import Request, Response, Version
from openstack_emulator.core.objects import missing, page_response, reader, writer

NAME = r"[a-zA-Z][a-zA-Z0-9_.-]*"
NO_NODES: Version = (1, 10)
"""From this microversion on, clusters may have no workers."""
KNOWN: Mapping[str, Field] = {
    "name": text(NAME, longest=242),
    "cluster_template_id": text(shortest=1),
    "keypair": TEXT,
    "node_count": COUNT,
    "master_count": NUMBER,
    "discovery_url": TEXT,
    "create_timeout": COUNT,
    "labels": LABELS,
    "merge_labels": FLAG,
    "docker_volume_size": NUMBER,
    "flavor_id": TEXT,
    "master_flavor_id": TEXT,
    "fixed_network": TEXT,
    "fixed_subnet": TEXT,
    "floating_ip_enabled": FLAG,
    "master_lb_enabled": FLAG,
}
ROLLBACK_SINCE, RESIZE_SINCE, UPGRADE_SINCE = (1, 3), (1, 7), (1, 8)
SUMMARY = ("uuid", "name", "cluster_template_id", "keypair", "node_count", "master_count", "docker_volume_size",
           "labels", "flavor_id", "master_flavor_id", "create_timeout", "links", "stack_id", "status",
           "health_status", "merge_labels")  # fmt: skip
"""What lists show of a cluster."""
HEALTH = ("health_status", "health_status_reason")
READ_ONLY = ("uuid", "project_id", "user_id", "created_at", "updated_at", "links")
SET_BY_THE_SERVICE = ("status", "status_reason", "stack_id", "node_addresses", "master_addresses", "api_address",
                      "coe_version", "container_version")  # fmt: skip
_RESIZE: Mapping[str, Field] = {
    "node_count": integer(0),
    "nodes_to_remove": NAMES,
    "nodegroup": text(),
}
_UPGRADE: Mapping[str, Field] = {
    "cluster_template": text(),
    "max_batch_size": integer(1),
    "nodegroup": text(),
}


COUNT_FIELD = "node_count"


def _listed(service: ContainerClusters, request: Request, *fields_shown: str) -> Response:
    context, table = reader(request), service.clusters.rows
    rows = list(table) if context.is_admin else table.select(project_id=context.project)

    def shown(base: str, cluster: Cluster) -> dict[str, Any]:
        whole = cluster_view(service, base, cluster)
        return {name: whole[name] for name in fields_shown or whole}

    return page_response(request, "clusters", rows, shown, missing=missing("cluster"))


def index(service: ContainerClusters, request: Request) -> Response:
    return _listed(service, request, *SUMMARY)


def index_in_detail(service: ContainerClusters, request: Request) -> Response:
    return _listed(service, request)


def create(service: ContainerClusters, request: Request) -> Response:
    context = writer(request)
    body = fields_of(request, "cluster", KNOWN, ("cluster_template_id",))
    template = service.templates.find(context, body["cluster_template_id"])
    require_workers(request, body.get(COUNT_FIELD))
    cluster = service.clusters.create(request, template, _new(body))
    return Response({"uuid": cluster.id}, 202)


def _new(body: Mapping[str, Any]) -> NewCluster:
    return NewCluster(
        name=body.get("name"),
        keypair=body.get("keypair"),
        discovery_url=body.get("discovery_url"),
        create_timeout=body.get("create_timeout", 60),
        labels=body.get("labels"),
        merge_labels=body.get("merge_labels", False),
        masters=body.get("master_count", 1),
        workers=body.get(COUNT_FIELD, 1),
        overriding={name: value for name, value in body.items() if name in INHERITED},
        references=body,
    )


def require_workers(request: Request, count: int | None) -> None:
    """Refuse a cluster without workers in older microversions. Raises ApiError 400."""
    if count == 0 and request.version < NO_NODES:
        raise bad_request("Resizing a nodegroup to zero is not supported in the provided microversion.")


def _cluster(service: ContainerClusters, request: Request) -> Cluster:
    return service.clusters.find(request.context, request.vars["key"])


def show(service: ContainerClusters, request: Request) -> Response:
    reader(request)
    return Response(cluster_view(service, request.base, _cluster(service, request)))


def change(service: ContainerClusters, request: Request) -> Response:
    """Change the number of workers; Magnum refuses to change anything else of a cluster but its health."""
    writer(request)
    check_form(request.json)
    cluster = _cluster(service, request)
    worker = service.groups.default(cluster, WORKER)
    shown = cluster_view(service, request.base, cluster)
    document = {name: shown.get(name) for name in (*KNOWN, *HEALTH, *READ_ONLY, *SET_BY_THE_SERVICE)}
    changes = patched({**document, COUNT_FIELD: worker.node_count}, request.json, READ_ONLY)
    count = _count(changes.pop(COUNT_FIELD)) if COUNT_FIELD in changes else worker.node_count
    if refused := sorted(changes.keys() - set(HEALTH)):
        raise bad_request(f"cannot change cluster property(ies) {', '.join(refused)}.")
    if changes:
        request.context.require()
    if count != worker.node_count:
        require_workers(request, count)
        rolls_back = request.version >= ROLLBACK_SINCE and request.query.boolean("rollback")
        resize_group = service.clusters.resize_or_roll_back if rolls_back else service.clusters.resize
        resize_group(cluster, worker, count)
    service.clusters.rows.update(cluster, **changes)
    return Response({"uuid": cluster.id}, 202)


def _count(value: object) -> int:
    """The number of workers that a patch gives a cluster; one without it. Raises ApiError 400."""
    count: int = changed(COUNT_FIELD, 1 if value is None else value, COUNT)
    return count


def delete(service: ContainerClusters, request: Request) -> Response:
    writer(request)
    service.clusters.begin_delete(_cluster(service, request))
    return Response(status=204)


def resize(service: ContainerClusters, request: Request) -> Response:
    since(request, RESIZE_SINCE, "resize")
    writer(request)
    cluster, body = _cluster(service, request), fields_of(request, "cluster_resize_req", _RESIZE, (COUNT_FIELD,))
    count: int = body[COUNT_FIELD]
    require_workers(request, count)
    key = body.get("nodegroup")
    group = service.groups.default(cluster, WORKER) if key is None else service.groups.find(cluster, key)
    service.clusters.resize(cluster, group, count, body.get("nodes_to_remove", ()))
    return Response({"uuid": cluster.id}, 202)


def upgrade(service: ContainerClusters, request: Request) -> Response:
    """Make a cluster, or one of its further node groups, use another template, some nodes at a time."""
    since(request, UPGRADE_SINCE, "upgrade")
    writer(request)
    cluster, body = _cluster(service, request), fields_of(request, "cluster_upgrade_req", _UPGRADE)
    template = service.templates.find(request.context, body.get("cluster_template", "Unset"))
    key = body.get("nodegroup")
    group = None if key is None else service.groups.find(cluster, key)
    service.clusters.upgrade(cluster, template, group, body.get("max_batch_size", 1))
    return Response({"uuid": cluster.id}, 202)


def stats(service: ContainerClusters, request: Request) -> Response:
    """Return the numbers of clusters and of their nodes: of one project, or of all for an administrator."""
    context = request.context
    project_id = request.query.get("project_id")
    if not context.is_admin:
        if project_id not in (None, context.project):
            raise forbidden("Not authorized.")
        project_id = context.project
    rows = service.clusters.rows.select(**({} if project_id is None else {"project_id": project_id}))
    return Response({"clusters": len(rows), "nodes": sum(count_of(service.groups.of(row)) for row in rows)})
