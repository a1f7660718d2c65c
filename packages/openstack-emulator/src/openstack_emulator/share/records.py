"""The records of the shared file systems service, and how its parts depend on each other."""

from __future__ import annotations

from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.share.access import AccessRules
from openstack_emulator.share.managed import BackendShares
from openstack_emulator.share.messages import Messages
from openstack_emulator.share.networks import SecurityServices, ShareNetworks
from openstack_emulator.share.quotas import Quotas
from openstack_emulator.share.shares import Shares
from openstack_emulator.share.snapshots import ShareSnapshots
from openstack_emulator.share.tables import MISSING
from openstack_emulator.share.types import ShareTypes


class ShareRecords(Records):
    """Shares and what belongs to them: see `tables` for the records."""

    service = "manila"
    not_found_messages = MISSING

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        shares = self.table("shares", "project_id", "share_network_id", "share_type_id")
        snapshots = self.table("snapshots", "project_id", "share_id")
        rules = self.table("access_rules", "share_id")
        networks = self.table("share_networks", "project_id")
        services = self.table("security_services", "project_id")
        self._types = ShareTypes(self, shares)
        quotas = Quotas(self, shares, snapshots, networks)
        made = ShareNetworks(self, networks, services, shares, quotas)
        SecurityServices(self, made)
        messages = Messages(self, self.table("messages", "project_id"))
        self.shares = Shares(self, shares, rules, snapshots, self._types, made, quotas, messages)
        AccessRules(self, rules, self.shares)
        ShareSnapshots(self, snapshots, self.shares)
        BackendShares(self, self.shares, snapshots)

    def seed(self) -> None:
        self._types.seed()
