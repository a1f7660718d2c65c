"""The DNS service: its tables, and the rules for them. Who depends on whom is to be read here."""

from __future__ import annotations

from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.dns.records import Blacklist, Pool, TopLevelDomain, TsigKey
from openstack_emulator.dns.rules.allowed_names import AllowedNames
from openstack_emulator.dns.rules.errors import missing
from openstack_emulator.dns.rules.floating_ips import FloatingIpNames
from openstack_emulator.dns.rules.operators import OperatorRecords, Pools, Processes
from openstack_emulator.dns.rules.progress import Progress
from openstack_emulator.dns.rules.quotas import Quotas
from openstack_emulator.dns.rules.recordsets import RecordSets
from openstack_emulator.dns.rules.transfers import Transfers
from openstack_emulator.dns.rules.zone_files import ZoneFiles
from openstack_emulator.dns.rules.zones import Zones


class DomainNames(Records):
    """Zones with their record sets, and what operators set up for them."""

    service = "designate"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        domains = self.table("tlds", TopLevelDomain, "name", missing=missing("Tld"))
        blacklists = self.table("blacklists", Blacklist, "pattern", missing=missing("Blacklist"))
        keys = self.table("tsigkeys", TsigKey, "name", missing=missing("TsigKey"))
        pools = self.table("pools", Pool, "name", missing=missing("Pool"))
        allowed, progress = AllowedNames(self, domains, blacklists), Progress(self)
        self.quotas = Quotas(self)
        self.zones = Zones(self, self.quotas, allowed, progress)
        self.recordsets = RecordSets(self, self.zones, self.quotas, progress)
        self.domains = OperatorRecords(self, domains, "Tld", "name")
        self.blacklists = OperatorRecords(self, blacklists, "Blacklist", "pattern")
        self.keys = OperatorRecords(self, keys, "TsigKey", "name")
        self.pools = Pools(self, pools, "Pool", "name")
        self.processes = Processes(self)
        self.floating_ips = FloatingIpNames(self, self.recordsets)
        self.transfers = Transfers(self, self.recordsets)
        self.files = ZoneFiles(self, self.recordsets, self.quotas)

    def seed(self) -> None:
        self.pools.seed()
        self.processes.seed()
