"""The image service: its tables, and the rules for them. Who depends on whom is to be read here."""

from __future__ import annotations

from typing import ClassVar

from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.image.records import Image, Member, Task
from openstack_emulator.image.rules.data import ImageData
from openstack_emulator.image.rules.images import Images
from openstack_emulator.image.rules.imports import Imports
from openstack_emulator.image.rules.members import Members
from openstack_emulator.image.rules.metadefs import Namespaces


class ImageService(Records):
    """Images with their data, who shares them, their imports, and metadata definitions."""

    service = "glance"
    not_found_messages: ClassVar = {
        "images": "No image found with ID {}",
        "tasks": "The requested task {} could not be found.",
        "namespaces": "Metadata definition namespace={} was not found.",
    }

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        images = self.table("images", Image, "name", "project_id")
        members = self.table("members", Member, "image_id", "project_id")
        tasks = self.table("tasks", Task, "image_id")
        self.data = ImageData(self, images)
        self.images = Images(self, images, members, tasks, self.data)
        self.members = Members(self, members)
        self.imports = Imports(self, tasks, self.images, self.data)
        self.namespaces = Namespaces(self)

    def seed(self) -> None:
        self.images.seed()
