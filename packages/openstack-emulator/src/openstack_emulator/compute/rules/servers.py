"""Servers: their records, the states in which they may be changed, and locks."""

from __future__ import annotations

import secrets
import string
from collections.abc import Callable
from dataclasses import replace

from openstack_emulator.compute.records import Failure, Server
from openstack_emulator.compute.rules.counters import Counters
from openstack_emulator.compute.rules.history import History
from openstack_emulator.compute.rules.quotas import Quotas
from openstack_emulator.compute.rules.states import NO_STATE, RUNNING
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict, forbidden
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules, visible
from openstack_emulator.core.store import Table

PASSWORD_LETTERS = string.ascii_letters + string.digits
CHANGEABLE = ("active", "paused", "suspended", "stopped")
MAXIMUM_TAGS = 50
PASSWORD_LENGTH = 12
"""Nova's default for generated passwords."""


class Servers(Rules):
    """The records of servers.

    rows: the table of servers, which other rules read too.
    power_followers: are called with a server after its power state has been set.
    """

    def __init__(
        self, records: Records, rows: Table[Server], counters: Counters, quotas: Quotas, history: History
    ) -> None:
        super().__init__(records)
        self.rows = rows
        self.quotas = quotas
        self.history = history
        self.power_followers: list[Callable[[Server], None]] = []
        self._counters = counters

    def find(self, context: Context, server_id: str) -> Server:
        """A server the caller may see; 404 otherwise."""
        return visible(self.rows, context, server_id)

    def add(self, draft: Server, name: str, hostname: str, launch_index: int) -> Server:
        """Add a server like the draft, in the state in which building begins. An empty hostname is replaced."""
        key, number = new_id(), self._counters.next("servers")
        hostname = hostname or f"server-{key}"
        return self.rows.add(
            replace(draft, id=key, name=name, hostname=hostname, launch_index=launch_index, number=number)
        )

    def touch(self, server: Server, **changes: object) -> None:
        """Change a server and note when."""
        self.rows.update(server, **changes, updated=self.records.timestamp())
        if "power_state" in changes:
            for follow in self.power_followers:
                follow(server)

    def announce(self, server: Server, event_type: str) -> None:
        """Notify the alarm service of an event of a server, as Nova does; not in a cloud that never had an alarm."""
        if self.cloud.was_used("aodh"):
            traits = {
                "instance_id": server.id,
                "resource_id": server.id,
                "display_name": server.name,
                "tenant_id": server.project_id,
                "state": server.vm_state,
            }
            self.records.notify("aodh", "event", server.project_id, event_type, traits)

    def require_state(self, server: Server, action: str, states: tuple[str, ...], idle: bool = True) -> None:
        """409 for an action on a server in another state, or, unless `idle` is False, with a task in progress."""
        if states and server.vm_state not in states:
            raise wrong_state(server, action, "vm_state", server.vm_state)
        if idle and server.task_state is not None:
            raise wrong_state(server, action, "task_state", server.task_state)

    def require_unlocked(self, context: Context, server: Server) -> None:
        """409 for a locked server, unless the caller is an admin."""
        if server.locked_by is not None and not context.is_admin:
            raise conflict(f"Instance {server.id} is locked")

    def fail(self, server: Server, message: str, code: int = 500) -> None:
        """Put a server into error, which its fault explains."""
        self.touch(server, vm_state="error", task_state=None, failure=self.failure(message, code))
        self.history.end(server.id, "Error", message)

    def failure(self, message: str, code: int = 500) -> Failure:
        """A failure that happens now."""
        return Failure(code=code, created=self.records.timestamp(), message=message)

    def set_metadata(self, context: Context, server: Server, metadata: dict[str, str]) -> None:
        """Replace a server's metadata; 409 for a locked server or in a wrong state, 403 beyond the quota."""
        self.require_unlocked(context, server)
        self.require_state(server, "update metadata", CHANGEABLE, idle=False)
        self.quotas.check_metadata(server.project_id, metadata)
        self.touch(server, metadata=metadata)

    def set_tags(self, server: Server, tags: list[str]) -> None:
        """Replace a server's tags; 409 in a wrong state, 400 for too many."""
        self.require_state(server, "update tags", CHANGEABLE, idle=False)
        if len(tags) > MAXIMUM_TAGS:
            raise bad_request(f"The number of tags exceeded the per-server limit {MAXIMUM_TAGS}")
        self.touch(server, tags=tags)

    def reset_state(self, server: Server, state: str) -> None:
        """Set the state of a server to `active` or `error`, whatever it was."""
        power = RUNNING if state == "active" else NO_STATE
        self.touch(server, vm_state=state, task_state=None, power_state=power)
        self.history.end(server.id)

    def set_lock(self, context: Context, server: Server, reason: str | None) -> None:
        """Lock a server as its owner, or as an administrator of another project; an owner's lock replaces none."""
        is_owner = context.project_id == server.project_id
        if server.locked_by is None or not is_owner:
            self.touch(server, locked_by="owner" if is_owner else "admin", locked_reason=reason)
        self.history.end(server.id)

    def unlock(self, context: Context, server: Server) -> None:
        """Unlock a server. Raises ApiError 403 if an administrator locked it and the caller is none."""
        if server.locked_by == "admin" and not context.is_admin:
            raise forbidden(
                "Policy doesn't allow os_compute_api:os-lock-server:unlock:unlock_override to be performed."
            )
        self.touch(server, locked_by=None, locked_reason=None)
        self.history.end(server.id)


def owner_of(server: Server) -> Context:
    """The server's owner as a caller, for what is done on their behalf later."""
    return Context("", server.user_id, "", "", frozenset({"member"}), server.project_id)


def wrong_state(server: Server, action: str, field: str, value: str) -> ApiError:
    """Nova's 409 for an action that the server's state does not allow."""
    return conflict(f"Cannot '{action}' instance {server.id} while it is in {field} {value}")


def new_password() -> str:
    """A password for a new server."""
    return "".join(secrets.choice(PASSWORD_LETTERS) for _ in range(PASSWORD_LENGTH))
