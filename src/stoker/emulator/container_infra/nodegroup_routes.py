"""Node groups over HTTP."""

from __future__ import annotations

from typing import Any

from stoker.emulator.container_infra.clusters import Clusters
from stoker.emulator.container_infra.http import given
from stoker.emulator.container_infra.nodegroups import CHANGEABLE, KNOWN, MASTER, WORKER
from stoker.emulator.container_infra.templates import check_reference
from stoker.emulator.core import fields
from stoker.emulator.core.component import using
from stoker.emulator.core.errors import bad_request
from stoker.emulator.core.http import Request, Response
from stoker.emulator.core.json_patch import patched
from stoker.emulator.core.objects import links, listed, require_version, writer
from stoker.emulator.core.store import Record

SINCE = (1, 9)


def _cluster(clusters: Clusters, request: Request) -> Record:
    require_version(request, SINCE)
    return clusters.find(request.context, request.vars["key"])


def view(base: str, group: Record) -> dict[str, Any]:
    """Return a node group as clients see it."""
    path = f"clusters/{group['cluster_id']}/nodegroups"
    shown = {name: value for name, value in group.items() if not name.startswith("_")}
    return {**shown, "links": links(base, path, group["id"])}


def index(clusters: Clusters, request: Request) -> Response:
    rows = clusters.groups.of(_cluster(clusters, request))
    if (role := request.query.get("role")) is not None:
        rows = [row for row in rows if row["role"] == role]
    return listed(request, "nodegroups", rows, view, ("role",))


def create(clusters: Clusters, request: Request) -> Response:
    writer(request)
    cluster = _cluster(clusters, request)
    wanted = given(request, KNOWN, ("name",))
    clusters.require_ready(cluster)
    role = wanted.get("role", WORKER)
    if role == MASTER:
        raise bad_request("Nodegroups with the role master cannot be added to a cluster.")
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
        docker_volume_size=wanted.get("docker_volume_size") or cluster["docker_volume_size"],
        labels=cluster["labels"] if merged is None else merged,
        merge_labels=bool(wanted.get("merge_labels")),
    )
    clusters.begin_update(cluster)
    return Response(view(request.base, group), 202)


def _group(clusters: Clusters, request: Request) -> tuple[Record, Record]:
    cluster = _cluster(clusters, request)
    return cluster, clusters.groups.find(cluster, request.vars["group"])


def show(clusters: Clusters, request: Request) -> Response:
    return Response(view(request.base, _group(clusters, request)[1]))


def change(clusters: Clusters, request: Request) -> Response:
    """Change the limits of a node group's size."""
    writer(request)
    cluster, group = _group(clusters, request)
    found = patched({name: group.get(name) for name in KNOWN}, request.json)
    if refused := sorted(found.keys() - set(CHANGEABLE)):
        raise bad_request(f"cannot change nodegroup property(ies) {', '.join(refused)}.")
    for name, value in found.items():
        if (problem := KNOWN[name](value)) is not None:
            raise fields.invalid(name, value, problem)
    changes = {name: fields.as_integer(value) for name, value in found.items()}
    if "min_node_count" in changes:
        changes["min_node_count"] = changes["min_node_count"] or 0
    clusters.groups.check_limits({**group, **changes}, group["node_count"])
    clusters.require_ready(cluster)
    clusters.groups.rows.update(group, **changes, status="UPDATE_IN_PROGRESS")
    clusters.begin_update(cluster)
    return Response(view(request.base, group), 202)


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
