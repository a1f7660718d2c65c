"""Images of containers on the host: those that were pulled for a container, or by request."""

from __future__ import annotations

from openstack_emulator.container.records import Image
from openstack_emulator.container.rules.hosts import HOST
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.rules import Rules
from openstack_emulator.image.rules.composition import ImageService

SIZE = 4_194_304
"""Bytes of an image from a registry."""
DRIVERS = ("docker", "glance")


class Images(Rules):
    """Registries have every image; the image service has those that the project may use there."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table(
            "images",
            Image,
            "project_id",
            missing=lambda key: bad_request(f"Image {key} could not be found.", "image-not-found"),
        )

    def pulled(self, project_id: str, name: str, driver: str) -> Image | None:
        """Return the image that was pulled under a name with or without a tag; None when there is none."""
        repository, tag = _parts(name)
        return self.rows.first(project_id=project_id, repo=repository, tag=tag, driver=driver)

    def problem(self, project_id: str, name: str, driver: str, policy: str | None) -> str | None:
        """Return why an image cannot be had with a pull policy; None when it is, or has now been, pulled."""
        if policy != "always" and self.pulled(project_id, name, driver) is not None:
            return None
        if policy == "never":
            return f"Image {name} is not present with pull policy of Never"
        return self.pull(project_id, name, driver)

    def pull(self, project_id: str, name: str, driver: str) -> str | None:
        """Pull an image; return why it cannot be had."""
        size = SIZE
        if driver == "glance":
            found = self.cloud.of(ImageService).images.named(project_id, name)
            if found is None:
                return f"Image {name} not found"
            size = found.size or 0
        if self.pulled(project_id, name, driver) is None:
            repository, tag = _parts(name)
            identifier = new_id()
            self.rows.add(
                Image(
                    id=identifier,
                    uuid=identifier,
                    image_id=f"sha256:{identifier.replace('-', '') * 2}",
                    repo=repository,
                    tag=tag,
                    size=size,
                    host=HOST,
                    driver=driver,
                    project_id=project_id,
                )
            )
        return None


def _parts(name: str) -> tuple[str, str]:
    """Return the repository and the tag of an image's name: a colon before the last slash is part of a host's port."""
    path, slash, last = name.rpartition("/")
    base, _, tag = last.partition(":")
    return f"{path}{slash}{base}", tag or "latest"
