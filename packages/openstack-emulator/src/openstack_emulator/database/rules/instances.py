"""Instances of database servers, and the states that they pass through.

Traffic does not reach an emulated instance: nothing listens at its addresses.
"""

from __future__ import annotations

import copy

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request, forbidden
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import visible
from openstack_emulator.database.records import Failure, Instance
from openstack_emulator.database.rules.errors import missing, unavailable
from openstack_emulator.database.rules.inputs import NewInstance
from openstack_emulator.database.rules.networks import disconnect
from openstack_emulator.database.rules.timed import TimedRules

SECONDS_TO_BUILD, SECONDS_TO_CHANGE, SECONDS_TO_DELETE = 10.0, 5.0, 3.0
READY = ("ACTIVE", "RESTART_REQUIRED")
HELD = ("RESIZE", "REBOOT", "BACKUP", "UPGRADE", "PROMOTE", "EJECT", "DETACH")
"""Statuses of an instance that exists, and that something is being done to."""


class Instances(TimedRules):
    """All instances; those of clusters have a `cluster_id`.

    rows: the table of instances.
    """

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table(
            "instances", Instance, "project_id", "cluster_id", "replica_of", "configuration_id", missing=missing
        )
        records.deferrable(self.finish_instance, self.remove_instance)

    def reach(self, caller: Context, key: str) -> Instance:
        """An instance that the caller may see. Raises ApiError 404."""
        return visible(self.rows, caller, key)

    def ready(self, caller: Context, key: str) -> Instance:
        """An instance that the caller may see and that can be changed now. Raises ApiError 404 and 422."""
        instance = self.reach(caller, key)
        self.require_ready(instance)
        return instance

    def standalone_instance(self, caller: Context, key: str) -> Instance:
        """Such an instance that is not part of a cluster. Raises ApiError 404 and 422, 403 for a part of a cluster."""
        instance = self.ready(caller, key)
        require_standalone(instance)
        return instance

    def require_ready(self, *instances: Instance) -> None:
        """Raise ApiError 422 for an instance that cannot be changed now."""
        for instance in instances:
            if instance.status not in READY:
                raise unavailable(instance)

    def replicas(self, instance: Instance) -> list[Instance]:
        """The replicas of an instance."""
        return self.rows.select(replica_of=instance.id)

    def new(self, project_id: str, new_instance: NewInstance) -> Instance:
        """A record of a new instance, which is not in the table yet."""
        now, identifier = self.now(), new_id()
        return Instance(
            id=identifier,
            cluster_id=new_instance.cluster_id,
            type=new_instance.type,
            replica_of=new_instance.replica_of,
            configuration_id=new_instance.configuration_id,
            databases=copy.deepcopy(new_instance.databases),
            users=copy.deepcopy(new_instance.users),
            root_enabled=new_instance.root_enabled,
            addresses=[],
            name=new_instance.name,
            flavor_id=new_instance.flavor.id,
            volume_size=new_instance.volume_size,
            volume_type=new_instance.volume_type,
            datastore_version_id=new_instance.datastore_version_id,
            availability_zone=new_instance.availability_zone,
            region=new_instance.region,
            locality=new_instance.locality,
            access=new_instance.access,
            project_id=project_id,
            hostname=f"{identifier}.database.example.com",
            status="BUILD",
            created=now,
            updated=now,
            failure=None,
            fault=new_instance.fault,
            ram=new_instance.flavor.ram,
            ports=[],
            given_ports=[],
            is_deleting=False,
        )

    def build(self, instance: Instance) -> Instance:
        """Add a new instance and build it."""
        self.rows.add(instance)
        self.after(SECONDS_TO_BUILD, self.finish_instance, instance.id, "BUILD", {})
        return instance

    def change(self, instance: Instance, status: str, **after: object) -> None:
        """Put an instance into a status for a while; `after` are the fields that it has then."""
        self.set_status(instance, status)
        self.after(SECONDS_TO_CHANGE, self.finish_instance, instance.id, status, after)

    def set_status(self, instance: Instance, status: str) -> None:
        """Put an instance into a status now."""
        instance.status, instance.updated = status, self.now()
        self.rows.save(instance)

    def finish_instance(self, key: str, status: str, after: dict[str, object]) -> None:
        """End what is being done to an instance; one with an injected fault is in ERROR."""
        instance = self.rows.get(key)
        if instance is None or instance.status != status:
            return
        if (fault := instance.take_fault()) is not None:
            self._fail(instance, fault)
            instance.updated = self.now()
            self.rows.save(instance)
        else:
            self.rows.update(instance, **{"status": "ACTIVE", **after, "updated": self.now()})

    def _fail(self, instance: Instance, fault: str) -> None:
        instance.status = "ERROR"
        instance.failure = Failure(message=fault, created=self.now(), details=None)

    def delete(self, instance: Instance) -> None:
        """Begin the deletion of an instance. Raises ApiError 422 while something is done to it, 403 with replicas."""
        if instance.status in HELD:
            raise unavailable(instance)
        if self.replicas(instance):
            raise forbidden("The replica source cannot be deleted without detaching the replicas.")
        self.shut_down(instance)

    def shut_down(self, instance: Instance) -> None:
        """Delete an instance in a while."""
        if not instance.is_deleting:
            instance.is_deleting = True
            self.set_status(instance, "SHUTDOWN")
            self.after(SECONDS_TO_DELETE, self.remove_instance, instance.id)

    def remove_instance(self, key: str) -> None:
        """Remove an instance that has been shut down; one with an injected fault is in ERROR."""
        instance = self.rows.get(key)
        if instance is None:
            return
        if (fault := instance.take_fault()) is not None:
            self._fail(instance, fault)
            instance.is_deleting = False
            self.rows.save(instance)
            return
        disconnect(self.cloud, instance)
        self.rows.remove(instance)

    # -- replicas ----------------------------------------------------------------------------------

    def detach(self, instance: Instance, source: str | None) -> None:
        """Make a replica independent of its source. Raises ApiError 400 and 422."""
        if source:
            raise bad_request("An instance can only be detached from its source, not attached to another one.")
        _source_of(instance)
        self.require_ready(instance)
        self.change(instance, "DETACH", replica_of=None)

    def promote(self, instance: Instance) -> None:
        """Make a replica the source of the other replicas and of its former source. Raises ApiError 400 and 422."""
        source = self.rows.require(_source_of(instance))
        concerned = (source, *self.replicas(source))
        self.require_ready(*concerned)
        for member in concerned:
            self.change(member, "PROMOTE", replica_of=None if member is instance else instance.id)

    def eject(self, instance: Instance) -> None:
        """Replace a failed source by its first replica. Raises ApiError 400 and 422."""
        replicas = self.replicas(instance)
        if not replicas:
            raise bad_request(f"Instance {instance.id} is not a replica source.")
        self.require_ready(*replicas)
        for replica in replicas:
            self.change(replica, "EJECT", replica_of=None if replica is replicas[0] else replicas[0].id)
        self.change(instance, "EJECT")


def require_standalone(instance: Instance) -> None:
    """Raise ApiError 403 for an instance of a cluster, which is changed together with its cluster only."""
    if instance.cluster_id is not None:
        raise forbidden("Operation not supported for instances that are part of a cluster.")


def _source_of(instance: Instance) -> str:
    """The ID of the instance that one is a replica of. Raises ApiError 400."""
    if instance.replica_of is None:
        raise bad_request(f"Instance {instance.id} is not a replica.")
    return instance.replica_of
