"""Everything the block-storage service keeps."""

from __future__ import annotations

from stoker.emulator.core.cloud import Cloud, Records
from stoker.emulator.core.errors import ApiError, not_found
from stoker.emulator.core.http import Context
from stoker.emulator.core.store import Collection, Record

HOST = "devstack"
BACKEND = "lvmdriver-1"
BACKEND_HOST = f"{HOST}@{BACKEND}"
POOL = f"{BACKEND_HOST}#{BACKEND}"
ZONE = "nova"
MICROSECONDS = "%Y-%m-%dT%H:%M:%S.%f"

SHORT = 0.05
LONG = 0.15

MISSING = {
    "volumes": "Volume {} could not be found.",
    "attachments": "Volume attachment could not be found with filter: attachment_id = {}.",
    "snapshots": "Snapshot {} could not be found.",
    "backups": "Backup {} could not be found.",
    "transfers": "Transfer {} could not be found.",
    "types": "Volume type {} could not be found.",
    "qos_specs": "No such qos spec {}.",
    "group_types": "Group type {} could not be found.",
    "groups": "Group {} could not be found.",
    "group_snapshots": "GroupSnapshot {} could not be found.",
    "messages": "Message {} could not be found.",
}


class Tables(Records):
    """The collections of records; the classes built on this one add what may be done with them.

    volume: `{id, name, description, status, size, project_id, user_id, volume_type_id, availability_zone, created_at,
    updated_at, snapshot_id, source_volid, bootable, encrypted, multiattach, metadata, image_metadata,
    migration_status, group_id, _previous, _request_id}`; `_previous` is the status to return to.
    attachment: `{id, volume_id, project_id, instance, status, attach_mode, device, host_name, connector, attached_at}`.
    snapshot: `{id, name, description, status, size, volume_id, volume_type_id, project_id, user_id, metadata, progress,
    group_snapshot_id}`.
    backup: `{id, name, description, status, size, volume_id, snapshot_id, parent_id, project_id, …}`.
    transfer: `{id, name, volume_id, project_id, created_at, _auth_key, …}`.
    type: `{id, name, description, is_public, extra_specs, qos_specs_id, _projects, _encryption}`.
    qos_specs: `{id, name, consumer, specs}`.
    group_type: `{id, name, description, is_public, group_specs}`.
    group: `{id, name, description, status, project_id, user_id, group_type, volume_types, availability_zone,
    group_snapshot_id, source_group_id, created_at}`.
    group_snapshot: `{id, name, description, status, project_id, user_id, group_id, group_type_id, created_at}`.
    message: see `MessageRecords`.
    unmanaged: what the back end holds and Cinder does not know, see `ManagedLife`.
    quotas: limits by project id, and those of all projects under the id `default`.
    services: `{id, binary, host, zone, disabled, disabled_reason, frozen}`.
    """

    service = "cinder"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.volumes = self._table("volumes", "project_id", "name")
        self.attachments = self._table("attachments", "volume_id", "instance")
        self.snapshots = self._table("snapshots", "project_id", "volume_id")
        self.backups = self._table("backups", "project_id", "volume_id", "parent_id")
        self.transfers = self._table("transfers", "volume_id")
        self.types = self._table("types", "name")
        self.qos_specs = self._table("qos_specs", "name")
        self.group_types = self._table("group_types", "name")
        self.groups = self._table("groups", "project_id")
        self.group_snapshots = self._table("group_snapshots", "project_id", "group_id")
        self.messages = self._table("messages", "project_id")
        self.unmanaged = self._table("unmanaged")
        self.quotas = self._table("quotas")
        self.services = self._table("services")

    def _table(self, name: str, *indexes: str) -> Collection:
        return self.collection(name, indexes, lambda key: missing(name, key))

    def visible(self, collection: Collection, context: Context, key: str) -> Record:
        """A record the caller may see; the collection's 404 otherwise."""
        record = collection.require(key)
        if not context.may_see(record):
            raise missing(collection.name, key)
        return record

    def seed(self) -> None:
        """The services that run on the one host of the back end."""
        for binary, host in (
            ("cinder-scheduler", HOST),
            ("cinder-volume", BACKEND_HOST),
            ("cinder-backup", HOST),
        ):
            self.services.add(
                {
                    "id": f"{binary}:{host}",
                    "binary": binary,
                    "host": host,
                    "zone": ZONE,
                    "disabled": False,
                    "disabled_reason": None,
                    "frozen": False,
                }
            )

    def moment(self) -> str:
        """The time of day as Cinder writes it."""
        return self.timestamp(MICROSECONDS)


def missing(collection: str, key: str) -> ApiError:
    """Cinder's 404 for a record of a collection."""
    return not_found(MISSING.get(collection, "{} could not be found.").format(key))
