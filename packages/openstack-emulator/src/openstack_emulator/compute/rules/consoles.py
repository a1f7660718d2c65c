"""Consoles of servers: their output, and the URLs at which they can be reached."""

from __future__ import annotations

from openstack_emulator.compute.records import Console, Server
from openstack_emulator.compute.rules.servers import Servers
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import conflict
from openstack_emulator.core.rules import Rules

LIFETIME = 600
"""Seconds for which the token of a console is valid."""


class Consoles(Rules):
    """The tokens that give access to consoles."""

    def __init__(self, records: Records, servers: Servers) -> None:
        super().__init__(records)
        self.rows = records.table("consoles", Console, internal=True)
        self.servers = servers

    def open(self, server: Server, kind: str) -> str:
        """The URL of a new console. Nothing listens there. 409 before the server is launched."""
        require_launched(server)
        now = self.cloud.clock.now()
        for old in self.rows:
            if old.until < now:
                self.rows.remove(old)
        token = self.rows.add(Console(id=new_id(), server_id=server.id, until=now + LIFETIME)).id
        return f"{self.cloud.endpoint}/console/{kind}?token={token}"

    def output(self, server: Server) -> str:
        """What the guest has written; without guests, what a kernel writes first."""
        written = self.cloud.guests.console(server.id)
        if written is not None:
            return written
        lines = [
            f"[    0.000000] Linux version 5.15.0 ({server.hostname})",
            f"[    0.{server.number % 10**6:06d}] Memory: {server.flavor.ram * 1024}K available",
            f"[    1.000000] smp: Brought up 1 node, {server.flavor.vcpus} CPUs",
            f"{server.hostname} login:",
        ]
        return "\n".join(lines)

    def server_of(self, token: str) -> Server | None:
        """The server of a token, None for an unknown or expired one."""
        console = self.rows.get(token)
        if console is None or console.until < self.cloud.clock.now():
            return None
        return self.servers.rows.get(console.server_id)


def require_launched(server: Server) -> None:
    """409 for a server without a console: it has not been launched, or has no host."""
    if server.launched_at is None or server.host is None:
        raise conflict(f"Instance {server.id} is not ready")
