"""The compute service: its tables, and the rules for them. Who depends on whom is to be read here."""

from __future__ import annotations

from openstack_emulator.compute.records import Server, ServerGroup
from openstack_emulator.compute.rules.aggregates import Aggregates
from openstack_emulator.compute.rules.block_devices import BlockDevices
from openstack_emulator.compute.rules.boot_sources import BootSources
from openstack_emulator.compute.rules.building import Builder
from openstack_emulator.compute.rules.consoles import Consoles
from openstack_emulator.compute.rules.constants import MISSING
from openstack_emulator.compute.rules.counters import Counters
from openstack_emulator.compute.rules.deletion import Deletion
from openstack_emulator.compute.rules.flavors import Flavors
from openstack_emulator.compute.rules.guests import Guests
from openstack_emulator.compute.rules.history import History
from openstack_emulator.compute.rules.hosts import Hosts
from openstack_emulator.compute.rules.interfaces import Interfaces
from openstack_emulator.compute.rules.keypairs import Keypairs
from openstack_emulator.compute.rules.metadata import Documents
from openstack_emulator.compute.rules.metering import Metering
from openstack_emulator.compute.rules.migrations import Migrations
from openstack_emulator.compute.rules.moves import Moves
from openstack_emulator.compute.rules.operations import Operations
from openstack_emulator.compute.rules.quotas import Quotas
from openstack_emulator.compute.rules.rebuilding import Rebuilds
from openstack_emulator.compute.rules.requests import ServerRequests
from openstack_emulator.compute.rules.scheduler import Scheduler
from openstack_emulator.compute.rules.security_groups import ServerSecurityGroups
from openstack_emulator.compute.rules.server_groups import ServerGroups
from openstack_emulator.compute.rules.servers import Servers
from openstack_emulator.compute.rules.shelving import ServerImages, Shelving
from openstack_emulator.compute.rules.usage import Usages
from openstack_emulator.core.cloud import Cloud, Records


class ComputeService(Records):
    """Flavors, keypairs, quotas, hosts, servers, and what servers are connected to."""

    service = "nova"
    not_found_messages = MISSING

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        servers = self.typed("servers", Server, "project_id", "host", "name")
        server_groups = self.typed("server_groups", ServerGroup, "project_id")
        counters = Counters(self)
        self.flavors = Flavors(self)
        self.quotas = Quotas(self, servers, server_groups)
        self.keypairs = Keypairs(self, counters, self.quotas)
        self.hosts = Hosts(self, counters, servers)
        self.aggregates = Aggregates(self, counters, self.hosts)
        self.server_groups = ServerGroups(self, server_groups, self.quotas)
        scheduler = Scheduler(self, self.hosts, self.aggregates, self.server_groups, servers)
        self.history = History(self, servers)
        self.servers = Servers(self, servers, counters, self.quotas, self.history)
        self.security_groups = ServerSecurityGroups(self)
        self.interfaces = Interfaces(self, self.servers, self.aggregates)
        self.block_devices = BlockDevices(self, self.servers)
        sources = BootSources(self)
        requests = ServerRequests(
            self,
            self.flavors,
            self.keypairs,
            self.aggregates,
            sources,
            self.interfaces,
            self.security_groups,
            self.server_groups,
            self.quotas,
        )
        self.builder = Builder(
            self, requests, self.servers, self.server_groups, scheduler, self.interfaces, self.block_devices
        )
        self.documents = Documents(
            self, self.aggregates, self.keypairs, self.interfaces, self.security_groups, self.block_devices
        )
        self.guests = Guests(self, self.servers, self.flavors, self.block_devices, self.documents)
        self.metering = Metering(self, self.servers)
        self.operations = Operations(self, self.servers, self.guests)
        self.migrations = Migrations(self, counters)
        self.moves = Moves(
            self,
            self.operations,
            self.guests,
            self.flavors,
            self.quotas,
            self.hosts,
            scheduler,
            self.server_groups,
            self.migrations,
        )
        self.rebuilds = Rebuilds(self, self.operations, self.guests, sources, self.keypairs, self.block_devices)
        self.images = ServerImages(self, self.operations, self.block_devices)
        self.shelving = Shelving(self, self.operations, self.images, scheduler)
        self.usages = Usages(self, servers)
        self.deletion = Deletion(
            self,
            self.servers,
            self.server_groups,
            self.interfaces,
            self.block_devices,
            self.migrations,
            self.usages,
            self.guests,
        )
        self.consoles = Consoles(self, self.servers)

    def seed(self) -> None:
        self.flavors.seed()
        self.hosts.seed()

    def opened(self) -> None:
        self.guests.open()
        self.metering.open()
