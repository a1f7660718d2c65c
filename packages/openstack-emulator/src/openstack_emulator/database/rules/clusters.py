"""Clusters of instances, which grow and shrink."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Context, Request
from openstack_emulator.core.rules import visible
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_integer
from openstack_emulator.core.validation.problems import Check
from openstack_emulator.database.records import Cluster, DatastoreVersion, Instance
from openstack_emulator.database.rules.creation import VOLUME_FORMS, Creation, nics_of
from openstack_emulator.database.rules.datastores import CLUSTERS, Datastores
from openstack_emulator.database.rules.flavors import flavor
from openstack_emulator.database.rules.inputs import REGION, NewInstance
from openstack_emulator.database.rules.instances import (
    SECONDS_TO_BUILD,
    SECONDS_TO_CHANGE,
    SECONDS_TO_DELETE,
    Instances,
)
from openstack_emulator.database.rules.networks import nics_problem
from openstack_emulator.database.rules.timed import TimedRules
from openstack_emulator.database.rules.validation import check, objects

NO_TASK = "NONE"
_TEXT = fields.nullable(fields.text(1))
_MEMBER_FORMS: Mapping[str, Check] = {
    "name": fields.text(1, 255),
    "flavorRef": fields.either(fields.integer(0), fields.text(1)),
    "volume": fields.nullable(fields.mapping),
    "nics": fields.anything,
    "availability_zone": _TEXT,
    "region_name": _TEXT,
}


class Clusters(TimedRules):
    """The clusters of all projects.

    rows: their table.
    """

    def __init__(self, records: Records, instances: Instances, datastores: Datastores, creation: Creation) -> None:
        super().__init__(records)
        self._instances, self._datastores, self._creation = instances, datastores, creation
        self.rows = records.table(
            "clusters", Cluster, "project_id", missing=lambda key: not_found(f"Cluster {key} cannot be found.")
        )
        records.deferrable(self.finish_cluster, self.remove_cluster)

    def members(self, cluster: Cluster) -> list[Instance]:
        """The instances of a cluster."""
        return self._instances.rows.select(cluster_id=cluster.id)

    def idle(self, caller: Context, key: str) -> Cluster:
        """A cluster that the caller may see, without a task. Raises ApiError 404 and 422."""
        cluster = visible(self.rows, caller, key)
        if cluster.task != NO_TASK:
            raise ApiError(
                422, f"This action is not allowed on the cluster while in its current task ({cluster.task})."
            )
        return cluster

    def create(
        self, request: Request, name: str, version: DatastoreVersion, locality: str | None, members: list[Any]
    ) -> Cluster:
        """Begin to build a cluster of members, as a request describes them. Raises ApiError 400, 404 and 413."""
        store = self._datastores.store_of(version).name
        if store not in CLUSTERS:
            raise bad_request(f"Clusters not supported for {store}-{version.name}.")
        if len(members) < CLUSTERS[store]:
            raise bad_request(f"The number of instances for your initial cluster must be at least {CLUSTERS[store]}.")
        now = self.now()
        cluster = Cluster(
            id=new_id(),
            project_id=request.context.project,
            name=name,
            datastore_version_id=version.id,
            locality=locality,
            task="BUILDING",
            created=now,
            updated=now,
        )
        self._add_members(request, cluster, members)
        self.rows.add(cluster)
        self._begin(cluster, "BUILDING", SECONDS_TO_BUILD)
        return cluster

    def grow(self, request: Request, cluster: Cluster, body: object) -> None:
        """Begin to add instances to a cluster. Raises ApiError 400, 404 and 413."""
        if not self._add_members(request, cluster, body):
            raise bad_request("Validation error: grow is not a list with items")
        self._begin(cluster, "GROWING_CLUSTER", SECONDS_TO_BUILD)

    def shrink(self, cluster: Cluster, keys: Collection[str]) -> None:
        """Begin to remove instances from a cluster. Raises ApiError 400 and 404."""
        members = self.members(cluster)
        if unknown := set(keys) - {member.id for member in members}:
            raise not_found(f"Cluster {cluster.id} has no instances {', '.join(sorted(unknown))}.")
        if not keys or len(keys) == len(members):
            raise bad_request("A cluster cannot be shrunk by none or all of its instances.")
        for instance in members:
            if instance.id in keys:
                self._instances.shut_down(instance)
        self._begin(cluster, "SHRINKING_CLUSTER", SECONDS_TO_CHANGE)

    def delete(self, cluster: Cluster) -> None:
        """Begin to delete a cluster with its instances."""
        for instance in self.members(cluster):
            self._instances.shut_down(instance)
        cluster.task, cluster.updated = "DELETING", self.now()
        self.rows.save(cluster)
        self.after(SECONDS_TO_DELETE, self.remove_cluster, cluster.id)

    def end_task(self, cluster: Cluster) -> None:
        """Let nothing be done to a cluster."""
        cluster.task = NO_TASK
        self.rows.save(cluster)

    def enable_root(self, cluster: Cluster) -> None:
        """Enable the superuser on all instances of a cluster."""
        for instance in self.members(cluster):
            instance.root_enabled = True
            self._instances.rows.save(instance)

    def _begin(self, cluster: Cluster, task: str, seconds: float) -> None:
        """Give a cluster a task for a while."""
        cluster.task, cluster.updated = task, self.now()
        self.rows.save(cluster)
        self.after(seconds, self.finish_cluster, cluster.id, task)

    def finish_cluster(self, key: str, task: str) -> None:
        """End the task of a cluster."""
        cluster = self.rows.get(key)
        if cluster is not None and cluster.task == task:
            cluster.updated = self.now()
            self.end_task(cluster)

    def remove_cluster(self, key: str) -> None:
        """Remove a cluster when its instances are gone."""
        cluster = self.rows.get(key)
        if cluster is None:
            return
        if left := self.members(cluster):
            if any(member.status == "SHUTDOWN" for member in left):
                self.after(SECONDS_TO_DELETE, self.remove_cluster, key)
            else:
                self.end_task(cluster)
            return
        self.rows.remove(cluster)

    def _add_members(self, request: Request, cluster: Cluster, body: object) -> list[Instance]:
        """Add instances to a cluster as a request describes them. Raises ApiError 400, 404 and 413."""
        described = objects("instances", body, _MEMBER_FORMS, ("flavorRef", "volume"))
        first = len(self.members(cluster)) + 1
        planned = [
            self._member(request, cluster, number, description) for number, description in enumerate(described, first)
        ]
        return self._creation.add(cluster.project_id, planned)

    def _member(self, request: Request, cluster: Cluster, number: int, member: Mapping[str, Any]) -> NewInstance:
        nics = nics_of(member.get("nics"))
        if (problem := nics_problem(self.cloud, request.context, nics)) is not None:
            raise bad_request(problem)
        found = flavor(self.cloud, request, member.get("flavorRef"))
        volume = check("volume", member.get("volume"), VOLUME_FORMS, ("size",))
        return NewInstance(
            name=member.get("name") or f"{cluster.name}-member-{number}",
            type="member",
            cluster_id=cluster.id,
            flavor=found,
            volume_size=as_integer(volume.get("size")) or 0,
            volume_type=volume.get("type"),
            datastore_version_id=cluster.datastore_version_id,
            availability_zone=member.get("availability_zone"),
            region=member.get("region_name") or REGION,
            locality=cluster.locality,
            nics=nics,
        )
