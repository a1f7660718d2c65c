"""The database service: its tables, and the rules for them. Who depends on whom is to be read here."""

from __future__ import annotations

from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.database.records import Backup
from openstack_emulator.database.rules.backups import Backups
from openstack_emulator.database.rules.clusters import Clusters
from openstack_emulator.database.rules.configurations import Configurations
from openstack_emulator.database.rules.creation import Creation
from openstack_emulator.database.rules.datastores import Datastores
from openstack_emulator.database.rules.errors import missing
from openstack_emulator.database.rules.instances import Instances
from openstack_emulator.database.rules.quotas import Quotas


class DatabaseService(Records):
    """Instances of database servers, their backups, configuration groups and clusters."""

    service = "trove"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        backups = self.table("backups", Backup, "project_id", "instance_id", "parent_id", missing=missing)
        self.datastores = Datastores(self)
        self.instances = Instances(self)
        self.quotas = Quotas(self, self.instances.rows, backups)
        self.configurations = Configurations(self, self.instances, self.datastores)
        self.backups = Backups(self, backups, self.instances, self.quotas)
        self.creation = Creation(self, self.instances, self.datastores, self.backups, self.configurations, self.quotas)
        self.clusters = Clusters(self, self.instances, self.datastores, self.creation)

    def seed(self) -> None:
        self.datastores.seed()
