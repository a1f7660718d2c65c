"""The DNS service: its records and its table of routes."""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Cloud, Records, Service
from openstack_emulator.core.component import merged
from openstack_emulator.core.guards import restricted
from openstack_emulator.core.versions import ApiVersion, all_versions, own
from openstack_emulator.dns.operator_routes import OPERATOR_ROUTES, Operators
from openstack_emulator.dns.progress import Progress
from openstack_emulator.dns.quotas import QUOTA_ROUTES, Quotas
from openstack_emulator.dns.recordset_routes import RECORDSET_ROUTES
from openstack_emulator.dns.recordsets import RecordSets
from openstack_emulator.dns.reverse import REVERSE_ROUTES, FloatingIpNames
from openstack_emulator.dns.rules import NameRules
from openstack_emulator.dns.transfers import TRANSFER_ROUTES, Transfers
from openstack_emulator.dns.zone_files import ZONE_FILE_ROUTES, ZoneFiles
from openstack_emulator.dns.zone_routes import ZONE_ROUTES
from openstack_emulator.dns.zones import Zones

VERSIONS = {"v2": "SUPPORTED", "v2.0": "SUPPORTED", "v2.1": "SUPPORTED", "v2.2": "CURRENT"}
"""2.1 has shared zones, 2.2 deletes them together with their shares."""


class DnsRecords(Records):
    """Everything that the DNS service keeps."""

    service = "designate"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        rules, quotas, progress = NameRules(self), Quotas(self), Progress(self)
        self.zones = Zones(self, quotas, rules, progress)
        self.recordsets = RecordSets(self, self.zones, quotas, progress)
        self.operators = Operators(self, rules)
        FloatingIpNames(self, self.recordsets)
        Transfers(self, self.recordsets)
        ZoneFiles(self, self.recordsets, quotas)

    def seed(self) -> None:
        self.operators.seed()


_VERSIONS = [
    ApiVersion(name, (own("/v2"),), status, {"updated": "2022-06-29T00:00:00Z"}) for name, status in VERSIONS.items()
]


_ROUTES = merged(
    ZONE_ROUTES, RECORDSET_ROUTES, QUOTA_ROUTES, OPERATOR_ROUTES, REVERSE_ROUTES, TRANSFER_ROUTES, ZONE_FILE_ROUTES
)
DNS = Service(
    name="designate",
    mount="/dns",
    records=DnsRecords,
    endpoints={"dns": "/dns"},
    prefixes=("/v2",),
    routes=restricted(_ROUTES, ("reader",), ("member",)),
    root={"/": {"GET": all_versions(*_VERSIONS)}},
    public=frozenset({"GET /"}),
    error_body=error_bodies.designate,
)
