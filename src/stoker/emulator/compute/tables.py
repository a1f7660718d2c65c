"""Everything the compute service keeps."""

from __future__ import annotations

from stoker.emulator.core.cloud import Cloud, Records
from stoker.emulator.core.errors import ApiError, not_found
from stoker.emulator.core.http import Context
from stoker.emulator.core.store import Collection, Record

ZONE = "nova"
MICROSECONDS = "%Y-%m-%dT%H:%M:%S.%f"
SHORT = 0.05
LONG = 0.1

MISSING = {
    "servers": "Instance {} could not be found.",
    "flavors": "Flavor {} could not be found.",
    "server_groups": "Instance group {} could not be found.",
    "aggregates": "Aggregate {} could not be found.",
    "hosts": "Compute host {} could not be found.",
    "services": "Service {} could not be found.",
}


class Tables(Records):
    """The collections of records; the classes built on this one add what may be done with them.

    flavor: `{id, name, ram, vcpus, disk, ephemeral, swap, rxtx_factor, is_public, description, extra_specs,
    _projects}`.
    keypair: `{id (user:name), user_id, name, type, public_key, fingerprint, created_at, number}`.
    server: see `servers.ServerLife`.
    block_device: `{id, server_id, volume_id, attachment_id, device, tag, delete_on_termination, boot_index}`.
    interface: `{id (port id), server_id, created (the port was made for the server), tag}`.
    event: what was done to a server, `{id (request id), server_id, action, start, finish, result, message, …}`.
    migration: `{id, number, server_id, kind, status, source, target, old_flavor, new_flavor, created_at, updated_at}`.
    host: `{id (name), uuid, number, vcpus, memory_mb, local_gb}`; service: `{id, binary, host, disabled, …}`.
    usage: what a server that is gone had taken, see `servers.ServerLife.usages_of`.
    console: a way to the screen of a server, `{id (token), server_id, until (seconds since the epoch)}`.
    counters: the last number given to keypairs, servers, hosts, aggregates and migrations.
    """

    service = "nova"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.flavors = self._table("flavors", "name")
        self.keypairs = self._table("keypairs", "user_id")
        self.server_groups = self._table("server_groups", "project_id")
        self.servers = self._table("servers", "project_id", "host", "name")
        self.block_devices = self._table("block_devices", "server_id", "volume_id")
        self.interfaces = self._table("interfaces", "server_id")
        self.events = self._table("events", "server_id")
        self.migrations = self._table("migrations", "server_id")
        self.hosts = self._table("hosts")
        self.services = self._table("services")
        self.aggregates = self._table("aggregates", "name")
        self.quotas = self._table("quotas")
        self.usages = self.collection("usages", ("tenant_id",), internal=True)
        self.consoles = self.collection("consoles", internal=True)
        self.counters = self.collection("counters", internal=True)

    def _table(self, name: str, *indexes: str) -> Collection:
        return self.collection(name, indexes, lambda key: missing(name, key))

    def visible(self, collection: Collection, context: Context, key: str) -> Record:
        """A record the caller may see; the collection's 404 otherwise."""
        record = collection.require(key)
        if not context.may_see(record):
            raise missing(collection.name, key)
        return record

    def next_number(self, name: str) -> int:
        """The next of the numbers that count things of one kind, from 1."""
        row = self.counters.get(name) or self.counters.add({"id": name, "last": 0})
        self.counters.update(row, last=row["last"] + 1)
        return int(row["last"])

    def moment(self) -> str:
        """The time of day with microseconds."""
        return self.timestamp(MICROSECONDS)


def missing(collection: str, key: str) -> ApiError:
    """Nova's 404 for a record of a collection."""
    return not_found(MISSING.get(collection, "{} could not be found.").format(key))
