"""A table for each kind of records."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.store import Table
from openstack_emulator.network.records.core import (
    AddressGroup,
    AddressScope,
    FloatingIp,
    Network,
    OwnedRecord,
    Port,
    PortForwarding,
    QosPolicy,
    RbacPolicy,
    Router,
    SecurityGroup,
    SecurityGroupRule,
    Segment,
    Subnet,
    SubnetPool,
    Trunk,
)
from openstack_emulator.network.rules.kinds.kind import Catalog, T


class Tables:
    """A table for each kind; those that rules of several other kinds need have a name here."""

    def __init__(self, records: Records, kinds: Catalog) -> None:
        self._tables: dict[type[OwnedRecord], Table[Any]] = {
            kind.record: records.table(plural, kind.record, *sorted(kind.indexed), missing=kind.missing)
            for plural, kind in kinds.kinds.items()
        }
        self.networks = self.of(Network)
        self.segments = self.of(Segment)
        self.rbac_policies = self.of(RbacPolicy)
        self.subnets = self.of(Subnet)
        self.subnetpools = self.of(SubnetPool)
        self.address_scopes = self.of(AddressScope)
        self.ports = self.of(Port)
        self.trunks = self.of(Trunk)
        self.routers = self.of(Router)
        self.floatingips = self.of(FloatingIp)
        self.port_forwardings = self.of(PortForwarding)
        self.security_groups = self.of(SecurityGroup)
        self.security_group_rules = self.of(SecurityGroupRule)
        self.address_groups = self.of(AddressGroup)
        self.policies = self.of(QosPolicy)

    def of(self, kind: type[T]) -> Table[T]:
        """The table of a class of records."""
        return self._tables[kind]
