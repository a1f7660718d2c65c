"""Barbican: secrets, containers of secrets, and orders that generate them."""

from __future__ import annotations

from stoker.plugins.on_demand import TypesOnDemand

TYPES = TypesOnDemand(
    __name__,
    {
        "OS::Barbican::Secret": "secret:Secret",
        "OS::Barbican::Order": "order:Order",
        "OS::Barbican::GenericContainer": "containers:GenericContainer",
        "OS::Barbican::CertificateContainer": "containers:CertificateContainer",
        "OS::Barbican::RSAContainer": "containers:RSAContainer",
    },
)
