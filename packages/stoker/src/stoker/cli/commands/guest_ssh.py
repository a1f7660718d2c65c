"""How `stoker guests ssh` reaches a server of the emulated cloud."""

from __future__ import annotations

from typing import Any

from keystoneauth1.adapter import Adapter
from keystoneauth1.session import Session

from openstack_emulator.guests.forwarding import local_address, local_port
from stoker.cli.terminal.errors import CommandFailed
from stoker.processes.directory import DataDirectory

SSH = 22
KNOWN_HOSTS = "known_hosts"


def ssh_command(
    directory: DataDirectory, session: Session, server: str, user: str, identity: str | None, command: tuple[str, ...]
) -> list[str]:
    """Return the command that logs in to a server by its floating IP.

    server: name or ID. identity: file of a private key. command: to run there; empty for a shell.

    Raises: CommandFailed if there is no such server, several, or no floating IP.
    """
    row = _server(session, server)
    address = _floating_ip(row)
    options = {
        "HostKeyAlias": row["id"],  # an address may have been that of another server
        "UserKnownHostsFile": str(directory.path / "guests" / KNOWN_HOSTS),
        "StrictHostKeyChecking": "accept-new",
    }
    words = ["ssh", "-p", str(local_port(SSH)), *(f"-o{name}={value}" for name, value in options.items())]
    if identity is not None:
        words += ["-i", identity]
    return [*words, f"{user}@{local_address(address)}", *command]


def _server(session: Session, name_or_id: str) -> dict[str, object]:
    compute = Adapter(session, service_type="compute", interface="public")
    servers = compute.get("/servers/detail").json()["servers"]
    matching = [server for server in servers if name_or_id in (server["id"], server["name"])]
    if len(matching) != 1:
        reason = (
            f"{len(matching)} servers have this name: use an ID" if matching else "`openstack server list` lists them"
        )
        raise CommandFailed(f"There is no single server {name_or_id!r}; {reason}.")
    return dict(matching[0])


def _floating_ip(server: dict[str, Any]) -> str:
    addresses = [address for network in server["addresses"].values() for address in network]
    for address in addresses:
        if address["OS-EXT-IPS:type"] == "floating" and address["version"] == 4:
            return str(address["addr"])
    raise CommandFailed(
        f"The server {server['name']!r} has no floating IP. Add one with `openstack server add floating ip`, and "
        f"permit TCP port {SSH} in a security group of the server."
    )
