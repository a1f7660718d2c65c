"""The list of instance actions: what was done to servers."""

from __future__ import annotations

from openstack_emulator.compute.records import Event, Server
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table


class History(Rules):
    """An entry per operation on a server; entries outlive the server."""

    def __init__(self, records: Records, servers: Table[Server]) -> None:
        super().__init__(records)
        self.rows = records.table("events", Event, "server_id")
        self._servers = servers
        records.deferrable(self.end_events)

    def begin(self, context: Context, request_id: str, server: Server, action: str) -> None:
        """Add an entry for an operation that begins."""
        now = self.moment()
        self.rows.add(
            Event(
                id=request_id if request_id not in self.rows else f"req-{new_id()}",
                server_id=server.id,
                project_id=context.project_id,
                server_project_id=server.project_id,
                user_id=context.user_id,
                action=action,
                start=now,
                updated=now,
                finish=None,
                result=None,
                message=None,
                host=server.host,
            )
        )

    def end(self, server_id: str, result: str = "Success", message: str | None = None) -> None:
        """Set the result of the entries that have none yet."""
        server = self._servers.get(server_id)
        host = None if server is None else server.host
        for event in self.rows.select(server_id=server_id, finish=None):
            event.finish = event.updated = self.moment()
            event.result, event.message, event.host = result, message, host
            self.rows.save(event)

    def end_events(self, server_id: str) -> None:
        """`end` with success, for `after`."""
        self.end(server_id)
