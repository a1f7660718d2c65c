"""The key manager: its tables, and the rules for them. Who depends on whom is to be read here."""

from __future__ import annotations

from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.keymanager.rules.containers import Containers
from openstack_emulator.keymanager.rules.orders import Orders
from openstack_emulator.keymanager.rules.quotas import Quotas
from openstack_emulator.keymanager.rules.secrets import Secrets


class KeyManager(Records):
    """Everything that the key manager keeps."""

    service = "barbican"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.quotas = Quotas(self)
        self.secrets = Secrets(self, self.quotas)
        self.containers = Containers(self, self.quotas, self.secrets)
        self.orders = Orders(self, self.quotas, self.secrets, self.containers)
