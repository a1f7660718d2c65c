"""The service for single containers: its tables, and the rules for them. Who depends on whom is to be read here."""

from __future__ import annotations

from openstack_emulator.container.records import Container
from openstack_emulator.container.rules.containers import Containers
from openstack_emulator.container.rules.hosts import Hosts
from openstack_emulator.container.rules.images import Images
from openstack_emulator.container.rules.networking import Networking
from openstack_emulator.container.rules.quotas import Quotas
from openstack_emulator.container.rules.storage import Storage
from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.core.objects import missing


class SingleContainers(Records):
    """Containers with their interfaces and mounts, images, hosts and quotas."""

    service = "zun"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        rows = self.table("containers", Container, "project_id", "name", missing=missing("container"))
        self.hosts, self.quotas, self.images = Hosts(self, rows), Quotas(self, rows), Images(self)
        self.networking, storage = Networking(self), Storage(self)
        self.containers = Containers(self, rows, self.hosts, self.images, self.quotas, self.networking, storage)

    def seed(self) -> None:
        """Add the host."""
        self.hosts.seed()
