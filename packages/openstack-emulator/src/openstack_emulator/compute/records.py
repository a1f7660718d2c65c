"""What Nova keeps, composed of components: who depends on whom is to be read here."""

from __future__ import annotations

from openstack_emulator.compute.block_devices import BlockDevices
from openstack_emulator.compute.boot_sources import BootSources
from openstack_emulator.compute.building import Builder, ServerRequests
from openstack_emulator.compute.consoles import Consoles
from openstack_emulator.compute.deletion import Deletion
from openstack_emulator.compute.flavors import Flavors
from openstack_emulator.compute.guests import Guests
from openstack_emulator.compute.history import History
from openstack_emulator.compute.hosts import Aggregates, Hosts
from openstack_emulator.compute.interfaces import Interfaces
from openstack_emulator.compute.keypairs import Keypairs
from openstack_emulator.compute.metering import Metering
from openstack_emulator.compute.migrations import Migrations
from openstack_emulator.compute.moves import Moves
from openstack_emulator.compute.operations import Operations
from openstack_emulator.compute.quotas import Quotas
from openstack_emulator.compute.rebuilding import Rebuilds
from openstack_emulator.compute.scheduler import Scheduler
from openstack_emulator.compute.security_groups import ServerSecurityGroups
from openstack_emulator.compute.server_groups import ServerGroups
from openstack_emulator.compute.servers import Servers
from openstack_emulator.compute.shelving import ServerImages, Shelving
from openstack_emulator.compute.tables import MISSING, Counters
from openstack_emulator.compute.usage import Usage
from openstack_emulator.compute.views import ServerViews
from openstack_emulator.core.cloud import Cloud, Records


class ComputeRecords(Records):
    """Flavors, keypairs, quotas, hosts, servers, and what servers are connected to."""

    service = "nova"
    not_found_messages = MISSING

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        servers = self.table("servers", "project_id", "host", "name")
        server_groups = self.table("server_groups", "project_id")
        counters = Counters(self)
        self.flavors = Flavors(self)
        quotas = Quotas(self, servers, server_groups)
        keypairs = Keypairs(self, counters, quotas)
        self.hosts = Hosts(self, counters, servers)
        self.aggregates = aggregates = Aggregates(self, counters, self.hosts)
        self.server_groups = groups = ServerGroups(self, server_groups, quotas)
        scheduler = Scheduler(self, self.hosts, aggregates, groups, servers)
        history = History(self, servers)
        self.servers = Servers(self, servers, counters, quotas, history)
        security_groups = ServerSecurityGroups(self)
        interfaces = Interfaces(self, self.servers, aggregates)
        block_devices = BlockDevices(self, self.servers)
        sources = BootSources(self)
        requests = ServerRequests(
            self, self.flavors, keypairs, aggregates, sources, interfaces, security_groups, groups, quotas
        )
        Builder(self, requests, self.servers, groups, scheduler, interfaces, block_devices)
        guests = Guests(self, self.servers, self.flavors, block_devices)
        Metering(self, self.servers)
        operations = Operations(self, self.servers, guests)
        migrations = Migrations(self, counters)
        Moves(self, operations, guests, self.flavors, quotas, self.hosts, scheduler, groups, migrations)
        views = ServerViews(self, self.servers, aggregates, groups, security_groups, interfaces, block_devices)
        Rebuilds(self, operations, guests, sources, keypairs, views, block_devices)
        self.images = images = ServerImages(self, operations, block_devices)
        Shelving(self, operations, images, scheduler, aggregates)
        usage = Usage(self, servers, self.hosts)
        self.deletion = Deletion(self, self.servers, groups, interfaces, block_devices, migrations, usage, guests)
        Consoles(self, self.servers)

    def seed(self) -> None:
        self.flavors.seed()
        self.hosts.seed()

    def opened(self) -> None:
        self.component(Guests).open()
        self.component(Metering).open()
