"""What is done to servers that exist: the operations of `states.OPERATIONS`, begun, carried on and ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from stoker.emulator.compute.building import NO_HOST, BuildLife, check_image_fits, check_user_data, flavor_copy
from stoker.emulator.compute.servers import shortest
from stoker.emulator.compute.states import NO_STATE, OPERATIONS, RUNNING, SHUT_DOWN
from stoker.emulator.compute.tables import SHORT
from stoker.emulator.core.cloud import Cloud, new_id
from stoker.emulator.core.errors import bad_request, conflict
from stoker.emulator.core.http import Context
from stoker.emulator.core.store import Record
from stoker.emulator.image.records import ImageRecords
from stoker.emulator.network.records import NetworkRecords
from stoker.emulator.volume.records import VolumeRecords
from stoker.emulator.volume.volumes import MAPPINGS

GIGABYTE = 1024**3


class Lifecycle(BuildLife):
    """Operations on servers.

    `finishers` are what an operation does at its end besides changing the state; they may return a state and a
    power state that replace the ones in the table.
    """

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.finishers: dict[str, Callable[[Record], Record | None]] = {
            "resize": self._finish_resize,
            "migrate": self._finish_resize,
            "confirmResize": self._finish_confirm,
            "revertResize": self._finish_revert,
            "rebuild": self._finish_rebuild,
            "evacuate": self._finish_move,
            "os-migrateLive": self._finish_move,
            "shelve": self._finish_shelve,
            "shelveOffload": self._finish_shelve,
            "unshelve": self._finish_unshelve,
        }

    def begin(self, server: Record, name: str, /, **noted: Any) -> None:
        """Begin an operation; 409 unless the server is in a state for it and idle.

        noted: fields of the server that the end of the operation needs.
        """
        operation = OPERATIONS[name]
        self.require_state(server, name, operation.origins)
        if operation.tasks:
            self.touch(server, task_state=operation.tasks[0], **noted)
            self.after(SHORT, self.proceed, server["id"], name, 0)
        else:
            self.end_events(server["id"])

    def proceed(self, server_id: str, name: str, step: int) -> None:
        """Go to the next task of an operation, or end it; nothing when the server does something else by now."""
        server, operation = self.servers.get(server_id), OPERATIONS[name]
        if server is None or server["task_state"] != operation.tasks[step]:
            return
        if step + 1 < len(operation.tasks):
            self.touch(server, task_state=operation.tasks[step + 1])
            self.after(SHORT, self.proceed, server_id, name, step + 1)
            return
        if (failed := server.pop("_fault", None)) is not None:
            self.fail(server, failed)
            return
        changes: Record = {"task_state": None}
        if operation.state is not None:
            changes["vm_state"] = operation.state
            changes["fault"] = None
        if operation.power is not None:
            changes["power_state"] = operation.power
        finisher = self.finishers.get(name)
        if finisher is not None:
            changes |= finisher(server) or {}
        self.touch(server, **changes)
        self.end_events(server_id)

    def resize(self, context: Context, server: Record, flavor_id: Any) -> None:
        """Begin to give a server another flavor.

        Raises: ApiError 400 for its own or an unknown flavor, 403 beyond a quota, 409 in a wrong state.
        """
        self.require_state(server, "resize", OPERATIONS["resize"].origins)
        key = str(flavor_id).rstrip("/").rsplit("/", 1)[-1]
        if self.flavors.get(key) is None:
            raise bad_request(f"Flavor {key} could not be found.")
        flavor = self.flavor_for(context, key)
        if flavor["id"] == server["flavor"]["id"]:
            raise bad_request("When resizing, instances must change flavor!")
        if flavor["disk"] == 0 and server["image_id"] and server["flavor"]["disk"] != 0:
            raise bad_request("Resize to zero disk flavor is not allowed.")
        image = self.cloud.of(ImageRecords).images.get(server["image_id"])
        if image is not None:
            check_image_fits(image, flavor)
        more = {
            key: max(0, flavor[field] - server["flavor"][field]) for key, field in (("cores", "vcpus"), ("ram", "ram"))
        }
        self.check_quota(server["project_id"], more)
        self._begin_move(server, "resize", flavor_copy(flavor))

    def migrate(self, server: Record, host: str | None) -> None:
        """Begin to move a server to another host, as a resize to its own flavor; 400 when no other host fits."""
        self.require_state(server, "migrate", OPERATIONS["migrate"].origins)
        self._begin_move(server, "migrate", server["flavor"], only=host, avoid=server["host"])

    def _begin_move(
        self, server: Record, name: str, flavor: Record, only: str | None = None, avoid: str | None = None
    ) -> None:
        group = self.group_of(server["id"])
        target = self.choose_host(
            flavor, server["zone_asked"], None if group is None else group["id"], only=only, avoid=avoid
        )
        if target is None and avoid is None:
            target = server["host"]
        if target is None:
            raise bad_request("No valid host was found. No valid host found for cold migrate")
        old = {"flavor": server["flavor"], "host": server["host"], "vm_state": server["vm_state"]}
        self.begin(server, name, _old=old, _new={"flavor": flavor, "host": target})
        self._add_migration(server, "resize" if name == "resize" else "migration", "migrating", target, flavor["id"])

    def _add_migration(self, server: Record, kind: str, status: str, target: str, flavor_id: str) -> None:
        self.migrations.add(
            {
                "id": new_id(),
                "number": self.next_number("migrations"),
                "server_id": server["id"],
                "kind": kind,
                "status": status,
                "source": server["host"],
                "target": target,
                "old_flavor": server["flavor"]["id"],
                "new_flavor": flavor_id,
                "project_id": server["project_id"],
                "user_id": server["user_id"],
                "created_at": self.moment(),
                "updated_at": None,
            }
        )

    def _end_migration(self, server: Record, status: str) -> None:
        rows = self.migrations.select(server_id=server["id"])
        if rows:
            self.migrations.update(rows[-1], status=status, updated_at=self.moment())

    def _finish_resize(self, server: Record) -> None:
        self.servers.update(server, **server.pop("_new"))
        self._end_migration(server, "finished")

    def _finish_confirm(self, server: Record) -> Record:
        self._end_migration(server, "confirmed")
        old = server.pop("_old", {})
        return {"vm_state": old.get("vm_state", "active")}

    def _finish_revert(self, server: Record) -> Record:
        self._end_migration(server, "reverted")
        old: Record = server.pop("_old", {})
        return old

    def _finish_move(self, server: Record) -> Record:
        self._end_migration(server, "completed")
        return {"host": server.pop("_target")}

    def live_migrate(self, server: Record, host: str | None) -> None:
        """Begin to move a running server; 400 when no other host fits."""
        self.require_state(server, "os-migrateLive", OPERATIONS["os-migrateLive"].origins)
        if host is not None and host not in self.hosts:
            raise bad_request(f"Compute host {host} could not be found.")
        if host == server["host"]:
            raise bad_request(f"Unable to migrate instance ({server['id']}) to current host ({host}).")
        target = self.choose_host(server["flavor"], server["zone_asked"], None, only=host, avoid=server["host"])
        if target is None:
            raise bad_request("No valid host was found. There are not enough hosts available.")
        self.begin(server, "os-migrateLive", _target=target)
        self._add_migration(server, "live-migration", "running", target, server["flavor"]["id"])

    def evacuate(self, server: Record, host: str | None) -> None:
        """Begin to rebuild a server on another host; 409 while its own host is up."""
        service = self.services.first(binary="nova-compute", host=server["host"])
        if service is not None and not service["forced_down"]:
            raise bad_request(f"Compute service of {server['host']} is still in use.")
        target = self.choose_host(server["flavor"], None, None, only=host, avoid=server["host"])
        if target is None:
            raise bad_request("No valid host was found. There are not enough hosts available.")
        self.begin(server, "evacuate", _target=target)
        self._add_migration(server, "evacuation", "running", target, server["flavor"]["id"])

    def rebuild(self, context: Context, server: Record, wanted: Record) -> None:
        """Begin to make a server anew from an image.

        wanted: imageRef, and what else changes: name, description, metadata, user_data, key_name, hostname,
        accessIPv4, accessIPv6, OS-DCF:diskConfig.

        Raises: ApiError 400 for an unusable image, 409 in a wrong state.
        """
        self.require_state(server, "rebuild", OPERATIONS["rebuild"].origins)
        image = self.image_for_boot(context, wanted["imageRef"])
        if image is None:
            raise bad_request("Invalid image identifier or unable to access requested image.")
        check_image_fits(image, server["flavor"])
        check_user_data(wanted.get("user_data"))
        if wanted.get("metadata"):
            self.check_metadata_quota(server["project_id"], wanted["metadata"])
        if wanted.get("key_name") and self.keypairs.get(f"{server['user_id']}:{wanted['key_name']}") is None:
            raise bad_request("Invalid key_name provided.")
        names = {
            "accessIPv4": "access_ip_v4",
            "accessIPv6": "access_ip_v6",
            "OS-DCF:diskConfig": "disk_config",
            **{name: name for name in ("name", "description", "metadata", "user_data", "key_name", "hostname")},
        }
        changes = {field: wanted[name] for name, field in names.items() if name in wanted}
        for field in ("access_ip_v4", "access_ip_v6"):
            if field in changes:
                changes[field] = shortest(changes[field])
        if server["image_id"]:
            changes |= {"image_id": image["id"], "_image_properties": dict(image["properties"])}
        self.begin(server, "rebuild", **changes, _was_stopped=server["vm_state"] == "stopped")

    def _finish_rebuild(self, server: Record) -> Record:
        self.servers.update(server, launched_at=self.moment())
        if server.pop("_was_stopped", False):
            return {"vm_state": "stopped", "power_state": SHUT_DOWN}
        return {}

    def _finish_shelve(self, server: Record) -> Record:
        return {"host": None, "power_state": SHUT_DOWN}

    def _finish_unshelve(self, server: Record) -> Record:
        host = self.choose_host(server["flavor"], server["zone_asked"], None, only=server["_host_asked"])
        if host is None:
            fault = {"code": 500, "created": self.timestamp(), "message": NO_HOST}
            return {"vm_state": "error", "power_state": NO_STATE, "fault": fault}
        self._delete_shelved_image(server)
        network = self.cloud.of(NetworkRecords)
        for port in network.ports_of_device(server["id"]):
            network.update_port(port["id"], **{"binding:host_id": host})
        return {"host": host, "launched_at": self.moment()}

    def shelve(self, context: Context, server: Record) -> None:
        """Begin to put a server aside: its disk becomes an image and its host is free."""
        self.require_state(server, "shelve", OPERATIONS["shelve"].origins)
        image = self._snapshot(server, f"{server['name']}-shelved", {}) if server["image_id"] else None
        self.begin(server, "shelve", _shelved_image=None if image is None else image["id"])

    def _delete_shelved_image(self, server: Record) -> None:
        images = self.cloud.of(ImageRecords)
        image = images.images.get(server.pop("_shelved_image", None) or "")
        if image is not None:
            images.delete(image)

    def create_image(self, context: Context, server: Record, name: str, metadata: Record) -> Record:
        """Begin to make an image of a server; the image."""
        self.require_state(server, "createImage", OPERATIONS["createImage"].origins)
        image = self._snapshot(server, name, metadata)
        self.begin(server, "createImage")
        return image

    def create_backup(self, context: Context, server: Record, name: str, kind: str, rotation: int) -> Record:
        """Begin a backup image of a server and drop all but the `rotation` newest of its kind; the image."""
        if not server["image_id"]:
            raise bad_request("It's not supported to backup volume backed instance.")
        self.require_state(server, "createBackup", OPERATIONS["createBackup"].origins)
        image = self._snapshot(server, name, {"image_type": "backup", "backup_type": kind})
        images = self.cloud.of(ImageRecords)
        old = [row for row in images.images if self._is_backup(row, server["id"], kind) and row["id"] != image["id"]]
        for row in old[: max(0, len(old) - max(rotation - 1, 0))]:
            images.delete(row)
        self.begin(server, "createBackup")
        return image

    def _is_backup(self, image: Record, server_id: str, kind: str) -> bool:
        properties = image["properties"]
        return bool(properties.get("instance_uuid") == server_id and properties.get("backup_type") == kind)

    def _snapshot(self, server: Record, name: str, metadata: Record) -> Record:
        """The image of a server: of its disk, or of nothing but snapshots of its volumes."""
        images = self.cloud.of(ImageRecords)
        base = images.images.get(server["image_id"] or "")
        properties = {
            "instance_uuid": server["id"],
            "user_id": server["user_id"],
            "image_type": "snapshot",
            "base_image_ref": server["image_id"],
            "image_location": "snapshot",
            **{key: str(value) for key, value in metadata.items()},
        }
        wanted = {
            "name": name,
            "properties": properties,
            "min_ram": 0 if base is None else base["min_ram"],
            "min_disk": server["flavor"]["disk"] if server["image_id"] else 0,
        }
        if not server["image_id"]:
            mappings = self._snapshot_volumes(server, name)
            properties |= {MAPPINGS: orjson.dumps(mappings).decode(), "bdm_v2": "True"}
            wanted["size"] = 0
        return images.create_from_server(server["project_id"], wanted)

    def _snapshot_volumes(self, server: Record, name: str) -> list[Record]:
        """Begin snapshots of the volumes; the block devices of a server that is made of them."""
        volumes, mappings = self.cloud.of(VolumeRecords), []
        for device in self.block_devices.select(server_id=server["id"]):
            volume = volumes.volumes.get(device["volume_id"])
            if volume is not None:
                wanted = {"name": f"snapshot for {name}"}
                snapshot = volumes.create_snapshot(self.acting_for(server), volume, wanted, force=True)
                mappings.append(
                    {
                        "source_type": "snapshot",
                        "destination_type": "volume",
                        "snapshot_id": snapshot["id"],
                        "volume_id": None,
                        "volume_size": volume["size"],
                        "boot_index": device["boot_index"],
                        "device_name": device["device"],
                        "delete_on_termination": device["delete_on_termination"],
                    }
                )
        return mappings

    def soft_reset(self, server: Record, state: str) -> None:
        """Say that a server is `active` or in `error`, whatever it was."""
        power = RUNNING if state == "active" else NO_STATE
        self.touch(server, vm_state=state, task_state=None, power_state=power)
        self.end_events(server["id"])

    def set_lock(self, context: Context, server: Record, reason: str | None) -> None:
        """Lock a server."""
        owner = "admin" if context.is_admin and context.project_id != server["project_id"] else "owner"
        self.touch(server, locked_by=owner, locked_reason=reason)
        self.end_events(server["id"])

    def unlock(self, context: Context, server: Record) -> None:
        """Unlock a server; only an admin may open an admin's lock."""
        if server["locked_by"] == "admin" and not context.is_admin:
            raise conflict(f"Instance {server['id']} is locked")
        self.touch(server, locked_by=None, locked_reason=None)
        self.end_events(server["id"])
