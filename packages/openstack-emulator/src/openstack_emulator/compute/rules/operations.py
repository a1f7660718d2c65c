"""Operations on servers: the table `states.OPERATIONS`, carried out task by task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from openstack_emulator.compute.records import Server
from openstack_emulator.compute.rules.constants import SHORT
from openstack_emulator.compute.rules.guests import Guests
from openstack_emulator.compute.rules.servers import Servers
from openstack_emulator.compute.rules.states import OPERATIONS
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.rules import Rules

Finisher = Callable[[Server], Mapping[str, object]]
"""What an operation does at its end besides changing the state; it returns changes of the server, which replace those
of the table."""


class Operations(Rules):
    """Begins operations and takes servers through the tasks of each.

    finishers: by name of the operation; the rules that know an operation's end add theirs.
    """

    def __init__(self, records: Records, servers: Servers, guests: Guests) -> None:
        super().__init__(records)
        self.servers = servers
        self.finishers: dict[str, Finisher] = {}
        self._guests = guests
        records.deferrable(self.proceed)

    def require(self, server: Server, name: str) -> None:
        """409 unless the server is in a state in which the operation may begin, without a task in progress; 501 if its
        guest cannot do it."""
        self._guests.require_supported(server, name)
        self.servers.require_state(server, name, OPERATIONS[name].origins)

    def begin(self, server: Server, name: str, /, **noted: object) -> None:
        """Begin an operation; 409 unless the server is in a state for it and idle.

        noted: fields to set on the server, which the end of the operation needs.
        """
        operation = OPERATIONS[name]
        self.require(server, name)
        if operation.tasks:
            self.servers.touch(server, task_state=operation.tasks[0], **noted)
            self.after(SHORT, self.proceed, server.id, name, 0)
        else:
            self.servers.history.end(server.id)

    def proceed(self, server_id: str, name: str, step: int) -> None:
        """Go to the next task of an operation, or end it; does nothing when the server has another task by now."""
        server, operation = self.servers.rows.get(server_id), OPERATIONS[name]
        if server is None or server.task_state != operation.tasks[step]:
            return
        if step + 1 < len(operation.tasks):
            self.servers.touch(server, task_state=operation.tasks[step + 1])
            self.after(SHORT, self.proceed, server_id, name, step + 1)
            return
        if (failed := server.take_fault()) is not None:
            self.servers.fail(server, failed)
            return
        changes: dict[str, Any] = {"task_state": None}
        if operation.state is not None:
            changes |= {"vm_state": operation.state, "failure": None}
        if operation.power is not None:
            changes |= {"power_state": operation.power}
        finisher = self.finishers.get(name)
        if finisher is not None:
            changes |= finisher(server)
        if operation.guest:
            self._guests.interrupt(server_id, operation.guest)
            changes.setdefault("power_state", server.power_state)
        self.servers.touch(server, **changes)
        if operation.event:
            self.servers.announce(server, operation.event)
        self.servers.history.end(server_id)
