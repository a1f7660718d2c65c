"""Images: who may use, see and change them, from their creation to their deletion."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import conflict, forbidden
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.identity.rules.composition import Identity
from openstack_emulator.image.records import Image, Member, Task
from openstack_emulator.image.rules.data import ImageData, placeholder_data
from openstack_emulator.image.rules.errors import unauthorized
from openstack_emulator.image.rules.inputs import NewCopy, NewImage

KILOBYTES = 1024


def _preset(name: str, distribution: str, min_disk: int, min_ram: int) -> NewImage:
    return NewImage(
        name=name,
        visibility="public",
        disk_format="qcow2",
        container_format="bare",
        min_disk=min_disk,
        min_ram=min_ram,
        properties={"os_distro": distribution},
    )


PRESETS: tuple[tuple[NewImage, int], ...] = (
    (_preset("cirros", "cirros", 1, 64), 256 * KILOBYTES),
    (_preset("cirros-0.6.2-x86_64-disk", "cirros", 1, 64), 256 * KILOBYTES),
    (_preset("fedora", "fedora", 5, 512), 512 * KILOBYTES),
)
"""The images of a new cloud, and the sizes of the data that stands in for theirs."""
PRESETS_FOR: Mapping[str, tuple[NewImage, int]] = {
    "magnum": (_preset("fedora-coreos", "fedora-coreos", 10, 0), 256 * KILOBYTES),
}
"""Images that a new cloud has if it has a service, which needs them."""


class Images(Rules):
    """The images.

    rows: the table of images.
    """

    def __init__(
        self, records: Records, rows: Table[Image], members: Table[Member], tasks: Table[Task], data: ImageData
    ) -> None:
        super().__init__(records)
        self.rows = rows
        self._members = members
        self._tasks = tasks
        self._data = data
        records.deferrable(self.begin_saving, self.finish_with_placeholder)
        records.accept_former_name("finish_with_stand_in", self.finish_with_placeholder)

    def seed(self) -> None:
        """Add the images of a new cloud."""
        owner = self.cloud.of(Identity).projects.rows.first(name="admin")
        more = [preset for service, preset in PRESETS_FOR.items() if self.cloud.has_service(service)]
        for new_image, size in (*PRESETS, *more):
            image = self.create(owner.id if owner else "", new_image)
            self._data.fill(image, placeholder_data(new_image.name or "", size))

    # -- who reaches an image ----------------------------------------------------------------------

    def is_usable(self, image: Image, project_id: str | None) -> bool:
        """Whether a project may use the image by its id."""
        if image.visibility in ("public", "community"):
            return True
        if project_id is None:
            return False
        return image.project_id == project_id or (
            image.visibility == "shared" and f"{image.id}:{project_id}" in self._members
        )

    def named(self, project_id: str, image_id_or_name: str) -> Image | None:
        """The image with this id, else the oldest with this name, that the project may use."""
        by_id = self.rows.get(image_id_or_name)
        candidates = [by_id] if by_id is not None else self.rows.select(name=image_id_or_name)
        return next((image for image in candidates if self.is_usable(image, project_id)), None)

    def usable(self, project_id: str, image_id: str) -> Image:
        """The image with this id; 404 when there is none that the project may use."""
        image = self.rows.require(image_id)
        if not self.is_usable(image, project_id):
            raise self.rows.missing(image_id)
        return image

    def visible(self, context: Context, image_id: str) -> Image:
        """The image with this id as the caller sees it; an admin sees all."""
        image = self.rows.require(image_id)
        if not context.is_admin and not self.is_usable(image, context.project_id):
            raise self.rows.missing(image_id)
        return image

    def owned(self, context: Context, image_id: str, rule: str = "modify_image") -> Image:
        """An image the caller may change; 403, which names the policy rule, for one that they may only see."""
        image = self.visible(context, image_id)
        if not context.may_see(image):
            raise unauthorized(rule)
        return image

    def listed(
        self, context: Context, visibility: str | None = None, member_status: str = "accepted", hidden: bool = False
    ) -> list[Image]:
        """What the caller may list, of this visibility: community images only on demand, shared ones once they are
        accepted (or as `member_status` says), hidden ones or the others."""
        rows = self.rows.select(os_hidden=hidden)
        if visibility not in (None, "all"):
            rows = [image for image in rows if image.visibility == visibility]
        accepted = {
            member.image_id
            for member in self._members.select(project_id=context.project_id)
            if member_status in ("all", member.status)
        }
        return [image for image in rows if _is_listed(image, context, visibility, accepted)]

    # -- changes -----------------------------------------------------------------------------------

    def create(self, project_id: str, new_image: NewImage) -> Image:
        """A new, queued image; 409 when the id is taken."""
        key = new_image.id or new_id()
        if key in self.rows:
            raise conflict(f"Image ID {key} already exists!")
        now = self.records.timestamp()
        return self.rows.add(
            Image(
                id=key,
                name=new_image.name,
                project_id=project_id,
                status="queued",
                visibility=new_image.visibility,
                protected=new_image.protected,
                os_hidden=new_image.os_hidden,
                container_format=new_image.container_format,
                disk_format=new_image.disk_format,
                min_disk=new_image.min_disk,
                min_ram=new_image.min_ram,
                tags=list(new_image.tags),
                properties=dict(new_image.properties),
                stores=[],
                checksum=None,
                os_hash_algo=None,
                os_hash_value=None,
                size=None,
                virtual_size=None,
                created_at=now,
                updated_at=now,
            )
        )

    def copy(self, project_id: str, new_copy: NewCopy) -> Image:
        """The image of a server or a volume: queued, then saving, then active with stand-in data."""
        image = self.create(project_id, new_copy)
        self.after(0.05, self.begin_saving, image.id)
        self.after(0.15, self.finish_with_placeholder, image.id, image.id, new_copy.size)
        return image

    def change(self, image: Image, changes: Mapping[str, object]) -> None:
        """Set checked attributes."""
        self.rows.update(image, **changes, updated_at=self.records.timestamp())

    def set_tags(self, image: Image, tags: Iterable[str]) -> None:
        """Give an image these tags."""
        image.tags = list(dict.fromkeys(tags))
        self.save(image)

    def set_active(self, image: Image, status: str) -> None:
        """Make an image `active` or `deactivated`; 403 unless it is one of the two."""
        if image.status not in ("active", "deactivated"):
            raise forbidden(f"Not allowed to change the status of image {image.id} from {image.status} to {status}.")
        image.status = status
        self.save(image)

    def save(self, image: Image) -> None:
        """Note that an image was changed now."""
        image.updated_at = self.records.timestamp()
        self.rows.save(image)

    def delete(self, image: Image) -> None:
        """Delete an image with its data and members; 403 when it is protected."""
        if image.protected:
            raise forbidden(f"Image {image.id} is protected and cannot be deleted.")
        for member in self._members.select(image_id=image.id):
            self._members.remove(member)
        for task in self._tasks.select(image_id=image.id):
            self._tasks.remove(task)
        self._data.forget(image)
        self.rows.remove(image)

    def begin_saving(self, image_id: str) -> None:
        """Have an image saved whose data is on its way; one that is copied stays active."""
        image = self.rows.get(image_id)
        if image is not None and image.status != "active":
            image.status = "saving"
            self.save(image)

    def finish_with_placeholder(self, image_id: str, seed: str, size: int) -> None:
        """Set the data of an image that is being saved."""
        image = self.rows.get(image_id)
        if image is not None:
            self._data.fill(image, placeholder_data(seed, size))


def _is_listed(image: Image, context: Context, visibility: str | None, accepted: set[str]) -> bool:
    if image.project_id == context.project_id:
        return True
    match image.visibility:
        case "public":
            return True
        case "community":
            return visibility in ("community", "all")
        case "shared":
            return context.is_admin or image.id in accepted
        case _:
            return context.is_admin
