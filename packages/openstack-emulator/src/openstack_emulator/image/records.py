"""What Glance keeps, and its rules: images with their data, who shares them, and import tasks."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from openstack_emulator.core.cloud import Cloud, Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict, forbidden, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Record
from openstack_emulator.identity.records import IdentityRecords
from openstack_emulator.image.errors import unauthorized

HASH = "sha512"
SNAPSHOT_SIZE = 64 * 1024
DEFAULTS: Mapping[str, Any] = {
    "name": None,
    "visibility": "shared",
    "protected": False,
    "os_hidden": False,
    "container_format": None,
    "disk_format": None,
    "min_disk": 0,
    "min_ram": 0,
}
PRESETS: tuple[tuple[str, Record, int], ...] = (
    ("cirros", {"min_disk": 1, "min_ram": 64, "properties": {"os_distro": "cirros"}}, 256 * 1024),
    ("cirros-0.6.2-x86_64-disk", {"min_disk": 1, "min_ram": 64, "properties": {"os_distro": "cirros"}}, 256 * 1024),
    ("fedora", {"min_disk": 5, "min_ram": 512, "properties": {"os_distro": "fedora"}}, 512 * 1024),
)
"""Name, attributes and size of the stand-in data of the images in a new cloud."""
PRESETS_FOR: Mapping[str, tuple[str, Record, int]] = {
    "magnum": ("fedora-coreos", {"min_disk": 10, "properties": {"os_distro": "fedora-coreos"}}, 256 * 1024),
}
"""Images that a new cloud has if it has a service, which needs them."""
STORES = {"cheap": "Cheap storage", "fast": "Fast storage"}
"""Ids and descriptions of the stores."""
DEFAULT_STORE = "fast"
NO_DATA: Mapping[str, Any] = {
    "stores": [],
    "checksum": None,
    "os_hash_algo": None,
    "os_hash_value": None,
    "size": None,
    "virtual_size": None,
}


class ImageRecords(Records):
    """Images, members, tasks.

    An image is `{id, name, project_id, status, visibility, …, tags: [text], properties: {name: text}}`; Glance's
    `owner` is `project_id`, custom properties stand in `properties` rather than at the top, and `stores` is a list.
    A member is `{id: "<image>:<project>", image_id, project_id, status}`.
    """

    service = "glance"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.deferrable(self.begin_saving, self.finish_with_stand_in, self.finish_import, self.finish_task)
        self.images = self.collection(
            "images", ("name", "project_id"), lambda key: not_found(f"No image found with ID {key}")
        )
        self.members = self.collection("members", ("image_id", "project_id"))
        self.namespaces = self.collection("namespaces", ("project_id",))
        self.tasks = self.collection(
            "tasks", ("image_id",), lambda key: not_found(f"The requested task {key} could not be found.")
        )

    def seed(self) -> None:
        owner = self.cloud.of(IdentityRecords).projects.first(name="admin")
        more = (preset for service, preset in PRESETS_FOR.items() if self.cloud.has_service(service))
        for name, attributes, size in (*PRESETS, *more):
            formats = {"disk_format": "qcow2", "container_format": "bare"}
            image = self.create(
                owner["id"] if owner else "", {"name": name, "visibility": "public", **formats, **attributes}
            )
            self._fill(image, stand_in(name, size))

    def is_visible(self, image: Record, project_id: str | None) -> bool:
        """Whether a project may use the image by its id."""
        if image["visibility"] in ("public", "community"):
            return True
        if project_id is None:
            return False
        return image["project_id"] == project_id or (
            image["visibility"] == "shared" and f"{image['id']}:{project_id}" in self.members
        )

    def visible(self, project_id: str, image_id_or_name: str) -> Record | None:
        """The image with this id, else the oldest with this name, that the project may use."""
        by_id = self.images.get(image_id_or_name)
        candidates = [by_id] if by_id is not None else self.images.select(name=image_id_or_name)
        return next((image for image in candidates if self.is_visible(image, project_id)), None)

    def image_for(self, project_id: str, image_id: str) -> Record:
        """The image with this id; 404 when there is none that the project may use."""
        image = self.images.require(image_id)
        if not self.is_visible(image, project_id):
            raise not_found(f"No image found with ID {image_id}")
        return image

    def image_in(self, context: Context, image_id: str) -> Record:
        """The image with this id as the caller sees it; an admin sees all."""
        image = self.images.require(image_id)
        if not context.is_admin and not self.is_visible(image, context.project_id):
            raise not_found(f"No image found with ID {image_id}")
        return image

    def owned_image(self, context: Context, image_id: str, rule: str = "modify_image") -> Record:
        """An image the caller may change; 403, which names the policy rule, for one that they may only see."""
        image = self.image_in(context, image_id)
        if not context.may_see(image):
            raise unauthorized(rule)
        return image

    def create(self, project_id: str, wanted: Record) -> Record:
        """A new, queued image. `wanted` has checked attributes of an image record, any of them left out.

        Raises: ApiError 409 when the id is taken.
        """
        key = wanted.get("id") or new_id()
        if key in self.images:
            raise conflict(f"Image ID {key} already exists!")
        now = self.timestamp()
        return self.images.add(
            {
                **DEFAULTS,
                "project_id": project_id,
                "tags": [],
                "properties": {},
                **wanted,
                "id": key,
                **NO_DATA,
                "status": "queued",
                "created_at": now,
                "updated_at": now,
            }
        )

    def create_from_server(self, project_id: str, wanted: Record) -> Record:
        """The image of a server or a volume: queued, then saving, then active with stand-in data.

        wanted: `{name, disk_format, container_format, min_disk, min_ram, visibility, tags, properties, size}`, all
        but the name optional; size in bytes (0 for an image that only names volume snapshots in its properties).
        """
        wanted = {"disk_format": "qcow2", "container_format": "bare", "visibility": "private", **wanted}
        size = int(wanted.pop("size", SNAPSHOT_SIZE))
        image = self.create(project_id, wanted)
        self.after(0.05, self.begin_saving, image["id"])
        self.after(0.15, self.finish_with_stand_in, image["id"], image["id"], size)
        return image

    def change(self, image: Record, changes: Record) -> None:
        """Set checked attributes."""
        self.images.update(image, **changes, updated_at=self.timestamp())

    def delete(self, image: Record) -> None:
        """Delete an image with its data and members; 403 when it is protected."""
        if image["protected"]:
            raise forbidden(f"Image {image['id']} is protected and cannot be deleted.")
        for collection in (self.members, self.tasks):
            for record in collection.select(image_id=image["id"]):
                collection.remove(record)
        self.cloud.store.remove_blob(data_key(image["id"]))
        self.cloud.store.remove_blob(staging_key(image["id"]))
        self.images.remove(image)

    def upload(self, image: Record, data: bytes, stores: list[str]) -> None:
        """Fill a queued image with data, in these stores; 409 in another status, 400 without formats."""
        _require_queued(image, "saving")
        _require_formats(image)
        self._fill(image, data, stores)

    def stage(self, image: Record, data: bytes) -> None:
        """Keep data for an import by `glance-direct`; 409 when the image is not queued."""
        _require_queued(image, "uploading")
        self.cloud.store.put_blob(staging_key(image["id"]), data)
        self.images.update(image, status="uploading", size=len(data), updated_at=self.timestamp())

    def data(self, image: Record) -> bytes | None:
        """The bytes of an image, None while it has none; 403 when it is deactivated."""
        if image["status"] == "deactivated":
            raise forbidden("The requested image has been deactivated. Image data download is forbidden.")
        return self.cloud.store.get_blob(data_key(image["id"]))

    def begin_import(
        self, context: Context, image: Record, method: Mapping[str, Any], request_id: str, stores: list[str]
    ) -> Record:
        """Start to import staged data (`glance-direct`), what stands behind a URI (`web-download`) or what another
        store has (`copy-image`), into stores; the task.

        Nothing is fetched: an image imported from a URI gets stand-in data that depends on the URI alone.
        Raises: ApiError 409 when the image is not in the status which the method needs, 400 without formats.
        """
        needed = IMPORT_NEEDS[method["name"]]
        if image["status"] != needed:
            raise conflict(
                f"Image {image['id']} needs to be in status '{needed}' to use '{method['name']}' method, "
                f"it is '{image['status']}'."
            )
        _require_formats(image)
        wanted = {"image_id": image["id"], "import_req": {"method": dict(method)}}
        task = self._add_task(context, "api_image_import", wanted, request_id, image["id"])
        properties = {
            **image["properties"],
            "os_glance_import_task": task["id"],
            "os_glance_importing_to_stores": ",".join(stores),
            "os_glance_failed_import": "",
        }
        status = image["status"] if method["name"] == COPY else "importing"
        self.images.update(image, status=status, properties=properties, updated_at=self.timestamp())
        self.after(0.05, self.begin_saving, image["id"])
        self.after(0.15, self.finish_import, image["id"], task["id"])
        return task

    def begin_saving(self, image_id: str) -> None:
        """Have an image saved whose data is on its way; one that is copied stays active."""
        image = self.images.get(image_id)
        if image is not None and image["status"] != "active":
            self.images.update(image, status="saving", updated_at=self.timestamp())

    def finish_with_stand_in(self, image_id: str, seed: str, size: int) -> None:
        """Set the data of an image that is being saved."""
        image = self.images.get(image_id)
        if image is not None:
            self._fill(image, stand_in(seed, size))

    def finish_import(self, image_id: str, task_id: str) -> None:
        """Give an imported image its data; one with a fault goes back to where it was."""
        image, task = self.images.get(image_id), self.tasks.get(task_id)
        if image is None or task is None:
            return
        properties = {key: value for key, value in image["properties"].items() if key != "os_glance_import_task"}
        method, stores = task["input"]["import_req"]["method"], properties["os_glance_importing_to_stores"].split(",")
        properties["os_glance_importing_to_stores"] = ""
        fault = image.pop("_fault", None)
        if fault is not None:
            properties["os_glance_failed_import"] = ",".join(stores)
            status = IMPORT_NEEDS[method["name"]]
            self.images.update(image, status=status, properties=properties, updated_at=self.timestamp())
            self.tasks.update(task, status="failure", message=str(fault), updated_at=self.timestamp())
            return
        self.images.update(image, properties=properties)
        if method["name"] == COPY:
            self.images.update(image, stores=[key for key in STORES if key in (*image["stores"], *stores)])
        else:
            staged = self.cloud.store.get_blob(staging_key(image_id))
            self._fill(image, stand_in(method.get("uri", ""), SNAPSHOT_SIZE) if staged is None else staged, stores)
            self.cloud.store.remove_blob(staging_key(image_id))
        self.tasks.update(task, status="success", result={"image_id": image_id}, updated_at=self.timestamp())

    def set_active(self, image: Record, status: str) -> None:
        """Make an image `active` or `deactivated`; 403 unless it is one of the two."""
        if image["status"] not in ("active", "deactivated"):
            raise forbidden(
                f"Not allowed to change the status of image {image['id']} from {image['status']} to {status}."
            )
        self.images.update(image, status=status, updated_at=self.timestamp())

    def share(self, image: Record, project_id: str) -> Record:
        """A new, pending member; 403 unless the image is shared, 409 when the project is a member."""
        if image["visibility"] != "shared":
            raise forbidden("Only shared images have members.")
        key = f"{image['id']}:{project_id}"
        if key in self.members:
            raise conflict(f"Member {project_id} is duplicated for image {image['id']}")
        now = self.timestamp()
        return self.members.add(
            {
                "id": key,
                "image_id": image["id"],
                "project_id": project_id,
                "status": "pending",
                "created_at": now,
                "updated_at": now,
            }
        )

    def set_tags(self, image: Record, tags: Iterable[str]) -> None:
        self.images.update(image, tags=list(dict.fromkeys(tags)), updated_at=self.timestamp())

    def _fill(self, image: Record, data: bytes, stores: Iterable[str] = (DEFAULT_STORE,)) -> None:
        if image.pop("_fault", None) is not None:
            self.images.update(image, status="killed", updated_at=self.timestamp())
            return
        self.cloud.store.put_blob(data_key(image["id"]), data)
        changes = {**described(data, image["disk_format"]), "stores": list(stores), "status": "active"}
        self.images.update(image, **changes, updated_at=self.timestamp())

    def begin_task(self, context: Context, wanted: Record, owner: str, image: Record, request_id: str) -> Record:
        """Start to create an image from the data at a URI; the task.

        wanted: what the task was asked, with the URI in `import_from`. image: checked attributes of the image.
        Nothing is fetched, see `begin_import`.
        """
        task = self._add_task(context, "import", wanted, request_id)
        self.after(0.1, self.finish_task, task["id"], owner, image)
        return task

    def finish_task(self, task_id: str, owner: str, wanted: Record) -> None:
        """Make the image that a task is to import; a task that cannot says why."""
        task = self.tasks.get(task_id)
        if task is None:
            return
        fault, now = task.pop("_fault", None), self.timestamp()
        try:
            image = None if fault is not None else self.create(owner, wanted)
        except ApiError as error:
            image, fault = None, error.message
        if image is None:
            self.tasks.update(task, status="failure", message=str(fault), updated_at=now)
            return
        self._fill(image, stand_in(task["input"]["import_from"], SNAPSHOT_SIZE))
        result = {"image_id": image["id"]}
        self.tasks.update(task, status="success", image_id=image["id"], result=result, updated_at=now)

    def _add_task(
        self, context: Context, kind: str, wanted: Record, request_id: str, image_id: str | None = None
    ) -> Record:
        now = self.timestamp()
        return self.tasks.add(
            {
                "id": new_id(),
                "type": kind,
                "status": "processing",
                "image_id": image_id,
                "project_id": context.project_id,
                "user_id": context.user_id,
                "request_id": request_id,
                "input": wanted,
                "result": None,
                "message": "",
                "created_at": now,
                "updated_at": now,
                "expires_at": None,
            }
        )


COPY = "copy-image"
IMPORT_NEEDS: Mapping[str, str] = {"glance-direct": "uploading", "web-download": "queued", COPY: "active"}
"""Import method → the status of an image that can be imported that way."""


def data_key(image_id: str) -> str:
    return f"glance/images/{image_id}"


def staging_key(image_id: str) -> str:
    return f"glance/staging/{image_id}"


def stand_in(seed: str, size: int) -> bytes:
    """Bytes in place of an image's real data: always the same for the same seed."""
    block = hashlib.sha512(seed.encode()).digest()
    return (block * (size // len(block) + 1))[:size]


def described(data: bytes, disk_format: str | None) -> Record:
    """The attributes of an image that follow from its data."""
    return {
        "size": len(data),
        "virtual_size": len(data) if disk_format in ("raw", "iso") else None,
        "checksum": hashlib.md5(data, usedforsecurity=False).hexdigest(),
        "os_hash_algo": HASH,
        "os_hash_value": hashlib.new(HASH, data).hexdigest(),
    }


def _require_queued(image: Record, target: str) -> None:
    if image["status"] != "queued":
        raise conflict(f"Image status transition from {image['status']} to {target} is not allowed")


def _require_formats(image: Record) -> None:
    missing = [field for field in ("disk_format", "container_format") if image[field] is None]
    if missing:
        raise bad_request(f"Properties {', '.join(missing)} must be set prior to saving data.")
