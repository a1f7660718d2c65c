"""What Nova keeps, composed of components: who depends on whom is to be read here."""

from __future__ import annotations

from stoker.emulator.compute.block_devices import BlockDevices
from stoker.emulator.compute.boot_sources import BootSources
from stoker.emulator.compute.building import Builder, ServerRequests
from stoker.emulator.compute.consoles import Consoles
from stoker.emulator.compute.deletion import Deletion
from stoker.emulator.compute.flavors import Flavors
from stoker.emulator.compute.guests import Guests
from stoker.emulator.compute.history import History
from stoker.emulator.compute.hosts import Aggregates, Hosts
from stoker.emulator.compute.interfaces import Interfaces
from stoker.emulator.compute.keypairs import Keypairs
from stoker.emulator.compute.metering import Metering
from stoker.emulator.compute.migrations import Migrations
from stoker.emulator.compute.moves import Moves
from stoker.emulator.compute.operations import Operations
from stoker.emulator.compute.quotas import Quotas
from stoker.emulator.compute.rebuilding import Rebuilds
from stoker.emulator.compute.scheduler import Scheduler
from stoker.emulator.compute.security_groups import ServerSecurityGroups
from stoker.emulator.compute.server_groups import ServerGroups
from stoker.emulator.compute.servers import Servers
from stoker.emulator.compute.shelving import ServerImages, Shelving
from stoker.emulator.compute.tables import MISSING, Counters
from stoker.emulator.compute.usage import Usage
from stoker.emulator.compute.views import ServerViews
from stoker.emulator.core.cloud import Cloud, Records


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
        aggregates = Aggregates(self, counters, self.hosts)
        groups = ServerGroups(self, server_groups, quotas)
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
        images = ServerImages(self, operations, block_devices)
        Shelving(self, operations, images, scheduler, aggregates)
        usage = Usage(self, servers, self.hosts)
        Deletion(self, self.servers, groups, interfaces, block_devices, migrations, usage, guests)
        Consoles(self, self.servers)

    def seed(self) -> None:
        self.flavors.seed()
        self.hosts.seed()

    def opened(self) -> None:
        self.component(Guests).open()
        self.component(Metering).open()
