"""Servers: asked for, found, deleted; what was done to them."""

from __future__ import annotations

import secrets
import string
from ipaddress import ip_address
from typing import Any

from stoker.emulator.compute.hosts import HostRecords
from stoker.emulator.compute.states import NO_STATE
from stoker.emulator.compute.tables import SHORT
from stoker.emulator.core.cloud import new_id
from stoker.emulator.core.errors import ApiError, conflict
from stoker.emulator.core.http import Context
from stoker.emulator.core.store import Record
from stoker.emulator.network.records import NetworkRecords
from stoker.emulator.volume.records import VolumeRecords

PASSWORD_LETTERS = string.ascii_letters + string.digits


def shortest(address: str) -> str:
    """An address in its shortest form; empty stays empty."""
    return str(ip_address(address)) if address else ""


class ServerLife(HostRecords):
    """Servers from when they are asked for to their end.

    A server is `{id, name, project_id, user_id, vm_state, task_state, power_state, image_id, flavor (a copy), host,
    availability_zone, key_name, metadata, tags, description, config_drive, user_data, hostname, disk_config,
    access_ip_v4, access_ip_v6, created, updated, launched_at, locked_by, locked_reason, fault, number,
    reservation_id, zone_asked, …}`; `_networks`, `_devices` and `_hints` are what was asked for it.
    """

    def server_for(self, context: Context, server_id: str) -> Record:
        """A server the caller may see; 404 otherwise."""
        return self.visible(self.servers, context, server_id)

    def add_server(self, context: Context, wanted: Record) -> Record:
        """Take a new server in and begin to build it. What it needs has been checked before."""
        now = self.timestamp()
        server = self.servers.add(
            {
                "id": new_id(),
                "project_id": context.project,
                "user_id": context.user_id,
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
                "number": self.next_number("servers"),
                **wanted,
            }
        )
        return server

    def touch(self, server: Record, **changes: Any) -> None:
        """Change a server and note when."""
        self.servers.update(server, **changes, updated=self.timestamp())

    def require_state(self, server: Record, action: str, states: tuple[str, ...], idle: bool = True) -> None:
        """Refuse an action on a server in another state, or busy unless `idle` is False; 409."""
        if states and server["vm_state"] not in states:
            raise wrong_state(server, action, "vm_state", server["vm_state"])
        if idle and server["task_state"] is not None:
            raise wrong_state(server, action, "task_state", server["task_state"])

    def require_unlocked(self, context: Context, server: Record) -> None:
        """Refuse to change a locked server to everybody but an admin; 409."""
        if server["locked_by"] is not None and not context.is_admin:
            raise conflict(f"Instance {server['id']} is locked")

    def fail(self, server: Record, message: str, code: int = 500) -> None:
        """Put a server into error and say why."""
        fault = {"code": code, "created": self.timestamp(), "message": message}
        self.touch(server, vm_state="error", task_state=None, fault=fault)
        self.end_events(server["id"], "Error", message)

    def note(self, context: Context, request_id: str, server: Record, action: str) -> None:
        """Begin an entry of the list of what was done to a server."""
        self.events.add(
            {
                "id": request_id if request_id not in self.events else f"req-{new_id()}",
                "server_id": server["id"],
                "project_id": context.project_id,
                "server_project_id": server["project_id"],
                "user_id": context.user_id,
                "action": action,
                "start": self.moment(),
                "updated": self.moment(),
                "finish": None,
                "result": None,
                "message": None,
                "host": server["host"],
            }
        )

    def end_events(self, server_id: str, result: str = "Success", message: str | None = None) -> None:
        """End the entries that are still open."""
        server = self.servers.get(server_id)
        host = None if server is None else server["host"]
        for event in self.events.select(server_id=server_id, finish=None):
            now = self.moment()
            self.events.update(event, finish=now, updated=now, result=result, message=message, host=host)

    def delete_server(self, server: Record) -> None:
        """Begin to delete a server, whatever it is doing."""
        if server["task_state"] != "deleting":
            self.touch(server, task_state="deleting")
            self.after(SHORT, self.finish_delete, server["id"])

    def finish_delete(self, server_id: str) -> None:
        server = self.servers.get(server_id)
        if server is None or server["task_state"] != "deleting":
            return
        if (failed := server.pop("_fault", None)) is not None:
            self.fail(server, failed)
            return
        self.release_ports(server)
        self.release_volumes(server)
        self.leave_group(server_id)
        for migration in self.migrations.select(server_id=server_id, status="finished"):
            self.migrations.update(migration, status="confirmed", updated_at=self.moment())
        if server["launched_at"] is not None:
            self.usages.add({"id": server_id, **self._usage(server, self.moment())})
        self.servers.remove(server)
        self.end_events(server_id)

    def usages_of(self, project_id: str | None) -> list[Record]:
        """What the servers of a project, or of all, took and from when to when: `{instance_id, tenant_id, name,
        flavor, vcpus, memory_mb, local_gb, state, started_at, ended_at}`, the oldest first."""
        own: Record = {} if project_id is None else {"tenant_id": project_id}
        servers = list(self.servers) if project_id is None else self.servers.select(project_id=project_id)
        gone = [{key: value for key, value in row.items() if key != "id"} for row in self.usages.select(**own)]
        return [*gone, *(self._usage(server, None) for server in servers if server["launched_at"] is not None)]

    def _usage(self, server: Record, ended: str | None) -> Record:
        flavor = server["flavor"]
        return {
            "instance_id": server["id"],
            "tenant_id": server["project_id"],
            "name": server["name"],
            "flavor": flavor["name"],
            "vcpus": flavor["vcpus"],
            "memory_mb": flavor["ram"],
            "local_gb": flavor["disk"] + flavor["ephemeral"],
            "state": server["vm_state"] if ended is None else "terminated",
            "started_at": server["launched_at"],
            "ended_at": ended,
        }

    def release_ports(self, server: Record) -> None:
        """Delete the ports that were made for the server, and free the others."""
        network = self.cloud.of(NetworkRecords)
        made = {row["id"] for row in self.interfaces.select(server_id=server["id"]) if row["created"]}
        for port in network.ports_of_device(server["id"]):
            if port["id"] in made:
                network.delete_port(port["id"])
            else:
                network.unbind_port(port["id"])
        for row in self.interfaces.select(server_id=server["id"]):
            self.interfaces.remove(row)

    def release_volumes(self, server: Record) -> None:
        """Detach the volumes, and delete those that go with the server."""
        volumes = self.cloud.of(VolumeRecords)
        for device in self.block_devices.select(server_id=server["id"]):
            self.block_devices.remove(device)
            attachment = volumes.attachments.get(device["attachment_id"] or "")
            if attachment is not None:
                volumes.remove_attachment(attachment)
            volume = volumes.volumes.get(device["volume_id"] or "")
            if volume is not None and device["delete_on_termination"]:
                self._delete_volume(volume)

    def _delete_volume(self, volume: Record) -> None:
        """A volume that cannot be deleted (it has snapshots, say) outlives the server, as in Nova."""
        volumes = self.cloud.of(VolumeRecords)
        try:
            volumes.delete_volume(volume)
        except ApiError as error:
            if error.status >= 500:
                raise


def wrong_state(server: Record, action: str, field: str, value: str) -> ApiError:
    """Nova's 409 for an action on a server that is not in the state for it."""
    return conflict(f"Cannot '{action}' instance {server['id']} while it is in {field} {value}")


def new_password() -> str:
    """A password for a new server."""
    return "".join(secrets.choice(PASSWORD_LETTERS) for _ in range(12))
