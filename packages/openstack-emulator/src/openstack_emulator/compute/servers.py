"""Servers: their records, the states in which they may be changed, and locks."""

from __future__ import annotations

import secrets
import string
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any

from openstack_emulator.compute.history import History
from openstack_emulator.compute.quotas import Quotas
from openstack_emulator.compute.states import NO_STATE, RUNNING
from openstack_emulator.compute.tables import Counters
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component, visible
from openstack_emulator.core.errors import ApiError, bad_request, conflict
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Collection, Record

PASSWORD_LETTERS = string.ascii_letters + string.digits
CHANGEABLE = ("active", "paused", "suspended", "stopped")
MOST_TAGS = 50


class Servers(Component):
    """The records of servers.

    A server is `{id, name, project_id, user_id, vm_state, task_state, power_state, image_id, flavor (a copy), host,
    availability_zone, key_name, metadata, tags, description, config_drive, user_data, hostname, disk_config,
    access_ip_v4, access_ip_v6, created, updated, launched_at, locked_by, locked_reason, fault, number,
    reservation_id, zone_asked, …}`; `_networks`, `_devices` and `_hints` are what the request for it named,
    `_creator` the properties of its images that say who created it,
    `_image_name` the name of its image, when it got that.

    rows: the collection of servers, which other components read too.
    power_followers: are called with a server after its power state has been set.
    """

    def __init__(
        self, records: Records, rows: Collection, counters: Counters, quotas: Quotas, history: History
    ) -> None:
        super().__init__(records)
        self.rows = rows
        self.quotas = quotas
        self.history = history
        self.power_followers: list[Callable[[Record], None]] = []
        self._counters = counters

    def find(self, context: Context, server_id: str) -> Record:
        """A server the caller may see; 404 otherwise."""
        return visible(self.rows, context, server_id)

    def add(self, context: Context, wanted: Record) -> Record:
        """Add a new server in the state in which building begins. `wanted` has been checked before."""
        now = self.records.timestamp()
        return self.rows.add(
            {
                "id": new_id(),
                "project_id": context.project,
                "user_id": context.user_id,
                "_creator": {
                    "boot_roles": ",".join(sorted(context.roles)),
                    "owner_user_name": context.user_name,
                    "owner_project_name": context.project_name or "",
                },
                "vm_state": "building",
                "task_state": "scheduling",
                "power_state": NO_STATE,
                "host": None,
                "created": now,
                "updated": now,
                "launched_at": None,
                "locked_by": None,
                "locked_reason": None,
                "fault": None,
                "tags": [],
                "number": self._counters.next("servers"),
                **wanted,
            }
        )

    def touch(self, server: Record, **changes: Any) -> None:
        """Change a server and note when."""
        self.rows.update(server, **changes, updated=self.records.timestamp())
        if "power_state" in changes:
            for follow in self.power_followers:
                follow(server)

    def announce(self, server: Record, event_type: str) -> None:
        """Notify the alarm service of an event of a server, as Nova does; not in a cloud that never had an alarm."""
        if self.cloud.was_used("aodh"):
            traits = {
                "instance_id": server["id"],
                "resource_id": server["id"],
                "display_name": server["name"],
                "tenant_id": server["project_id"],
                "state": server["vm_state"],
            }
            self.records.notify("aodh", "event", server["project_id"], event_type, traits)

    def require_state(self, server: Record, action: str, states: tuple[str, ...], idle: bool = True) -> None:
        """409 for an action on a server in another state, or, unless `idle` is False, with a task in progress."""
        if states and server["vm_state"] not in states:
            raise wrong_state(server, action, "vm_state", server["vm_state"])
        if idle and server["task_state"] is not None:
            raise wrong_state(server, action, "task_state", server["task_state"])

    def require_unlocked(self, context: Context, server: Record) -> None:
        """409 for a locked server, unless the caller is an admin."""
        if server["locked_by"] is not None and not context.is_admin:
            raise conflict(f"Instance {server['id']} is locked")

    def fail(self, server: Record, message: str, code: int = 500) -> None:
        """Put a server into error with a fault that says why."""
        fault = {"code": code, "created": self.records.timestamp(), "message": message}
        self.touch(server, vm_state="error", task_state=None, fault=fault)
        self.history.end(server["id"], "Error", message)

    def set_metadata(self, context: Context, server: Record, metadata: dict[str, str]) -> None:
        """Replace a server's metadata; 409 for a locked server or in a wrong state, 403 beyond the quota."""
        self.require_unlocked(context, server)
        self.require_state(server, "update metadata", CHANGEABLE, idle=False)
        self.quotas.check_metadata(server["project_id"], metadata)
        self.touch(server, metadata=metadata)

    def set_tags(self, server: Record, tags: list[str]) -> None:
        """Replace a server's tags; 409 in a wrong state, 400 for too many."""
        self.require_state(server, "update tags", CHANGEABLE, idle=False)
        if len(tags) > MOST_TAGS:
            raise bad_request(f"The number of tags exceeded the per-server limit {MOST_TAGS}")
        self.touch(server, tags=tags)

    def reset_state(self, server: Record, state: str) -> None:
        """Set the state of a server to `active` or `error`, whatever it was."""
        power = RUNNING if state == "active" else NO_STATE
        self.touch(server, vm_state=state, task_state=None, power_state=power)
        self.history.end(server["id"])

    def set_lock(self, context: Context, server: Record, reason: str | None) -> None:
        """Lock a server."""
        owner = "admin" if context.is_admin and context.project_id != server["project_id"] else "owner"
        self.touch(server, locked_by=owner, locked_reason=reason)
        self.history.end(server["id"])

    def unlock(self, context: Context, server: Record) -> None:
        """Unlock a server; 409 when an admin locked it and the caller is no admin."""
        if server["locked_by"] == "admin" and not context.is_admin:
            raise conflict(f"Instance {server['id']} is locked")
        self.touch(server, locked_by=None, locked_reason=None)
        self.history.end(server["id"])


def owner_of(server: Record) -> Context:
    """The server's owner as a caller, for what is done on their behalf later."""
    return Context("", server["user_id"], "", "", frozenset({"member"}), server["project_id"])


def shortest(address: str) -> str:
    """An address in its shortest form; empty stays empty."""
    return str(ip_address(address)) if address else ""


def wrong_state(server: Record, action: str, field: str, value: str) -> ApiError:
    """Nova's 409 for an action that the server's state does not allow."""
    return conflict(f"Cannot '{action}' instance {server['id']} while it is in {field} {value}")


def new_password() -> str:
    """A password for a new server."""
    return "".join(secrets.choice(PASSWORD_LETTERS) for _ in range(12))
