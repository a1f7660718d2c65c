"""The object store: its tables, and the rules for them. Who depends on whom is to be read here."""

from __future__ import annotations

from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.objectstore.records import Container
from openstack_emulator.objectstore.rules.accounts import Accounts, Containers
from openstack_emulator.objectstore.rules.errors import refused
from openstack_emulator.objectstore.rules.large_objects import LargeObjects
from openstack_emulator.objectstore.rules.objects import Objects
from openstack_emulator.objectstore.rules.quotas import Quotas
from openstack_emulator.objectstore.rules.syncing import ContainerSync
from openstack_emulator.objectstore.rules.times import VersionClock
from openstack_emulator.objectstore.rules.uploads import Uploads
from openstack_emulator.objectstore.rules.versions import Versions


class ObjectStore(Records):
    """Accounts, containers and objects."""

    service = "swift"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        containers = self.table("containers", Container, "account", missing=lambda key: refused(404))
        self.ticks = VersionClock(self)
        self.accounts = Accounts(self, self.ticks)
        self.objects = Objects(self, self.ticks)
        syncing = ContainerSync(self, containers, self.objects, self.ticks)
        self.containers = Containers(self, containers, self.accounts, self.objects, syncing, self.ticks)
        quotas = Quotas(self.accounts, self.containers, self.objects)
        versions = Versions(containers, self.objects, self.ticks)
        self.uploads = Uploads(self.objects, quotas, versions, syncing, self.ticks)
        self.large_objects = LargeObjects(self.containers, self.objects)
