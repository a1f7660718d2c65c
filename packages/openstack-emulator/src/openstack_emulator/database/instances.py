"""Instances of database servers, and the states that they pass through.

Traffic does not reach an emulated instance: nothing listens at its addresses.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component, visible
from openstack_emulator.core.errors import ApiError, forbidden
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Record
from openstack_emulator.database.http import SECONDS, missing
from openstack_emulator.database.networks import disconnect

SECONDS_TO_BUILD, SECONDS_TO_CHANGE, SECONDS_TO_DELETE = 10.0, 5.0, 3.0
READY = ("ACTIVE", "RESTART_REQUIRED")
HELD = ("BUILD", "RESIZE", "REBOOT", "BACKUP", "UPGRADE", "PROMOTE", "EJECT", "DETACH")
"""Statuses of an instance that something is being done to."""


class Instances(Component):
    """All instances; those of clusters have a `cluster_id`."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.collection(
            "instances",
            ("project_id", "cluster_id", "replica_of", "configuration_id"),
            missing,
        )
        records.deferrable(self.finish_instance, self.remove_instance)

    def reach(self, caller: Context, key: str) -> Record:
        """An instance that the caller may see. Raises ApiError 404."""
        return visible(self.rows, caller, key)

    def ready(self, caller: Context, key: str) -> Record:
        """An instance that the caller may see and that can be changed now. Raises ApiError 404 and 422."""
        instance = self.reach(caller, key)
        self.require_ready(instance)
        return instance

    def alone(self, caller: Context, key: str) -> Record:
        """Such an instance that is not part of a cluster. Raises ApiError 404 and 422, 403 for a part of a cluster."""
        instance = self.ready(caller, key)
        require_alone(instance)
        return instance

    def require_ready(self, instance: Record) -> None:
        """Raise ApiError 422 for an instance that cannot be changed now."""
        if instance["status"] not in READY:
            raise unavailable(instance)

    def new(self, project_id: str, values: Mapping[str, Any]) -> Record:
        """A record of a new instance, which is not in the collection yet."""
        now = self.records.timestamp(SECONDS)
        identifier = new_id()
        return {
            "cluster_id": None,
            "type": None,
            "replica_of": None,
            "configuration_id": None,
            "databases": [],
            "users": [],
            "root_enabled": False,
            "addresses": [],
            "_ports": [],
            "_given_ports": [],
            "_deleting": False,
            **values,
            "id": identifier,
            "project_id": project_id,
            "hostname": f"{identifier}.database.example.com",
            "status": "BUILD",
            "created": now,
            "updated": now,
            "fault": None,
        }

    def build(self, instance: Record) -> Record:
        """Add a new instance and build it."""
        self.rows.add(instance)
        self.after(SECONDS_TO_BUILD, self.finish_instance, instance["id"], "BUILD", {})
        return instance

    def change(self, instance: Record, status: str, **after: Any) -> None:
        """Put an instance into a status for a while; `after` are the fields that it has then."""
        self.rows.update(instance, status=status, updated=self.records.timestamp(SECONDS))
        self.after(SECONDS_TO_CHANGE, self.finish_instance, instance["id"], status, after)

    def finish_instance(self, key: str, status: str, after: dict[str, Any]) -> None:
        """End what is being done to an instance; one that a fault rule dooms is in ERROR."""
        instance = self.rows.get(key)
        if instance is None or instance["status"] != status:
            return
        now = self.records.timestamp(SECONDS)
        fault = instance.pop("_fault", None)
        if fault is not None:
            shown = {"message": fault, "created": now, "details": None}
            self.rows.update(instance, status="ERROR", fault=shown, updated=now)
        else:
            self.rows.update(instance, **{"status": "ACTIVE", **after, "updated": now})

    def delete(self, instance: Record) -> None:
        """Begin the deletion of an instance. Raises ApiError 422 while something is done to it, 403 with replicas."""
        if instance["status"] in HELD and instance["status"] != "BUILD":
            raise unavailable(instance)
        if self.rows.select(replica_of=instance["id"]):
            raise forbidden("The replica source cannot be deleted without detaching the replicas.")
        self.shut_down(instance)

    def shut_down(self, instance: Record) -> None:
        """Delete an instance in a while."""
        if not instance["_deleting"]:
            now = self.records.timestamp(SECONDS)
            self.rows.update(instance, status="SHUTDOWN", updated=now, _deleting=True)
            self.after(SECONDS_TO_DELETE, self.remove_instance, instance["id"])

    def remove_instance(self, key: str) -> None:
        """Remove an instance that has been shut down; one that a fault rule dooms is in ERROR."""
        instance = self.rows.get(key)
        if instance is None:
            return
        if (fault := instance.pop("_fault", None)) is not None:
            shown = {"message": fault, "created": self.records.timestamp(SECONDS), "details": None}
            self.rows.update(instance, status="ERROR", fault=shown, _deleting=False)
            return
        disconnect(self.cloud, instance)
        self.rows.remove(instance)


def require_alone(instance: Record) -> None:
    """Raise ApiError 403 for an instance of a cluster, which is changed together with its cluster only."""
    if instance["cluster_id"] is not None:
        raise forbidden("Operation not supported for instances that are part of a cluster.")


def unavailable(instance: Record) -> ApiError:
    if instance["status"] == "BUILD":
        return ApiError(422, f"Instance {instance['id']} is not ready.")
    return ApiError(
        422,
        f"Instance {instance['id']} is not currently available for an action to be performed "
        f"(status was {instance['status']}).",
    )
