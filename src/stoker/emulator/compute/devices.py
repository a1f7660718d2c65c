"""What is plugged into a server: network interfaces and volumes."""

from __future__ import annotations

from typing import Any

from stoker.emulator.compute.servers import ServerLife
from stoker.emulator.compute.states import ATTACHABLE, PLUGGABLE
from stoker.emulator.compute.tables import SHORT
from stoker.emulator.core.cloud import new_id
from stoker.emulator.core.errors import ApiError, bad_request, conflict, not_found
from stoker.emulator.core.http import Context
from stoker.emulator.core.store import Record
from stoker.emulator.network.records import NetworkRecords
from stoker.emulator.volume.records import VolumeRecords

LETTERS = "abcdefghijklmnopqrstuvwxyz"


class DeviceLife(ServerLife):
    """Interfaces and volumes of servers."""

    def acting_for(self, server: Record) -> Context:
        """The server's owner, for what is done on his behalf later."""
        return Context("", server["user_id"], "", "", frozenset({"member"}), server["project_id"])

    def plug(self, server: Record, wanted: Record) -> Record:
        """Give a server an interface; the port.

        wanted: `port` of an existing port, or `uuid` of a network with perhaps `fixed_ip` and `security_groups`
        (ids); and `tag`.

        Raises: ApiError in Nova's words: 400 for what is unknown or has no free address, 409 for a port in use.
        """
        network = self.cloud.of(NetworkRecords)
        owner = f"compute:{self.zone_of(server['host'])}"
        given: str | None = wanted.get("port")
        if given and (stale := self.interfaces.get(given)) is not None:
            self.interfaces.remove(stale)
        try:
            port_id = given or self._make_port(server, wanted)["id"]
            port = network.bind_port(port_id, server["id"], owner, server["host"] or "")
        except ApiError as error:
            raise in_nova_words(error) from None
        self.interfaces.add(
            {"id": port_id, "server_id": server["id"], "created": given is None, "tag": wanted.get("tag")}
        )
        return port

    def free_port(self, context: Context, port_id: str) -> Record:
        """A port the caller may plug into a server.

        Raises: ApiError 400 for an unknown one, 409 for one in use.
        """
        try:
            port = self.cloud.of(NetworkRecords).update_port(port_id)
        except ApiError as error:
            raise in_nova_words(error) from None
        if port["project_id"] != context.project_id and not context.is_admin:
            raise bad_request(f"Port id {port_id} could not be found.")
        if port["device_id"]:
            raise conflict(f"Port {port_id} is still in use.")
        return port

    def _make_port(self, server: Record, wanted: Record) -> Record:
        body: dict[str, Any] = {"network_id": wanted["uuid"]}
        if wanted.get("fixed_ip"):
            body["fixed_ips"] = [{"ip_address": wanted["fixed_ip"]}]
        if wanted.get("security_groups"):
            body["security_groups"] = wanted["security_groups"]
        return self.cloud.of(NetworkRecords).create_port(server["project_id"], body, admin=True)

    def attach_interface(self, context: Context, server: Record, wanted: Record) -> Record:
        """Give a running server an interface; the port. Without a port or network: on the project's network."""
        self.require_state(server, "attach_interface", PLUGGABLE)
        network = self.cloud.of(NetworkRecords)
        if wanted.get("port"):
            self.free_port(context, wanted["port"])
        elif not wanted.get("uuid"):
            used = {port["network_id"] for port in network.ports_of_device(server["id"])}
            candidates = [row["id"] for row in network.default_network_for(server["project_id"])]
            free = [key for key in candidates if key not in used] or candidates
            if len(free) != 1:
                raise conflict("Multiple possible networks found, use a Network ID to be more specific.")
            wanted = {**wanted, "uuid": free[0]}
        return self.plug(server, wanted)

    def detach_interface(self, server: Record, port_id: str) -> None:
        """Begin to take an interface from a server; 404 when it has no such."""
        self.require_state(server, "detach_interface", PLUGGABLE)
        ports = self.cloud.of(NetworkRecords).ports_of_device(server["id"])
        if not any(port["id"] == port_id for port in ports):
            raise not_found(f"Port id {port_id} not found.")
        self.after(SHORT, self.finish_detach_interface, server["id"], port_id)

    def finish_detach_interface(self, server_id: str, port_id: str) -> None:
        network, row = self.cloud.of(NetworkRecords), self.interfaces.get(port_id)
        if row is None or row["server_id"] != server_id:
            return
        self.interfaces.remove(row)
        if row["created"]:
            network.delete_port(port_id)
        else:
            network.unbind_port(port_id)
        self.end_events(server_id)

    def security_group_ids(self, project_id: str, names: list[str]) -> list[str]:
        """The ids of security groups by id or name.

        Raises: ApiError 400 for an unknown one, 409 for a name that several have.
        """
        network, found = self.cloud.of(NetworkRecords), []
        for name in names:
            groups = network.security_groups_by_name_or_id(project_id, name)
            if not groups:
                raise bad_request(f"Security group {name} not found for project {project_id}.")
            if len(groups) > 1:
                raise conflict(f"Multiple security groups found matching '{name}'. Use an ID to be more specific.")
            found.append(groups[0]["id"])
        return list(dict.fromkeys(found))

    def security_groups(self, server: Record) -> list[Record]:
        """The security groups of a server's ports, each once."""
        network = self.cloud.of(NetworkRecords)
        ids = dict.fromkeys(key for port in network.ports_of_device(server["id"]) for key in port["security_groups"])
        found = (network.security_groups_by_name_or_id(server["project_id"], key) for key in ids)
        return [groups[0] for groups in found if groups]

    def change_security_group(self, server: Record, name: str, add: bool) -> None:
        """Put all ports of a server into a security group, or take them out of it; 404 for an unknown group."""
        network = self.cloud.of(NetworkRecords)
        groups = network.security_groups_by_name_or_id(server["project_id"], name)
        if not groups:
            raise not_found(f"Security group {name} not found for project {server['project_id']}.")
        group = groups[0]["id"]
        ports = network.ports_of_device(server["id"])
        if not add and not any(group in port["security_groups"] for port in ports):
            raise not_found(f"Security group {name} not associated with the instance {server['id']}")
        for port in ports:
            others = [key for key in port["security_groups"] if key != group]
            network.update_port(port["id"], security_groups=[*others, group] if add else others)

    def attach_volume(self, context: Context, server: Record, wanted: Record) -> Record:
        """Begin to attach a volume; the block device.

        wanted: volume_id, and perhaps device, tag, delete_on_termination.

        Raises: ApiError 404 for an unknown volume, 400 for one that is not free, 409 for a server in a wrong state.
        """
        self.require_state(server, "attach_volume", ATTACHABLE)
        volumes = self.cloud.of(VolumeRecords)
        volume = volumes.volume_for(context, wanted["volume_id"])
        attached = self.block_devices.select(server_id=server["id"])
        if any(row["volume_id"] == volume["id"] for row in attached):
            raise bad_request(f"Invalid volume: volume {volume['id']} already attached to instance {server['id']}")
        if wanted.get("device") and any(row["device"] == wanted["device"] for row in attached):
            raise conflict(f"The supplied device path ({wanted['device']}) is in use.")
        attachment = volumes.create_attachment(context, volume, server["id"])
        device = self.add_block_device(server, {**wanted, "attachment_id": attachment["id"]})
        self.after(SHORT, self.connect_volume, device["id"])
        return device

    def add_block_device(self, server: Record, wanted: Record) -> Record:
        """Note that a server has a volume, on the device asked for or the next free one."""
        return self.block_devices.add(
            {
                "id": new_id(),
                "server_id": server["id"],
                "tag": None,
                "delete_on_termination": False,
                "boot_index": None,
                **wanted,
                "device": wanted.get("device") or self.next_device(server),
            }
        )

    def next_device(self, server: Record) -> str:
        """The first free device name after those of the server's disks."""
        taken = {row["device"] for row in self.block_devices.select(server_id=server["id"])}
        if server["image_id"]:
            taken.add("/dev/vda")
        return next(name for letter in LETTERS if (name := f"/dev/vd{letter}") not in taken)

    def connect_volume(self, device_id: str) -> None:
        """The host connects to the volume."""
        device = self.block_devices.get(device_id)
        attachment = self._attachment_of(device)
        if device is None or attachment is None:
            return
        server = self.servers.get(device["server_id"])
        host = None if server is None else server["host"]
        connector = {"host": host, "mountpoint": device["device"], "initiator": f"iqn.1993-08.org.debian:01:{host}"}
        self.cloud.of(VolumeRecords).connect_attachment(attachment, connector)
        self.after(SHORT, self.finish_attach_volume, device_id)

    def finish_attach_volume(self, device_id: str) -> None:
        device = self.block_devices.get(device_id)
        attachment = self._attachment_of(device)
        if device is not None and attachment is not None and attachment["status"] == "attaching":
            self.cloud.of(VolumeRecords).complete_attachment(attachment, device["device"])
            self.end_events(device["server_id"])

    def device_for(self, server: Record, volume_id: str) -> Record:
        """The block device that is a volume of the server; 404 when it has none."""
        found = self.block_devices.first(server_id=server["id"], volume_id=volume_id)
        if found is None:
            raise not_found(f"volume_id not found: {volume_id}")
        return found

    def detach_volume(self, server: Record, volume_id: str) -> None:
        """Begin to detach a volume; 404 when the server has no such, 403 for its root disk, 409 in a wrong state."""
        self.require_state(server, "detach_volume", ATTACHABLE)
        device = self.device_for(server, volume_id)
        if device["boot_index"] == 0 and server["vm_state"] != "shelved_offloaded":
            raise ApiError(403, "Cannot detach a root device volume")
        volumes = self.cloud.of(VolumeRecords)
        volumes.begin_detaching(volumes.volumes.require(volume_id))
        self.after(SHORT, self.finish_detach_volume, device["id"])

    def finish_detach_volume(self, device_id: str) -> None:
        device = self.block_devices.get(device_id)
        if device is None:
            return
        attachment = self._attachment_of(device)
        self.block_devices.remove(device)
        if attachment is not None:
            self.cloud.of(VolumeRecords).remove_attachment(attachment)
        self.end_events(device["server_id"])

    def swap_volume(self, context: Context, server: Record, old_id: str, new_id_: str) -> None:
        """Put another volume in the place of an attached one."""
        self.require_state(server, "swap_volume", ("active", "paused", "resized"))
        device = self.device_for(server, old_id)
        volumes = self.cloud.of(VolumeRecords)
        volume = volumes.volume_for(context, new_id_)
        if volume["size"] < volumes.volumes.require(old_id)["size"]:
            raise bad_request(f"Invalid volume: Old volume is attached to a larger size than volume {new_id_}.")
        attachment = volumes.create_attachment(context, volume, server["id"])
        old = self._attachment_of(device)
        self.block_devices.update(device, volume_id=new_id_, attachment_id=attachment["id"])
        if old is not None:
            volumes.remove_attachment(old)
        self.after(SHORT, self.connect_volume, device["id"])

    def volume_extended(self, server_id: str, volume_id: str) -> None:
        """A volume of a server has become larger: its host makes the disk larger in turn."""
        server = self.servers.get(server_id)
        if server is not None and self.block_devices.first(server_id=server_id, volume_id=volume_id) is not None:
            self.note(self.acting_for(server), f"req-{new_id()}", server, "extend_volume")
            self.after(SHORT, self.end_events, server_id)

    def _attachment_of(self, device: Record | None) -> Record | None:
        key = None if device is None else device["attachment_id"]
        return self.cloud.of(VolumeRecords).attachments.get(key or "")


def in_nova_words(error: ApiError) -> ApiError:
    """What the network service refuses, as compute tells it: unknown things are the caller's mistake."""
    return ApiError(400 if error.status in (400, 404) else error.status, error.message)
