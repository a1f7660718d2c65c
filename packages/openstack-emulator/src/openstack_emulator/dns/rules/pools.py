"""Pools of name servers. There is one, whose name server is the emulator's own."""

from __future__ import annotations

from openstack_emulator.dns.records import NameServer

DEFAULT_POOL = "794ccc2c-d751-44fe-b57f-8894c9f5c842"
NAME_SERVERS = (NameServer(hostname="ns1.devstack.org.", priority=1),)
