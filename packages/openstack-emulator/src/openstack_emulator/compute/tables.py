"""What the parts of the compute service share: times, messages, and counters.

The records, by collection:

flavors: `{id, name, ram, vcpus, disk, ephemeral, swap, rxtx_factor, is_public, description, extra_specs, _projects}`.
keypairs: `{id (user:name), user_id, name, type, public_key, fingerprint, created_at, number}`.
servers: see `servers.Servers`.
block_devices: `{id, server_id, volume_id, attachment_id, device, tag, delete_on_termination, boot_index}`.
interfaces: `{id (port id), server_id, created (the port was created for the server), tag}`.
events: what was done to a server, `{id (request id), server_id, action, start, finish, result, message, …}`.
migrations: `{id, number, server_id, kind, status, source, target, old_flavor, new_flavor, created_at, updated_at}`.
hosts: `{id (name), uuid, number, vcpus, memory_mb, local_gb}`.
services: `{id, binary, host, disabled, …}`.
usages: what a deleted server used, see `usage.Usage.of_project`.
consoles: access to the screen of a server, `{id (token), server_id, until (seconds since the epoch)}`.
counters: the last number given to keypairs, servers, hosts, aggregates and migrations.
"""

from __future__ import annotations

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import ApiError, not_found

ZONE = "nova"
SHORT = 0.05
LONG = 0.1
GUEST = 0.1
"""Until it is looked again whether a guest has carried out its order."""

MISSING = {
    "servers": "Instance {} could not be found.",
    "flavors": "Flavor {} could not be found.",
    "server_groups": "Instance group {} could not be found.",
    "aggregates": "Aggregate {} could not be found.",
    "hosts": "Compute host {} could not be found.",
    "services": "Service {} could not be found.",
}


class Counters(Component):
    """Consecutive numbers for records that have one beside their id."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.collection("counters", internal=True)

    def next(self, name: str) -> int:
        """The next number of a counter, from 1."""
        row = self.rows.get(name) or self.rows.add({"id": name, "last": 0})
        self.rows.update(row, last=row["last"] + 1)
        return int(row["last"])


def missing(collection: str, key: str) -> ApiError:
    """Nova's 404 for a record of a collection."""
    return not_found(MISSING[collection].format(key))
