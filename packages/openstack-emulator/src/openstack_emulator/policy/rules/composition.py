"""The policy service: its tables, and the rules for them."""

from __future__ import annotations

from typing import ClassVar

from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.policy.rules.policies import Policies
from openstack_emulator.policy.rules.sources import Sources


class PolicyEngine(Records):
    """Policies, rules and data sources."""

    service = "congress"
    not_found_messages: ClassVar = {
        "policies": "policy with id '{}' doesn't exist",
        "rules": "rule with id '{}' doesn't exist",
        "datasources": "Datasource not found {}",
    }

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.sources = Sources(self)
        self.policies = Policies(self, self.sources)

    def seed(self) -> None:
        self.sources.seed()
        self.policies.seed()
