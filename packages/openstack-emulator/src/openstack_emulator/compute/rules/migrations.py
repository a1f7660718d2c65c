"""Migrations: moves of servers between hosts."""

from __future__ import annotations

from openstack_emulator.compute.records import Migration, Server
from openstack_emulator.compute.rules.counters import Counters
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.rules import Rules


class Migrations(Rules):
    """The list of moves; its entries outlive the servers."""

    def __init__(self, records: Records, counters: Counters) -> None:
        super().__init__(records)
        self.rows = records.table("migrations", Migration, "server_id")
        self._counters = counters

    def add(self, server: Server, kind: str, status: str, target: str, flavor_id: str) -> None:
        """Add the move of a server to `target`, which ends with `end`."""
        self.rows.add(
            Migration(
                id=new_id(),
                number=self._counters.next("migrations"),
                server_id=server.id,
                kind=kind,
                status=status,
                source=server.host,
                target=target,
                old_flavor=server.flavor.id,
                new_flavor=flavor_id,
                project_id=server.project_id,
                user_id=server.user_id,
                created_at=self.moment(),
                updated_at=None,
            )
        )

    def end(self, server: Server, status: str) -> None:
        """Set the status of the latest move of a server."""
        rows = self.rows.select(server_id=server.id)
        if rows:
            self.rows.update(rows[-1], status=status, updated_at=self.moment())

    def confirm(self, server_id: str) -> None:
        """Confirm the finished moves of a server."""
        for row in self.rows.select(server_id=server_id, status="finished"):
            self.rows.update(row, status="confirmed", updated_at=self.moment())
