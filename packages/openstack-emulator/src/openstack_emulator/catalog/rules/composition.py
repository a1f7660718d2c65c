"""The application catalog: its tables, and the rules for them. Who depends on whom is to be read here."""

from __future__ import annotations

from typing import ClassVar

from openstack_emulator.catalog.rules.environments import Environments
from openstack_emulator.catalog.rules.packages import Categories, Packages
from openstack_emulator.catalog.rules.templates import Templates
from openstack_emulator.core.cloud import Cloud, Records


class ApplicationCatalog(Records):
    """Environments, packages, categories and environment templates."""

    service = "murano"
    not_found_messages: ClassVar = {
        "environments": "Environment with id {} not found",
        "packages": "Package id:{} not found",
        "categories": "Category id:{} not found",
        "templates": "Environment Template with id {} not found",
    }

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.categories = Categories(self)
        self.packages = Packages(self)
        self.environments = Environments(self, self.packages)
        self.templates = Templates(self)

    def seed(self) -> None:
        """Add the categories of a new cloud."""
        self.categories.seed()
