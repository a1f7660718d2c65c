"""The messaging service: its tables, and the rules for them. Who depends on whom is to be read here.

The alarming service posts messages.
"""

from __future__ import annotations

from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.messaging.records import ServiceState
from openstack_emulator.messaging.rules.claims import Claims
from openstack_emulator.messaging.rules.messages import Messages
from openstack_emulator.messaging.rules.queues import Queues
from openstack_emulator.messaging.rules.removal import Removal
from openstack_emulator.messaging.rules.signatures import Signatures
from openstack_emulator.messaging.rules.subscriptions import Subscriptions


class Messaging(Records):
    """Queues and what belongs to them."""

    service = "zaqar"

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        own = self.table("own", ServiceState, internal=True)
        self.queues = Queues(self)
        self.subscriptions = Subscriptions(self, self.queues)
        self.messages = Messages(self, own, self.queues, self.subscriptions)
        self.claims = Claims(self, self.queues, self.messages)
        self.removal = Removal(self, self.queues, self.messages, self.claims, self.subscriptions)
        self.signatures = Signatures(self, own)
