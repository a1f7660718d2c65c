"""Everything the block-storage service keeps."""

from __future__ import annotations

from stoker.emulator.core.cloud import Cloud, Records
from stoker.emulator.core.errors import ApiError, not_found
from stoker.emulator.core.http import Context
from stoker.emulator.core.store import Collection, Record

HOST = "devstack"
BACKEND_HOST = f"{HOST}@lvmdriver-1"
POOL = f"{BACKEND_HOST}#lvmdriver-1"
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
}


class Tables(Records):
    """The collections of records; the classes built on this one add what may be done with them.

    volume: `{id, name, description, status, size, project_id, user_id, volume_type_id, availability_zone, created_at,
    updated_at, snapshot_id, source_volid, bootable, encrypted, multiattach, metadata, image_metadata,
    migration_status, _previous}`; `_previous` is the status to return to.
    attachment: `{id, volume_id, project_id, instance, status, attach_mode, device, host_name, connector, attached_at}`.
    snapshot: `{id, name, description, status, size, volume_id, volume_type_id, project_id, user_id, metadata, …}`.
    backup: `{id, name, description, status, size, volume_id, snapshot_id, parent_id, project_id, …}`.
    transfer: `{id, name, volume_id, project_id, created_at, _auth_key, …}`.
    type: `{id, name, description, is_public, extra_specs, qos_specs_id, _projects, _encryption}`.
    qos_specs: `{id, name, consumer, specs}`.
    quotas: limits by project id, and those of all projects under the id `default`.
    services: `{id, binary, host, zone, disabled, disabled_reason}`.
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
                }
            )

    def moment(self) -> str:
        """The time of day as Cinder writes it."""
        return self.timestamp(MICROSECONDS)


def missing(collection: str, key: str) -> ApiError:
    """Cinder's 404 for a record of a collection."""
    return not_found(MISSING.get(collection, "{} could not be found.").format(key))
