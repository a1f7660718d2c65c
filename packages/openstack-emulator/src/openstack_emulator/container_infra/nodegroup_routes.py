"""Node groups over HTTP."""

from __future__ import annotations

from typing import Any

from openstack_emulator.container_infra.clusters import Clusters
from openstack_emulator.container_infra.http import changed, given, since
from openstack_emulator.container_infra.nodegroups import CHANGEABLE, KNOWN, MASTER, WORKER, check_range
from openstack_emulator.container_infra.patching import patched
from openstack_emulator.container_infra.templates import check_reference
from openstack_emulator.core.component import using
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.objects import TIMESTAMP, links, listed, missing, reader, writer
from openstack_emulator.core.store import Record

SINCE = (1, 9)
_ACTIONS = {"GET": "get_one", "POST": "post", "PATCH": "patch", "DELETE": "delete"}
SUMMARY = ("uuid", "name", "flavor_id", "image_id", "node_count", "role", "max_node_count", "is_default", "stack_id",
           "status", "min_node_count", "merge_labels")  # fmt: skip
"""What lists show of a node group."""
NEW = ("uuid", "name", "cluster_id", "flavor_id", "image_id", "labels", "labels_added", "labels_overridden",
       "labels_skipped", "links", "max_node_count", "merge_labels", "min_node_count", "node_count", "project_id",
       "role")  # fmt: skip
"""What the answer to the creation shows."""


def _cluster(clusters: Clusters, request: Request) -> Record:
    since(request, SINCE, _ACTIONS[request.method])
    reader(request)
    return clusters.find(request.context, request.vars["key"])


def view(base: str, group: Record) -> dict[str, Any]:
    """Return a node group as clients see it."""
    path = f"clusters/{group['cluster_id']}/nodegroups"
    shown = {name: value for name, value in group.items() if not name.startswith("_")}
    return {
        **shown,
        "id": group["_number"],
        "labels_added": {},
        "labels_overridden": {},
        "labels_skipped": {},
        "node_labels": {},
        "node_taints": [],
        "links": links(base, path, group["id"]),
    }


def _summary(base: str, group: Record) -> dict[str, Any]:
    return {name: group[name] for name in SUMMARY}


def index(clusters: Clusters, request: Request) -> Response:
    rows = clusters.groups.of(_cluster(clusters, request))
    if (role := request.query.get("role")) is not None:
        rows = [row for row in rows if row["role"] == role]
    return listed(request, "nodegroups", rows, _summary, ("role",), missing("nodegroup"))


def create(clusters: Clusters, request: Request) -> Response:
    writer(request)
    cluster = _cluster(clusters, request)
    wanted = given(request, "nodegroup", KNOWN, ("name",))
    clusters.require_ready(cluster)
    role = wanted.get("role", WORKER)
    if role == MASTER:
        raise bad_request("Creating master nodegroups is currently not supported.")
    for name, value in wanted.items():
        check_reference(clusters.cloud, request, name, value)
    own = wanted.get("labels")
    merged = {**cluster["labels"], **(own or {})} if wanted.get("merge_labels") else own
    group = clusters.groups.add(
        cluster,
        name=wanted["name"],
        role=role,
        node_count=wanted.get("node_count", 1),
        min_node_count=wanted.get("min_node_count", 0),
        max_node_count=wanted.get("max_node_count"),
        flavor_id=wanted.get("flavor_id") or cluster["flavor_id"],
        image_id=wanted.get("image_id") or clusters.template_of(cluster)["image_id"],
        docker_volume_size=wanted.get("docker_volume_size"),
        labels=cluster["labels"] if merged is None else merged,
        merge_labels=bool(wanted.get("merge_labels")),
        updated_at=clusters.records.timestamp(TIMESTAMP),
    )
    clusters.begin_update(cluster)
    shown = view(request.base, group)
    return Response({name: shown[name] for name in NEW}, 202)


def _group(clusters: Clusters, request: Request) -> tuple[Record, Record]:
    cluster = _cluster(clusters, request)
    return cluster, clusters.groups.find(cluster, request.vars["group"])


def show(clusters: Clusters, request: Request) -> Response:
    return Response(view(request.base, _group(clusters, request)[1]))


def change(clusters: Clusters, request: Request) -> Response:
    """Change the limits of a node group's size."""
    writer(request)
    cluster, group = _group(clusters, request)
    read_only = [name for name in KNOWN if name not in CHANGEABLE]
    found = patched({name: group.get(name) for name in KNOWN}, request.json, read_only)
    changes = {name: None if value is None else changed(name, value, KNOWN[name]) for name, value in found.items()}
    if "min_node_count" in changes:
        changes["min_node_count"] = changes["min_node_count"] or 0
    check_range({**group, **changes}, group["node_count"])
    clusters.require_ready(cluster)
    clusters.groups.rows.update(group, **changes)
    shown = view(request.base, group)
    clusters.groups.rows.update(group, status="UPDATE_IN_PROGRESS")
    clusters.begin_update(cluster)
    return Response(shown, 202)


def delete(clusters: Clusters, request: Request) -> Response:
    writer(request)
    cluster, group = _group(clusters, request)
    if group["is_default"]:
        raise bad_request("Deleting a default nodegroup is not supported.")
    clusters.require_ready(cluster)
    clusters.groups.rows.update(group, status="DELETE_IN_PROGRESS")
    clusters.begin_update(cluster)
    return Response(status=204)


NODEGROUP_ROUTES = using(
    Clusters,
    {
        "/clusters/{key}/nodegroups": {"GET": index, "POST": create},
        "/clusters/{key}/nodegroups/{group}": {"GET": show, "PATCH": change, "DELETE": delete},
    },
)
