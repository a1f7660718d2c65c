"""The shared file systems service: its tables, and the rules for them. Who depends on whom is to be read here."""

from __future__ import annotations

from typing import ClassVar

from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.share.records import AccessRule, SecurityService, Share, ShareNetwork, Snapshot
from openstack_emulator.share.rules.access import AccessRules
from openstack_emulator.share.rules.managed import BackendShares
from openstack_emulator.share.rules.messages import Messages
from openstack_emulator.share.rules.networks import ShareNetworks
from openstack_emulator.share.rules.quotas import Quotas
from openstack_emulator.share.rules.security_services import SecurityServices
from openstack_emulator.share.rules.shares import Shares
from openstack_emulator.share.rules.snapshots import ShareSnapshots
from openstack_emulator.share.rules.types import ShareTypes


class SharedFileSystems(Records):
    """Shares and what belongs to them."""

    service = "manila"
    not_found_messages: ClassVar = {
        "types": "The resource could not be found.",
        "security_services": "The resource could not be found.",
        "share_networks": "Share network {} could not be found.",
        "subnets": "Share network subnet {} could not be found.",
        "shares": "The resource could not be found.",
        "access_rules": "Resource could not be found.",
        "snapshots": "The resource could not be found.",
        "messages": "Message {} could not be found.",
    }

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        shares = self.table("shares", Share, "project_id", "share_network_id", "share_type_id")
        snapshots = self.table("snapshots", Snapshot, "project_id", "share_id")
        rules = self.table("access_rules", AccessRule, "share_id")
        networks = self.table("share_networks", ShareNetwork, "project_id")
        services = self.table("security_services", SecurityService, "project_id")
        self.types = ShareTypes(self, shares)
        self.quotas = Quotas(self, shares, snapshots, networks)
        self.networks = ShareNetworks(self, networks, services, shares, self.quotas)
        self.security_services = SecurityServices(self, services, self.networks)
        self.messages = Messages(self)
        self.shares = Shares(self, shares, rules, snapshots, self.types, self.networks, self.quotas, self.messages)
        self.access_rules = AccessRules(self, rules, self.shares)
        self.snapshots = ShareSnapshots(self, snapshots, self.shares)
        self.unmanaged = BackendShares(self, self.shares, snapshots)

    def seed(self) -> None:
        self.types.seed()
