"""How servers are built: checked when they are requested; scheduled, connected to networks and volumes, and started
later."""

from __future__ import annotations

import re
from typing import Any

from openstack_emulator.compute.block_devices import BlockDevices
from openstack_emulator.compute.boot_sources import BootSources, check_image_fits, devices_of_image
from openstack_emulator.compute.flavors import Flavors, flavor_copy
from openstack_emulator.compute.hosts import Aggregates
from openstack_emulator.compute.interfaces import Interfaces
from openstack_emulator.compute.keypairs import Keypairs
from openstack_emulator.compute.quotas import Quotas
from openstack_emulator.compute.scheduler import NO_HOST, Scheduler
from openstack_emulator.compute.security_groups import ServerSecurityGroups
from openstack_emulator.compute.server_groups import ServerGroups
from openstack_emulator.compute.servers import Servers, new_password, owner_of, shortest
from openstack_emulator.compute.states import RUNNING
from openstack_emulator.compute.tables import LONG, SHORT
from openstack_emulator.compute.user_data import check_user_data
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import ApiError, bad_request, forbidden
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Record
from openstack_emulator.image.records import Image
from openstack_emulator.volume.rules.composition import BlockStorage
from openstack_emulator.volume.rules.sources import MAPPINGS
from openstack_emulator.volume.rules.wanted import NewVolume


class ServerRequests(Component):
    """Turns the body of `POST /servers` into the record of a server, or refuses it."""

    def __init__(
        self,
        records: Records,
        flavors: Flavors,
        keypairs: Keypairs,
        aggregates: Aggregates,
        sources: BootSources,
        interfaces: Interfaces,
        security_groups: ServerSecurityGroups,
        groups: ServerGroups,
        quotas: Quotas,
    ) -> None:
        super().__init__(records)
        self._flavors = flavors
        self._keypairs = keypairs
        self._aggregates = aggregates
        self._sources = sources
        self._interfaces = interfaces
        self._security_groups = security_groups
        self._groups = groups
        self._quotas = quotas

    def record_for(self, context: Context, wanted: Record, hints: Record, count: int) -> Record:
        """The fields that the new servers have in common.

        wanted: the body's `server`. hints: its scheduler hints. count: how many servers it asks for.

        Raises: ApiError 400 for what does not fit or exist, 403 beyond a quota, 409 for a port in use or an
        ambiguous network.
        """
        image = self._sources.image(context, wanted.get("imageRef"))
        flavor = self._flavor_for_boot(context, wanted["flavorRef"], image)
        properties = {} if image is None else dict(image.properties)
        image_name = "" if image is None else image.name or ""
        if image is not None and MAPPINGS in properties:
            given = wanted.get("block_device_mapping_v2") or []
            wanted = {**wanted, "block_device_mapping_v2": devices_of_image(image, given)}
            image = None
        devices = self._sources.devices(context, wanted, image)
        if wanted.get("key_name") and self._keypairs.rows.get(f"{context.user_id}:{wanted['key_name']}") is None:
            raise bad_request("Invalid key_name provided.")
        groups = [group["name"] for group in wanted.get("security_groups") or []]
        group_ids = self._security_groups.ids(context.project, groups)
        networks = self._interfaces.asked_for(context, wanted.get("networks"))
        zone, host = self._placement(context, wanted)
        if hints.get("group") is not None:
            self._groups.require_room(hints["group"], count)
        self._quotas.check_metadata(context.project, wanted.get("metadata") or {})
        self._quotas.check(
            context.project,
            {"instances": count, "cores": count * flavor["vcpus"], "ram": count * flavor["ram"]},
        )
        check_user_data(wanted.get("user_data"))
        given = [device["volume_id"] for device in devices if device.get("volume_id")]
        if len(set(given)) < len(given) or (given and count > 1):
            raise bad_request("Block Device Mapping is Invalid: A volume can be given once and to one server only.")
        if count > 1 and any("port" in network or network.get("fixed_ip") for network in networks):
            raise bad_request("Invalid input: A port or a fixed address can be given to one server only.")
        return {
            "image_id": "" if image is None else image.id,
            "_image_name": image_name,
            "_image_properties": properties,
            "flavor": flavor_copy(flavor),
            "key_name": wanted.get("key_name"),
            "metadata": wanted.get("metadata") or {},
            "description": wanted.get("description"),
            "tags": list(wanted.get("tags") or []),
            "config_drive": "True" if str(wanted.get("config_drive") or "").lower() in ("true", "1") else "",
            "user_data": wanted.get("user_data"),
            "_files": wanted.get("personality") or [],
            "disk_config": wanted.get("OS-DCF:diskConfig", "MANUAL"),
            "access_ip_v4": shortest(wanted.get("accessIPv4", "")),
            "access_ip_v6": shortest(wanted.get("accessIPv6", "")),
            "trusted_image_certificates": wanted.get("trusted_image_certificates"),
            "reservation_id": f"r-{new_id()[:8]}",
            "zone_asked": zone,
            "_host_asked": host,
            "_networks": networks,
            "_security_groups": group_ids,
            "_devices": devices,
            "_hints": hints,
        }

    def _flavor_for_boot(self, context: Context, reference: Any, image: Image | None) -> Record:
        key = str(reference).rstrip("/").rsplit("/", 1)[-1]
        try:
            flavor = self._flavors.find(context, key)
        except ApiError:
            raise bad_request(f"Flavor {key} could not be found.") from None
        if image is not None:
            check_image_fits(image, flavor)
        return flavor

    def _placement(self, context: Context, wanted: Record) -> tuple[str | None, str | None]:
        """The zone and the host asked for: `zone`, or `zone:host` by an admin."""
        zone, _, host = (wanted.get("availability_zone") or "").partition(":")
        host = wanted.get("host") or wanted.get("hypervisor_hostname") or host.strip(":")
        if host and not context.is_admin:
            raise forbidden("Policy doesn't allow os_compute_api:servers:create:forced_host to be performed.")
        if zone and zone not in self._aggregates.zones():
            raise bad_request("The requested availability zone is not available")
        if host and host not in self._aggregates.hosts.rows:
            raise bad_request(f"Compute host {host} could not be found.")
        return zone or None, host or None


class Builder(Component):
    """Builds servers step by step."""

    def __init__(
        self,
        records: Records,
        requests: ServerRequests,
        servers: Servers,
        groups: ServerGroups,
        scheduler: Scheduler,
        interfaces: Interfaces,
        block_devices: BlockDevices,
    ) -> None:
        super().__init__(records)
        self.servers = servers
        self._requests = requests
        self._groups = groups
        self._scheduler = scheduler
        self._interfaces = interfaces
        self._block_devices = block_devices
        records.deferrable(
            self.schedule, self.allocate_networks, self.make_volumes, self.await_volumes, self.finish_build
        )

    @property
    def _storage(self) -> BlockStorage:
        return self.cloud.of(BlockStorage)

    def create(self, context: Context, wanted: Record, hints: Record) -> list[Record]:
        """Begin to build servers as `POST /servers` asks; the new servers, each with its `_password`.

        Raises: see `ServerRequests.record_for`.
        """
        count = int(wanted.get("max_count") or wanted.get("min_count") or 1)
        record = self._requests.record_for(context, wanted, hints, count)
        group = self._groups.rows.get(hints.get("group") or "")
        return [self._begin_build(context, wanted, record, group, at, count) for at in range(count)]

    def _begin_build(
        self, context: Context, wanted: Record, record: Record, group: Record | None, at: int, count: int
    ) -> Record:
        name = wanted["name"].strip() if count == 1 else f"{wanted['name'].strip()}-{at + 1}"
        hostname = wanted.get("hostname") or re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-")[:63]
        server = self.servers.add(context, {**record, "name": name, "hostname": hostname, "launch_index": at})
        if not hostname:
            self.servers.touch(server, hostname=f"server-{server['id']}")
        if group is not None:
            self._groups.join(group, server["id"])
        for device in record["_devices"]:
            if device.get("volume_id"):
                self._reserve(context, server, device)
        self.after(SHORT, self.schedule, server["id"])
        return {**server, "_password": wanted.get("adminPass") or new_password()}

    def _reserve(self, context: Context, server: Record, device: Record) -> None:
        attachment = self._storage.attachments.create(
            context, self._storage.volumes.find(context, device["volume_id"]), server["id"]
        )
        self._block_devices.add(server, {**_device_fields(device), "attachment_id": attachment.id})

    def schedule(self, server_id: str) -> None:
        """First step: choose the host."""
        server = self._building(server_id, "scheduling")
        if server is None:
            return
        group = self._groups.group_of(server_id)
        host = self._scheduler.choose_host(
            server, group_id=None if group is None else group["id"], only=server["_host_asked"]
        )
        if host is None:
            self.servers.fail(server, NO_HOST)
            return
        self.servers.touch(server, host=host, task_state="networking")
        self.after(SHORT, self.allocate_networks, server_id)

    def allocate_networks(self, server_id: str) -> None:
        """Create and bind the ports."""
        server = self._building(server_id, "networking")
        if server is None:
            return
        try:
            for wanted in server["_networks"]:
                self._interfaces.plug(server, {**wanted, "security_groups": server["_security_groups"]})
        except ApiError as error:
            self.servers.fail(server, f"Build of instance {server_id} aborted: {error.message}")
            return
        self.servers.touch(server, task_state="block_device_mapping")
        self.after(SHORT, self.make_volumes, server_id)

    def make_volumes(self, server_id: str) -> None:
        """Have the new volumes of the server created."""
        server = self._building(server_id, "block_device_mapping")
        if server is None:
            return
        context = owner_of(server)
        try:
            for device in server["_devices"]:
                if not device.get("volume_id"):
                    volume = self._storage.volumes.create(context, NewVolume.from_json(device["volume"]))
                    self._block_devices.add(
                        server, {**_device_fields(device), "volume_id": volume.id, "attachment_id": None}
                    )
        except ApiError as error:
            self.servers.fail(server, f"Build of instance {server_id} aborted: {error.message}")
            return
        self.await_volumes(server_id)

    def await_volumes(self, server_id: str) -> None:
        """Continue when all new volumes are available."""
        server = self._building(server_id, "block_device_mapping")
        if server is None:
            return
        context = owner_of(server)
        for device in self._block_devices.rows.select(server_id=server_id, attachment_id=None):
            volume = self._storage.volumes.rows.get(device["volume_id"])
            if volume is None or volume.status == "error":
                self.servers.fail(
                    server,
                    f"Build of instance {server_id} aborted: Volume {device['volume_id']} did not finish being "
                    "created even after we waited: its status is error.",
                )
                return
            if volume.status != "available":
                self.after(LONG, self.await_volumes, server_id)
                return
            attachment = self._storage.attachments.create(context, volume, server_id)
            self._block_devices.rows.update(device, attachment_id=attachment.id)
        for device in self._block_devices.rows.select(server_id=server_id):
            self._block_devices.connect_volume(device["id"])
        self.servers.touch(server, task_state="spawning")
        self.after(LONG, self.finish_build, server_id)

    def finish_build(self, server_id: str) -> None:
        """Last step: the server runs."""
        server = self._building(server_id, "spawning")
        if server is None:
            return
        if (failed := server.pop("_fault", None)) is not None:
            self.servers.fail(server, failed)
            return
        self.servers.touch(
            server, vm_state="active", task_state=None, power_state=RUNNING, launched_at=self.moment(), fault=None
        )
        self.servers.history.end(server_id)

    def _building(self, server_id: str, task: str) -> Record | None:
        """The server, if it is still at this step."""
        server = self.servers.rows.get(server_id)
        return server if server is not None and server["task_state"] == task else None


def _device_fields(device: Record) -> Record:
    return {key: value for key, value in device.items() if key != "volume"}
