"""Node groups over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.container_infra.records import Cluster, NodeGroup
from openstack_emulator.container_infra.routes.fields import (
    COUNT,
    FLAG,
    LABELS,
    NUMBER,
    TEXT,
    Field,
    changed,
    fields_of,
    since,
    text,
)
from openstack_emulator.container_infra.routes.patches import patched
from openstack_emulator.container_infra.rules.composition import ContainerClusters
from openstack_emulator.container_infra.rules.inputs import NewNodeGroup
from openstack_emulator.container_infra.rules.nodegroups import MASTER, WORKER
from openstack_emulator.container_infra.views import group_view
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.objects import missing, page_response, reader, writer

KNOWN: Mapping[str, Field] = {
    "name": text(shortest=1),
    "node_count": COUNT,
    "min_node_count": COUNT,
    "max_node_count": NUMBER,
    "role": TEXT,
    "flavor_id": TEXT,
    "image_id": TEXT,
    "docker_volume_size": NUMBER,
    "labels": LABELS,
    "merge_labels": FLAG,
}
LEAST, MOST = "min_node_count", "max_node_count"
SINCE = (1, 9)
_ACTIONS = {"GET": "get_one", "POST": "post", "PATCH": "patch", "DELETE": "delete"}
SUMMARY = ("uuid", "name", "flavor_id", "image_id", "node_count", "role", "max_node_count", "is_default", "stack_id",
           "status", "min_node_count", "merge_labels")  # fmt: skip
"""What lists show of a node group."""
NEW = ("uuid", "name", "cluster_id", "flavor_id", "image_id", "labels", "labels_added", "labels_overridden",
       "labels_skipped", "links", "max_node_count", "merge_labels", "min_node_count", "node_count", "project_id",
       "role")  # fmt: skip
"""What the answer to the creation shows."""


def _cluster(service: ContainerClusters, request: Request) -> Cluster:
    since(request, SINCE, _ACTIONS[request.method])
    reader(request)
    return service.clusters.find(request.context, request.vars["key"])


def _summary(base: str, group: NodeGroup) -> dict[str, object]:
    return {name: group.get(name) for name in SUMMARY}


def index(service: ContainerClusters, request: Request) -> Response:
    rows = service.groups.of(_cluster(service, request))
    if (role := request.query.get("role")) is not None:
        rows = [row for row in rows if row.role == role]
    return page_response(request, "nodegroups", rows, _summary, ("role",), missing("nodegroup"))


def create(service: ContainerClusters, request: Request) -> Response:
    writer(request)
    cluster = _cluster(service, request)
    body = fields_of(request, "nodegroup", KNOWN, ("name",))
    service.clusters.require_ready(cluster)
    new = _new(cluster, body)
    if new.role == MASTER:
        raise bad_request("Creating master nodegroups is currently not supported.")
    shown = group_view(request.base, service.clusters.add_group(request, cluster, new))
    return Response({name: shown[name] for name in NEW}, 202)


def _new(cluster: Cluster, body: Mapping[str, Any]) -> NewNodeGroup:
    return NewNodeGroup(
        name=body["name"],
        role=body.get("role", WORKER),
        node_count=body.get("node_count", 1),
        min_node_count=body.get(LEAST, 0),
        max_node_count=body.get(MOST),
        flavor_id=body.get("flavor_id") or cluster.flavor_id,
        image_id=body.get("image_id"),
        docker_volume_size=body.get("docker_volume_size"),
        labels=body.get("labels"),
        merge_labels=body.get("merge_labels", False),
        references=body,
    )


def _group(service: ContainerClusters, request: Request) -> tuple[Cluster, NodeGroup]:
    cluster = _cluster(service, request)
    return cluster, service.groups.find(cluster, request.vars["group"])


def show(service: ContainerClusters, request: Request) -> Response:
    return Response(group_view(request.base, _group(service, request)[1]))


def change(service: ContainerClusters, request: Request) -> Response:
    """Change the limits of a node group's size."""
    writer(request)
    cluster, group = _group(service, request)
    read_only = [name for name in KNOWN if name not in (LEAST, MOST)]
    found = patched({name: group.get(name) for name in KNOWN}, request.json, read_only)
    changes = {name: None if value is None else changed(name, value, KNOWN[name]) for name, value in found.items()}
    least, most = changes.get(LEAST, group.min_node_count) or 0, changes.get(MOST, group.max_node_count)
    service.clusters.limit_group(cluster, group, least, most)
    shown = group_view(request.base, group)
    service.clusters.begin_group_update(cluster, group)
    return Response(shown, 202)


def delete(service: ContainerClusters, request: Request) -> Response:
    writer(request)
    service.clusters.delete_group(*_group(service, request))
    return Response(status=204)
