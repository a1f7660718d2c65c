"""The metric service: its tables, and the rules for them. Who depends on whom is to be read here."""

from __future__ import annotations

from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.metric.rules.metrics import Metrics
from openstack_emulator.metric.rules.policies import Policies
from openstack_emulator.metric.rules.resources import Resources, resource_table
from openstack_emulator.metric.rules.servers import Servers
from openstack_emulator.metric.rules.types import ResourceTypes


class TimeSeriesDatabase(Records):
    """Archive policies, metrics with their measures, resources and their types."""

    service = "gnocchi"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        resources = resource_table(self)
        self.policies = Policies(self)
        self.metrics = Metrics(self, self.policies)
        self.types = ResourceTypes(self, resources)
        self.servers = Servers(self, resources, self.metrics)
        self.resources = Resources(self, resources, self.types, self.metrics, self.servers)

    def seed(self) -> None:
        self.policies.seed()
        self.types.seed()
