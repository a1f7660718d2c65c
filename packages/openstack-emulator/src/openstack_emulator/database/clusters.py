"""Clusters of instances, which grow and shrink."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component, using, visible
from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.database.content_routes import superuser
from openstack_emulator.database.creation import DATASTORE_FORMS, VOLUME_FORMS, Creation, Planned
from openstack_emulator.database.datastores import CLUSTERS, Datastores
from openstack_emulator.database.flavors import flavor
from openstack_emulator.database.http import SECONDS, action_of, check, links, listed, objects
from openstack_emulator.database.instances import SECONDS_TO_BUILD, SECONDS_TO_CHANGE, SECONDS_TO_DELETE, Instances
from openstack_emulator.database.networks import NIC_FORMS, nics_problem

NO_TASK = "NONE"
TASKS = {
    NO_TASK: (1, "No tasks for the cluster."),
    "BUILDING": (2, "Building the initial cluster."),
    "DELETING": (3, "Deleting the cluster."),
    "GROWING_CLUSTER": (6, "Increasing the size of the cluster."),
    "SHRINKING_CLUSTER": (7, "Decreasing the size of the cluster."),
}
_TEXT = fields.nullable(fields.text(1))
_OBJECT = fields.nullable(lambda value: None if isinstance(value, dict) else "is not an object")
_FORMS: Mapping[str, fields.Check] = {
    "name": fields.text(1, 255),
    "datastore": _OBJECT,
    "instances": lambda value: None if isinstance(value, list) and value else "is not a list with items",
    "locality": fields.nullable(fields.one_of("affinity", "anti-affinity")),
    "configuration": _TEXT,
}
_MEMBER_FORMS: Mapping[str, fields.Check] = {
    "name": fields.text(1, 255),
    "flavorRef": fields.either(fields.integer(0), fields.text(1)),
    "volume": _OBJECT,
    "nics": fields.anything,
    "availability_zone": _TEXT,
    "region_name": _TEXT,
}


class Clusters(Component):
    """The clusters of all projects."""

    def __init__(self, records: Records, instances: Instances, datastores: Datastores, creation: Creation) -> None:
        super().__init__(records)
        self.instances, self.datastores, self.creation = instances, datastores, creation
        self.rows = records.collection(
            "clusters", ("project_id",), lambda key: not_found(f"Cluster {key} cannot be found.")
        )
        records.deferrable(self.finish_cluster, self.remove_cluster)

    def members(self, cluster: Record) -> list[Record]:
        """The instances of a cluster."""
        return self.instances.rows.select(cluster_id=cluster["id"])

    def idle(self, request: Request) -> Record:
        """The cluster that a request names, without a task. Raises ApiError 404 and 422."""
        cluster = visible(self.rows, request.context, request.vars["id"])
        if cluster["task"] != NO_TASK:
            raise ApiError(
                422, f"This action is not allowed on the cluster while in its current task ({cluster['task']})."
            )
        return cluster

    def begin(self, cluster: Record, task: str, seconds: float) -> None:
        """Give a cluster a task for a while."""
        self.rows.update(cluster, task=task, updated=self.records.timestamp(SECONDS))
        self.after(seconds, self.finish_cluster, cluster["id"], task)

    def finish_cluster(self, key: str, task: str) -> None:
        """End the task of a cluster."""
        cluster = self.rows.get(key)
        if cluster is not None and cluster["task"] == task:
            self.rows.update(cluster, task=NO_TASK, updated=self.records.timestamp(SECONDS))

    def remove_cluster(self, key: str) -> None:
        """Remove a cluster when its instances are gone."""
        cluster = self.rows.get(key)
        if cluster is None:
            return
        if left := self.members(cluster):
            if any(one["status"] == "SHUTDOWN" for one in left):
                self.after(SECONDS_TO_DELETE, self.remove_cluster, key)
            else:
                self.rows.update(cluster, task=NO_TASK)
            return
        self.rows.remove(cluster)

    def add_members(self, request: Request, cluster: Record, wanted: Any) -> list[Record]:
        """Add instances to a cluster as a request describes them. Raises ApiError 400, 404 and 413."""
        described = objects("instances", wanted, _MEMBER_FORMS, ("flavorRef", "volume"))
        present = self.members(cluster)
        prepared: list[Planned] = []
        for number, one in enumerate(described, start=len(present) + 1):
            nics: Sequence[Mapping[str, Any]] = objects("nics", one.get("nics"), NIC_FORMS)
            if (problem := nics_problem(self.cloud, request.context, nics)) is not None:
                raise bad_request(problem)
            found = flavor(self.cloud, request, one["flavorRef"])
            volume = check("volume", one["volume"], VOLUME_FORMS, ("size",))
            values = {
                "name": one.get("name") or f"{cluster['name']}-member-{number}",
                "type": "member",
                "cluster_id": cluster["id"],
                "flavor_id": found["id"],
                "_ram": found["ram"],
                "volume_size": fields.as_integer(volume["size"]),
                "volume_type": volume.get("type"),
                "datastore_version_id": cluster["datastore_version_id"],
                "availability_zone": one.get("availability_zone"),
                "region": one.get("region_name") or "RegionOne",
                "locality": cluster["locality"],
                "access": None,
            }
            prepared.append((values, nics))
        return self.creation.add(cluster["project_id"], prepared)


def create(clusters: Clusters, request: Request) -> Response:
    given = check("cluster", request.object("cluster"), _FORMS, ("name", "datastore", "instances"))
    if given.get("configuration"):
        raise bad_request("This cloud does not support configuration groups of clusters.")
    version = clusters.datastores.chosen(check("datastore", given["datastore"], DATASTORE_FORMS))
    store = clusters.datastores.name_of(version)
    if store not in CLUSTERS:
        raise bad_request(f"Clusters not supported for {store}-{version['name']}.")
    if len(given["instances"]) < CLUSTERS[store]:
        raise bad_request(f"The number of instances for your initial cluster must be at least {CLUSTERS[store]}.")
    now = clusters.records.timestamp(SECONDS)
    cluster = {
        "id": new_id(),
        "project_id": request.context.project,
        "name": given["name"],
        "datastore_version_id": version["id"],
        "locality": given.get("locality"),
        "task": "BUILDING",
        "created": now,
        "updated": now,
    }
    clusters.add_members(request, cluster, given["instances"])
    clusters.rows.add(cluster)
    clusters.begin(cluster, "BUILDING", SECONDS_TO_BUILD)
    return Response({"cluster": view(clusters, request, cluster)}, 202)


def view(clusters: Clusters, request: Request, cluster: Record) -> dict[str, Any]:
    """A cluster as clients see it."""
    number, description = TASKS[cluster["task"]]
    members = clusters.members(cluster)
    addresses = [one["address"] for row in members if row["status"] != "BUILD" for one in row["addresses"]]
    return {
        "id": cluster["id"],
        "name": cluster["name"],
        "task": {"id": number, "name": cluster["task"], "description": description},
        "datastore": clusters.datastores.shown(cluster["datastore_version_id"]),
        "instances": [_member_view(request, row) for row in members],
        "links": links(request, "clusters", cluster["id"]),
        "created": cluster["created"],
        "updated": cluster["updated"],
        **({"locality": cluster["locality"]} if cluster["locality"] else {}),
        **({"ip": addresses} if addresses else {}),
        **({"tenant_id": cluster["project_id"]} if request.context.is_admin else {}),
    }


def _member_view(request: Request, row: Record) -> dict[str, Any]:
    shown = {name: row[name] for name in ("id", "name", "status", "type")}
    addresses = [one["address"] for one in row["addresses"]]
    return {
        **shown,
        "flavor": {"id": row["flavor_id"], "links": links(request, "flavors", row["flavor_id"])},
        "volume": {"size": row["volume_size"]},
        "links": links(request, "instances", row["id"]),
        **({"ip": addresses} if addresses and row["status"] != "BUILD" else {}),
    }


def index(clusters: Clusters, request: Request) -> Response:
    rows = clusters.rows.select(project_id=request.context.project)
    return listed(request, "clusters", rows, lambda row: view(clusters, request, row))


def show(clusters: Clusters, request: Request) -> Response:
    cluster = visible(clusters.rows, request.context, request.vars["id"])
    return Response({"cluster": view(clusters, request, cluster)})


def delete(clusters: Clusters, request: Request) -> Response:
    cluster = clusters.idle(request)
    for instance in clusters.members(cluster):
        clusters.instances.shut_down(instance)
    clusters.rows.update(cluster, task="DELETING", updated=clusters.records.timestamp(SECONDS))
    clusters.after(SECONDS_TO_DELETE, clusters.remove_cluster, cluster["id"])
    return Response(status=202)


def act(clusters: Clusters, request: Request) -> Response:
    """Grow or shrink a cluster, or end a task that hangs."""
    name, arguments = action_of(request)
    if name == "reset-status":
        request.context.require()
        clusters.rows.update(visible(clusters.rows, request.context, request.vars["id"]), task=NO_TASK)
    elif name == "grow":
        cluster = clusters.idle(request)
        if not clusters.add_members(request, cluster, arguments):
            raise bad_request("Validation error: grow is not a list with items")
        clusters.begin(cluster, "GROWING_CLUSTER", SECONDS_TO_BUILD)
    elif name == "shrink":
        _shrink(clusters, clusters.idle(request), arguments)
    else:
        raise bad_request(f"The action '{name}' is not supported; actions are grow, shrink, reset-status.")
    return Response(status=202)


def _shrink(clusters: Clusters, cluster: Record, wanted: Any) -> None:
    keys = {one["id"] for one in objects("shrink", wanted, {"id": fields.text(1)}, ("id",))}
    members = clusters.members(cluster)
    if unknown := keys - {one["id"] for one in members}:
        raise not_found(f"Cluster {cluster['id']} has no instances {', '.join(sorted(unknown))}.")
    if not keys or len(keys) == len(members):
        raise bad_request("A cluster cannot be shrunk by none or all of its instances.")
    for instance in members:
        if instance["id"] in keys:
            clusters.instances.shut_down(instance)
    clusters.begin(cluster, "SHRINKING_CLUSTER", SECONDS_TO_CHANGE)


def show_root(clusters: Clusters, request: Request) -> Response:
    cluster = visible(clusters.rows, request.context, request.vars["id"])
    return Response({"rootEnabled": any(one["root_enabled"] for one in clusters.members(cluster))})


def enable_root(clusters: Clusters, request: Request) -> Response:
    cluster = clusters.idle(request)
    user = superuser(request)
    for instance in clusters.members(cluster):
        clusters.instances.rows.update(instance, root_enabled=True)
    return Response({"user": user})


def show_instance(clusters: Clusters, request: Request) -> Response:
    """One instance of a cluster."""
    cluster = visible(clusters.rows, request.context, request.vars["id"])
    for row in clusters.members(cluster):
        if row["id"] == request.vars["instance"]:
            return Response({"instance": _member_view(request, row)})
    raise clusters.instances.rows.missing(request.vars["instance"])


CLUSTER_ROUTES = using(
    Clusters,
    {
        "/clusters": {"GET": index, "POST": create},
        "/clusters/{id}": {"GET": show, "DELETE": delete, "POST": act},
        "/clusters/{id}/root": {"GET": show_root, "POST": enable_root},
        "/clusters/{id}/instances/{instance}": {"GET": show_instance},
    },
)
