"""The load-balancer service: its tables, and the rules for them. Who depends on whom is to be read here."""

from __future__ import annotations

from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.loadbalancer.rules.addresses import VirtualAddresses
from openstack_emulator.loadbalancer.rules.amphorae import Amphorae
from openstack_emulator.loadbalancer.rules.changes import Changes
from openstack_emulator.loadbalancer.rules.drafts import Creation
from openstack_emulator.loadbalancer.rules.operating import OperatingStates
from openstack_emulator.loadbalancer.rules.operators import Offerings
from openstack_emulator.loadbalancer.rules.provisioning import Provisioning
from openstack_emulator.loadbalancer.rules.quotas import Quotas
from openstack_emulator.loadbalancer.rules.tables import Tables
from openstack_emulator.loadbalancer.rules.traffic import balancers
from openstack_emulator.network.rules.composition import NetworkService


class LoadBalancing(Records):
    """Load balancers with all that belongs to them, and what administrators set up for them."""

    service = "octavia"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        addresses = VirtualAddresses(cloud)
        self.tables = Tables(self)
        self.offerings = Offerings(self, self.tables)
        self.quotas = Quotas(self, self.tables)
        self.provisioning = Provisioning(self, self.tables, addresses)
        self.creation = Creation(self, self.tables, addresses, self.provisioning, self.quotas, self.offerings)
        self.changes = Changes(self.tables, self.provisioning, self.creation)
        self.operating = OperatingStates(self, self.tables, addresses)
        self.amphorae = Amphorae(self.tables, self.offerings)

    def opened(self) -> None:
        """Have guests' networks contain the load balancers."""
        super().opened()
        if self.cloud.guests.serves_load_balancers:
            network = self.cloud.of(NetworkService)
            network.state.balancers = lambda: balancers(self.tables, network)
            network.state.changed()
