"""Clusters over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

from openstack_emulator.container_infra.clusters import (
    KNOWN,
    SECONDS_TO_UPDATE,
    Clusters,
    require_workers,
)
from openstack_emulator.container_infra.http import Check, changed, given, integer, names, since, text
from openstack_emulator.container_infra.nodegroups import WORKER
from openstack_emulator.container_infra.patching import check_form, patched
from openstack_emulator.core.component import using
from openstack_emulator.core.errors import bad_request, conflict, forbidden
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.objects import links, listed, missing, reader, writer
from openstack_emulator.core.store import Record

ROLLBACK_SINCE, RESIZE_SINCE, UPGRADE_SINCE = (1, 3), (1, 7), (1, 8)
SUMMARY = ("uuid", "name", "cluster_template_id", "keypair", "node_count", "master_count", "docker_volume_size",
           "labels", "flavor_id", "master_flavor_id", "create_timeout", "links", "stack_id", "status",
           "health_status", "merge_labels")  # fmt: skip
"""What lists show of a cluster."""
HIDDEN = ("id", "faults")
HEALTH = ("health_status", "health_status_reason")
READ_ONLY = ("uuid", "project_id", "user_id", "created_at", "updated_at", "links")
SET_BY_THE_SERVICE = ("status", "status_reason", "stack_id", "node_addresses", "master_addresses", "api_address",
                      "coe_version", "container_version")  # fmt: skip
_RESIZE: Mapping[str, Check] = {
    "node_count": integer(0),
    "nodes_to_remove": names,
    "nodegroup": text(),
}
_UPGRADE: Mapping[str, Check] = {
    "cluster_template": text(),
    "max_batch_size": integer(1),
    "nodegroup": text(),
}


def view(clusters: Clusters, base: str, cluster: Record) -> dict[str, Any]:
    """Return a cluster as clients see it."""
    groups = clusters.groups
    shown = {name: value for name, value in cluster.items() if name not in HIDDEN and name[0] != "_"}
    template_labels = clusters.template_of(cluster)["labels"]
    labels = cluster["labels"]
    return {
        **shown,
        "node_count": groups.count(cluster, masters=False),
        "master_count": groups.count(cluster, masters=True),
        "node_addresses": groups.addresses(cluster, masters=False),
        "master_addresses": groups.addresses(cluster, masters=True),
        "labels_overridden": {
            name: value for name, value in template_labels.items() if labels.get(name, value) != value
        },
        "labels_added": {name: value for name, value in labels.items() if name not in template_labels},
        "labels_skipped": {name: value for name, value in template_labels.items() if name not in labels},
        "links": links(base, "clusters", cluster["id"]),
    }


def _listed(clusters: Clusters, request: Request, fields_shown: tuple[str, ...] | None) -> Response:
    context = reader(request)
    rows = list(clusters.rows) if context.is_admin else clusters.rows.select(project_id=context.project)

    def shown(base: str, cluster: Record) -> dict[str, Any]:
        whole = view(clusters, base, cluster)
        return whole if fields_shown is None else {name: whole[name] for name in fields_shown}

    return listed(request, "clusters", rows, shown, missing=missing("cluster"))


def index(clusters: Clusters, request: Request) -> Response:
    return _listed(clusters, request, SUMMARY)


def index_in_detail(clusters: Clusters, request: Request) -> Response:
    return _listed(clusters, request, None)


def create(clusters: Clusters, request: Request) -> Response:
    writer(request)
    key = clusters.create(request)["id"]
    return Response({"uuid": key}, 202)


def _cluster(clusters: Clusters, request: Request) -> Record:
    return clusters.find(request.context, request.vars["key"])


def show(clusters: Clusters, request: Request) -> Response:
    reader(request)
    return Response(view(clusters, request.base, _cluster(clusters, request)))


def change(clusters: Clusters, request: Request) -> Response:
    """Change the number of workers; Magnum refuses to change anything else of a cluster."""
    writer(request)
    check_form(request.json)
    cluster = _cluster(clusters, request)
    shown = view(clusters, request.base, cluster)
    worker = clusters.groups.default(cluster, WORKER)
    document = {name: shown.get(name) for name in (*KNOWN, *HEALTH, *READ_ONLY, *SET_BY_THE_SERVICE)}
    document["node_count"] = worker["node_count"]
    changes = patched(document, request.json, READ_ONLY)
    if "node_count" in changes:
        count = 1 if changes["node_count"] is None else changes["node_count"]
        changes["node_count"] = changed("node_count", count, integer(0))
        if changes["node_count"] == document["node_count"]:
            del changes["node_count"]
    if refused := sorted(changes.keys() - {"node_count", *HEALTH}):
        raise bad_request(f"cannot change cluster property(ies) {', '.join(refused)}.")
    if changes.keys() & set(HEALTH):
        request.context.require()
    if changes.get("node_count") == 0:
        require_workers(request)
    if "node_count" in changes:
        rolls_back = request.version >= ROLLBACK_SINCE and request.query.boolean("rollback")
        resize_group = clusters.resize_or_roll_back if rolls_back else clusters.resize
        resize_group(cluster, worker, changes.pop("node_count"))
    clusters.rows.update(cluster, **changes)
    return Response({"uuid": cluster["id"]}, 202)


def delete(clusters: Clusters, request: Request) -> Response:
    writer(request)
    clusters.begin_delete(_cluster(clusters, request))
    return Response(status=204)


def resize(clusters: Clusters, request: Request) -> Response:
    since(request, RESIZE_SINCE, "resize")
    writer(request)
    cluster, wanted = _cluster(clusters, request), given(request, "cluster_resize_req", _RESIZE, ("node_count",))
    count = wanted["node_count"]
    if count == 0:
        require_workers(request)
    groups = clusters.groups
    group = groups.find(cluster, wanted["nodegroup"]) if "nodegroup" in wanted else groups.default(cluster, WORKER)
    clusters.resize(cluster, group, count, wanted.get("nodes_to_remove", ()))
    return Response({"uuid": cluster["id"]}, 202)


def upgrade(clusters: Clusters, request: Request) -> Response:
    """Make a cluster, or one of its further node groups, use another template, some nodes at a time."""
    since(request, UPGRADE_SINCE, "upgrade")
    writer(request)
    cluster, wanted = _cluster(clusters, request), given(request, "cluster_upgrade_req", _UPGRADE)
    template = clusters.templates.find(request.context, wanted.get("cluster_template", "Unset"))
    before = clusters.template_of(cluster)
    group = clusters.groups.find(cluster, wanted["nodegroup"]) if "nodegroup" in wanted else None
    if template["coe"] != before["coe"]:
        raise bad_request(f"A cluster of {before['coe']} cannot be upgraded to {template['coe']}.")
    if group is not None and not group["is_default"] and template is not before:
        raise conflict(
            f"Nodegroup {group['name']} can be upgraded only to match cluster's template ({before['name']})."
        )
    clusters.require_ready(cluster)
    nodes = clusters.groups.count(cluster, masters=False) if group is None else group["node_count"]
    batches = ceil(nodes / wanted.get("max_batch_size", 1)) or 1
    upgraded = clusters.groups.of(cluster) if group is None else [group]
    for one in upgraded:
        clusters.groups.rows.update(one, image_id=template["image_id"], status="UPDATE_IN_PROGRESS")
    clusters.rows.update(cluster, cluster_template_id=template["id"])
    clusters.begin_update(cluster, SECONDS_TO_UPDATE * batches)
    return Response({"uuid": cluster["id"]}, 202)


def stats(clusters: Clusters, request: Request) -> Response:
    """Return the numbers of clusters and of their nodes: of one project, or of all for an administrator."""
    context = request.context
    project_id = request.query.get("project_id")
    if not context.is_admin:
        if project_id not in (None, context.project):
            raise forbidden("Not authorized.")
        project_id = context.project
    rows = clusters.rows.select(**({} if project_id is None else {"project_id": project_id}))
    nodes = sum(clusters.groups.count(row, masters) for row in rows for masters in (True, False))
    return Response({"clusters": len(rows), "nodes": nodes})


CLUSTER_ROUTES = using(
    Clusters,
    {
        "/clusters": {"GET": index, "POST": create},
        "/clusters/detail": {"GET": index_in_detail},
        "/clusters/{key}": {"GET": show, "PATCH": change, "DELETE": delete},
        "/clusters/{key}/actions/resize": {"POST": resize},
        "/clusters/{key}/actions/upgrade": {"POST": upgrade},
        "/stats": {"GET": stats},
    },
)
