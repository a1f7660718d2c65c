"""How a server is built: checked when it is asked for; scheduled, networked, given its disks and started later."""

from __future__ import annotations

import base64
import binascii
import re
from typing import Any

from stoker.emulator.compute.devices import DeviceLife, in_nova_words
from stoker.emulator.compute.servers import new_password, shortest
from stoker.emulator.compute.states import RUNNING
from stoker.emulator.compute.tables import LONG, SHORT
from stoker.emulator.core.cloud import new_id
from stoker.emulator.core.errors import ApiError, bad_request, conflict, forbidden
from stoker.emulator.core.http import Context
from stoker.emulator.core.store import Record
from stoker.emulator.image.records import ImageRecords
from stoker.emulator.network.records import NetworkRecords
from stoker.emulator.volume.records import VolumeRecords
from stoker.emulator.volume.volumes import MAPPINGS, mappings_of

LARGEST_USER_DATA = 65535
NO_HOST = "No valid host was found. There are not enough hosts available."


class BuildLife(DeviceLife):
    """Making servers."""

    def create_servers(self, context: Context, wanted: Record, hints: Record, version: tuple[int, int]) -> list[Record]:
        """Begin to build servers as `POST /servers` asks; the new servers, `_password` in each.

        Raises: ApiError 400 for what does not fit or exist, 403 beyond a quota, 409 for a port in use or an
        ambiguous network.
        """
        count = int(wanted.get("max_count") or wanted.get("min_count") or 1)
        image = self.image_for_boot(context, wanted.get("imageRef"))
        flavor = self._flavor_for_boot(context, wanted["flavorRef"], image)
        properties = {} if image is None else dict(image["properties"])
        if image is not None and MAPPINGS in properties:
            given = wanted.get("block_device_mapping_v2") or []
            wanted = {**wanted, "block_device_mapping_v2": _devices_of_image(image, given)}
            image = None
        devices = self._block_devices(context, wanted, image)
        if wanted.get("key_name") and self.keypairs.get(f"{context.user_id}:{wanted['key_name']}") is None:
            raise bad_request("Invalid key_name provided.")
        groups = [group["name"] for group in wanted.get("security_groups") or []]
        group_ids = self.security_group_ids(context.project, groups)
        networks = self._networks(context, wanted.get("networks"), version)
        zone, host = self._placement(context, wanted)
        group = self._server_group(hints, count)
        self.check_metadata_quota(context.project, wanted.get("metadata") or {})
        self.check_quota(
            context.project,
            {"instances": count, "cores": count * flavor["vcpus"], "ram": count * flavor["ram"]},
        )
        check_user_data(wanted.get("user_data"))
        given = [device["volume_id"] for device in devices if device.get("volume_id")]
        if len(set(given)) < len(given) or (given and count > 1):
            raise bad_request("Block Device Mapping is Invalid: A volume can be given once and to one server only.")
        if count > 1 and any("port" in network or network.get("fixed_ip") for network in networks):
            raise bad_request("Invalid input: A port or a fixed address can be given to one server only.")
        record = {
            "image_id": "" if image is None else image["id"],
            "_image_properties": properties,
            "flavor": flavor_copy(flavor),
            "key_name": wanted.get("key_name"),
            "metadata": wanted.get("metadata") or {},
            "description": wanted.get("description"),
            "tags": list(wanted.get("tags") or []),
            "config_drive": "True" if str(wanted.get("config_drive") or "").lower() in ("true", "1") else "",
            "user_data": wanted.get("user_data"),
            "disk_config": wanted.get("OS-DCF:diskConfig", "AUTO"),
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
        return [self._begin_build(context, wanted, record, group, at, count) for at in range(count)]

    def _begin_build(
        self, context: Context, wanted: Record, record: Record, group: Record | None, at: int, count: int
    ) -> Record:
        name = wanted["name"].strip() if count == 1 else f"{wanted['name'].strip()}-{at + 1}"
        hostname = wanted.get("hostname") or re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-")[:63]
        server = self.add_server(context, {**record, "name": name, "hostname": hostname, "launch_index": at})
        if not hostname:
            self.touch(server, hostname=f"server-{server['id']}")
        if group is not None:
            self.server_groups.update(group, members=[*group["members"], server["id"]])
        for device in record["_devices"]:
            if device.get("volume_id"):
                self._reserve(context, server, device)
        self.after(SHORT, self.schedule, server["id"])
        return {**server, "_password": wanted.get("adminPass") or new_password()}

    def _reserve(self, context: Context, server: Record, device: Record) -> None:
        volumes = self.cloud.of(VolumeRecords)
        attachment = volumes.create_attachment(context, volumes.volume_for(context, device["volume_id"]), server["id"])
        self.add_block_device(server, {**_device_fields(device), "attachment_id": attachment["id"]})

    def schedule(self, server_id: str) -> None:
        """Choose the host."""
        server = self._building(server_id, "scheduling")
        if server is None:
            return
        group = self.group_of(server_id)
        host = self.choose_host(
            server["flavor"],
            server["zone_asked"],
            None if group is None else group["id"],
            only=server["_host_asked"],
            hints=server["_hints"],
        )
        if host is None:
            self.fail(server, NO_HOST)
            return
        self.touch(server, host=host, task_state="networking")
        self.after(SHORT, self.allocate_networks, server_id)

    def allocate_networks(self, server_id: str) -> None:
        """Make and bind the ports."""
        server = self._building(server_id, "networking")
        if server is None:
            return
        try:
            for wanted in server["_networks"]:
                self.plug(server, {**wanted, "security_groups": server["_security_groups"]})
        except ApiError as error:
            self.fail(server, f"Build of instance {server_id} aborted: {error.message}")
            return
        self.touch(server, task_state="block_device_mapping")
        self.after(SHORT, self.make_volumes, server_id)

    def make_volumes(self, server_id: str) -> None:
        """Have the volumes made that the server is to boot from or to have."""
        server = self._building(server_id, "block_device_mapping")
        if server is None:
            return
        volumes, context = self.cloud.of(VolumeRecords), self.acting_for(server)
        try:
            for device in server["_devices"]:
                if not device.get("volume_id"):
                    volume = volumes.create_volume(context, device["volume"])
                    self.add_block_device(
                        server, {**_device_fields(device), "volume_id": volume["id"], "attachment_id": None}
                    )
        except ApiError as error:
            self.fail(server, f"Build of instance {server_id} aborted: {error.message}")
            return
        self.await_volumes(server_id)

    def await_volumes(self, server_id: str) -> None:
        """Go on when all new volumes are there."""
        server = self._building(server_id, "block_device_mapping")
        if server is None:
            return
        volumes, context = self.cloud.of(VolumeRecords), self.acting_for(server)
        for device in self.block_devices.select(server_id=server_id, attachment_id=None):
            volume = volumes.volumes.get(device["volume_id"])
            if volume is None or volume["status"] == "error":
                self.fail(
                    server,
                    f"Build of instance {server_id} aborted: Volume {device['volume_id']} did not finish being "
                    "created even after we waited: its status is error.",
                )
                return
            if volume["status"] != "available":
                self.after(LONG, self.await_volumes, server_id)
                return
            attachment = volumes.create_attachment(context, volume, server_id)
            self.block_devices.update(device, attachment_id=attachment["id"])
        for device in self.block_devices.select(server_id=server_id):
            self.connect_volume(device["id"])
        self.touch(server, task_state="spawning")
        self.after(LONG, self.finish_build, server_id)

    def finish_build(self, server_id: str) -> None:
        """The server runs."""
        server = self._building(server_id, "spawning")
        if server is None:
            return
        if (failed := server.pop("_fault", None)) is not None:
            self.fail(server, failed)
            return
        self.touch(
            server, vm_state="active", task_state=None, power_state=RUNNING, launched_at=self.moment(), fault=None
        )
        self.end_events(server_id)

    def _building(self, server_id: str, task: str) -> Record | None:
        """The server, when it still is at this step of its building."""
        server = self.servers.get(server_id)
        return server if server is not None and server["task_state"] == task else None

    def image_for_boot(self, context: Context, image_id: str | None) -> Record | None:
        """The image a server is made of, None when none is named; 400 when it cannot be used."""
        if not image_id:
            return None
        image_id = image_id.rstrip("/").rsplit("/", 1)[-1]
        try:
            image = self.cloud.of(ImageRecords).image_for(context.project, image_id)
        except ApiError:
            raise bad_request(f"Can not find requested image {image_id}") from None
        if image["status"] != "active":
            raise bad_request(f"Image {image_id} is not active.")
        return image

    def _flavor_for_boot(self, context: Context, reference: Any, image: Record | None) -> Record:
        key = str(reference).rstrip("/").rsplit("/", 1)[-1]
        try:
            flavor = self.flavor_for(context, key)
        except ApiError:
            raise bad_request(f"Flavor {key} could not be found.") from None
        if image is not None:
            check_image_fits(image, flavor)
        return flavor

    def _networks(self, context: Context, wanted: Any, version: tuple[int, int]) -> list[Record]:
        """The interfaces a new server gets: `{uuid}` or `{port}` each, with fixed_ip and tag."""
        network = self.cloud.of(NetworkRecords)
        if wanted == "none":
            return []
        if not wanted or wanted == "auto":
            candidates = network.default_network_for(context.project)
            if len(candidates) > 1:
                raise conflict("Multiple possible networks found, use a Network ID to be more specific.")
            if not candidates and wanted == "auto":
                return [{"uuid": self._allocated_network(context.project)}]
            return [{"uuid": row["id"]} for row in candidates]
        return [self._interface(context, row) for row in wanted]

    def _allocated_network(self, project_id: str) -> str:
        """The id of the network that a project gets when it has none; 400 when the cloud has nothing to make it of."""
        try:
            return self.cloud.of(NetworkRecords).topology.get(project_id)
        except ApiError:
            raise bad_request(f"Unable to automatically allocate a network for project {project_id}") from None

    def _interface(self, context: Context, row: Record) -> Record:
        kept = {key: row[key] for key in ("uuid", "port", "fixed_ip", "tag") if row.get(key)}
        if "port" in kept:
            self.free_port(context, kept["port"])
        elif "uuid" in kept:
            try:
                self.cloud.of(NetworkRecords).network_for(context.project, kept["uuid"])
            except ApiError as error:
                raise in_nova_words(error) from None
        else:
            raise bad_request("Bad network format: missing 'uuid'")
        return kept

    def _placement(self, context: Context, wanted: Record) -> tuple[str | None, str | None]:
        """The zone and the host asked for: `zone`, or `zone:host` by an admin."""
        zone, _, host = (wanted.get("availability_zone") or "").partition(":")
        host = wanted.get("host") or wanted.get("hypervisor_hostname") or host.strip(":")
        if host and not context.is_admin:
            raise forbidden("Policy doesn't allow os_compute_api:servers:create:forced_host to be performed.")
        if zone and zone not in self.zones():
            raise bad_request("The requested availability zone is not available")
        if host and host not in self.hosts:
            raise bad_request(f"Compute host {host} could not be found.")
        return zone or None, host or None

    def _server_group(self, hints: Record, count: int) -> Record | None:
        key = hints.get("group")
        if key is None:
            return None
        group = self.server_groups.get(key)
        if group is None:
            raise bad_request(f"Instance group {key} could not be found.")
        most = self.limits_of(group["project_id"])["server_group_members"]
        if 0 <= most < len(group["members"]) + count:
            raise forbidden("Quota exceeded, too many servers in group")
        return group

    def check_metadata_quota(self, project_id: str, metadata: Record) -> None:
        """403 for more metadata than a server may have."""
        most = self.limits_of(project_id)["metadata_items"]
        if 0 <= most < len(metadata):
            raise forbidden(f"Quota exceeded: Maximum number of metadata items exceeds {most}")

    def _block_devices(self, context: Context, wanted: Record, image: Record | None) -> list[Record]:
        """The volumes of a new server: `{volume_id}` of an existing one or `volume`, what to make."""
        legacy = [_modern(row) for row in wanted.get("block_device_mapping") or []]
        mappings = [*(wanted.get("block_device_mapping_v2") or []), *legacy]
        check_boot_order(mappings, image is not None and not any(row["boot_index"] == 0 for row in legacy))
        devices = [device for device in (self._device(context, row) for row in mappings) if device is not None]
        for device in devices if image is None else ():
            self._require_bootable(device)
        return devices

    def _require_bootable(self, device: Record) -> None:
        """400 for a volume that is there, is to be booted from, and cannot be."""
        volume = self.cloud.of(VolumeRecords).volumes.get(device.get("volume_id", ""))
        if device["boot_index"] == 0 and volume is not None and not volume["bootable"]:
            raise bad_request(f"Block Device Mapping is Invalid: Volume {volume['id']} is not bootable.")

    def _device(self, context: Context, row: Record) -> Record | None:
        """One volume; None for a disk that is local to the host."""
        source, target = row.get("source_type"), row.get("destination_type")
        if source != "volume" and target != "volume":
            return None
        kept = {
            "boot_index": None if row.get("boot_index") in (None, "") else int(row["boot_index"]),
            "delete_on_termination": str(row.get("delete_on_termination", False)).lower() in ("true", "1"),
            "device": _device_path(row.get("device_name")),
            "tag": row.get("tag"),
        }
        if source == "volume":
            return {**kept, "volume_id": self._free_volume(context, row.get("uuid") or row.get("volume_id"))["id"]}
        origin = {"image": "imageRef", "snapshot": "snapshot_id", "blank": None}.get(str(source), "")
        if origin == "":
            raise bad_request(f"Block Device Mapping is Invalid: unknown source_type {source}.")
        volume = {"size": row.get("volume_size"), "volume_type": row.get("volume_type"), "name": ""}
        if origin is not None:
            volume[origin] = self._device_source(context, source, row.get("uuid") or row.get("snapshot_id"))
        if source == "image" and not volume["size"]:
            raise bad_request(
                "Block Device Mapping is Invalid: Images with destination_type 'volume' need a non-zero size specified"
            )
        if source == "blank" and not volume["size"]:
            raise bad_request("Block Device Mapping is Invalid: Blank volumes need a non-zero size")
        return {**kept, "volume": volume}

    def _device_source(self, context: Context, source: Any, key: Any) -> str:
        """The checked id of what a new volume is made from."""
        if source == "image":
            image = self.image_for_boot(context, key)
            if image is None:
                raise bad_request("Block Device Mapping is Invalid: failed to get image None.")
        elif self.cloud.of(VolumeRecords).snapshots.get(str(key)) is None:
            raise bad_request(f"Block Device Mapping is Invalid: failed to get snapshot {key}.")
        return str(key)

    def _free_volume(self, context: Context, key: Any) -> Record:
        try:
            volume = self.cloud.of(VolumeRecords).volume_for(context, str(key))
        except ApiError:
            raise bad_request(f"Block Device Mapping is Invalid: failed to get volume {key}.") from None
        if volume["status"] != "available" and not (volume["multiattach"] and volume["status"] == "in-use"):
            raise bad_request(
                f"Invalid volume: volume '{key}' status must be 'available'. Currently in '{volume['status']}'"
            )
        return volume


def flavor_copy(flavor: Record) -> Record:
    """What a server remembers of its flavor: the flavor may change or go."""
    fields = ("id", "name", "ram", "vcpus", "disk", "ephemeral", "swap", "extra_specs")
    return {field: flavor[field] for field in fields}


def check_image_fits(image: Record, flavor: Record) -> None:
    """400 for an image that needs more than a flavor has."""
    if flavor["ram"] < (image.get("min_ram") or 0):
        raise bad_request("Flavor's memory is too small for requested image.")
    if 0 < flavor["disk"] < (image.get("min_disk") or 0):
        raise bad_request("Flavor's disk is smaller than the minimum size specified in image metadata.")


def check_boot_order(mappings: list[Record], image_boots: bool) -> None:
    """400 unless exactly one disk is the first to boot from and the others follow without a gap.

    image_boots: whether the server's image is a boot disk when the mappings name no other.
    """
    local = any(row.get("destination_type") == "local" and row.get("source_type") == "image" for row in mappings)
    given = [int(row["boot_index"]) for row in mappings if row.get("boot_index") not in (None, "")]
    order = sorted(index for index in given if index >= 0)
    if image_boots and not local and 0 not in order:
        order = sorted([0, *order])
    if not order or order != list(range(len(order))):
        raise bad_request(
            "Block Device Mapping is Invalid: Boot sequence for the instance and image/block device mapping "
            "combination is not valid."
        )


def check_user_data(user_data: Any) -> None:
    """400 for user data that is not base64 or too long."""
    if user_data is None:
        return
    if len(user_data) > LARGEST_USER_DATA:
        raise bad_request(
            "Invalid input for field/attribute user_data. User data is too long: "
            f"it may have {LARGEST_USER_DATA} characters in base64."
        )
    if not is_base64(user_data):
        raise bad_request("User data is not valid base64: Userdata content cannot be decoded")


def is_base64(text: str) -> bool:
    """Whether a text is base64, in one line or several."""
    try:
        base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def _devices_of_image(image: Record, given: list[Record]) -> list[Record]:
    """The block devices that the image of a volume-backed server names, and those of the request, which win."""
    taken = {row["boot_index"] for row in given if row.get("boot_index") is not None}
    return [*(row for row in mappings_of(image) if row.get("boot_index") not in taken), *given]


def _modern(row: Record) -> Record:
    """An entry of the older block_device_mapping in the terms of the newer one."""
    device = str(row.get("device_name") or "").removeprefix("/dev/")
    source = "volume" if row.get("volume_id") else "snapshot"
    return {
        "source_type": source,
        "destination_type": "volume",
        "uuid": row.get("volume_id") or row.get("snapshot_id"),
        "boot_index": 0 if device == "vda" else None,
        "volume_size": row.get("volume_size"),
        "delete_on_termination": row.get("delete_on_termination", False),
        "device_name": row.get("device_name"),
    }


def _device_path(name: str | None) -> str | None:
    return None if not name else name if name.startswith("/dev/") else f"/dev/{name}"


def _device_fields(device: Record) -> Record:
    return {key: value for key, value in device.items() if key != "volume"}
