"""The compute service: its tables, and the rules for them. Who depends on whom is to be read here."""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Attachments:
    """What servers are connected to."""

    interfaces: Interfaces
    block_devices: BlockDevices
    security_groups: ServerSecurityGroups


@dataclass(frozen=True, slots=True)
class ServerActions:
    """What is done to servers, from their creation to their deletion; `operations` are the simple ones."""

    builder: Builder
    operations: Operations
    migrations: Migrations
    moves: Moves
    rebuilds: Rebuilds
    images: ServerImages
    shelving: Shelving
    deletion: Deletion


@dataclass(frozen=True, slots=True)
class ServerReports:
    """What has happened to servers, and how much they have used."""

    history: History
    usages: Usages
    metering: Metering


class ComputeService(Records):
    """Flavors, keypairs, quotas, hosts, servers, and what servers are connected to."""

    service = "nova"
    not_found_messages = MISSING

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        servers = self.table("servers", Server, "project_id", "host", "name")
        server_groups = self.table("server_groups", ServerGroup, "project_id")
        counters = Counters(self)
        self.flavors = Flavors(self)
        self.quotas = Quotas(self, servers, server_groups)
        self.keypairs = Keypairs(self, counters, self.quotas)
        self.hosts = Hosts(self, counters, servers)
        self.aggregates = Aggregates(self, counters, self.hosts)
        self.server_groups = ServerGroups(self, server_groups, self.quotas)
        scheduler = Scheduler(self, self.hosts, self.aggregates, self.server_groups, servers)
        history = History(self, servers)
        self.servers = Servers(self, servers, counters, self.quotas, history)
        interfaces = Interfaces(self, self.servers, self.aggregates)
        block_devices = BlockDevices(self, self.servers)
        security_groups = ServerSecurityGroups(self)
        self.attachments = Attachments(interfaces, block_devices, security_groups)
        self.documents = Documents(self, self.aggregates, self.keypairs, interfaces, security_groups, block_devices)
        self._guests = guests = Guests(self, self.servers, self.flavors, block_devices, self.documents)
        usages = Usages(self, servers)
        self.reports = ServerReports(history, usages, Metering(self, self.servers))
        self.consoles = Consoles(self, self.servers)
        sources = BootSources(self)
        requests = ServerRequests(
            self,
            self.flavors,
            self.keypairs,
            self.aggregates,
            sources,
            interfaces,
            security_groups,
            self.server_groups,
            self.quotas,
        )
        operations = Operations(self, self.servers, guests)
        migrations = Migrations(self, counters)
        images = ServerImages(self, operations, block_devices)
        self.actions = ServerActions(
            Builder(self, requests, self.servers, self.server_groups, scheduler, interfaces, block_devices),
            operations,
            migrations,
            Moves(
                self,
                operations,
                guests,
                self.flavors,
                self.quotas,
                self.hosts,
                scheduler,
                self.server_groups,
                migrations,
            ),
            Rebuilds(self, operations, guests, sources, self.keypairs, block_devices),
            images,
            Shelving(self, operations, images, scheduler),
            Deletion(
                self,
                self.servers,
                self.server_groups,
                interfaces,
                block_devices,
                migrations,
                usages,
                guests,
            ),
        )

    def seed(self) -> None:
        self.flavors.seed()
        self.hosts.seed()

    def opened(self) -> None:
        self._guests.open()
        self.reports.metering.open()
