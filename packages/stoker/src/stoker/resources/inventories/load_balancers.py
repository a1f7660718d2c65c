"""Inventories of Octavia's types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.plugins.inventory import Fields


def _first(entries: Any) -> str | None:
    return next((entry["id"] for entry in entries or ()), None)


def _listener(values: Mapping[str, object], listener: Fields) -> Fields:
    return {**values, "loadbalancer": _first(listener["loadbalancers"])}


def _pool(values: Mapping[str, object], pool: Fields) -> Fields:
    """A listener refers to its default pool, so that the pool refers to the load balancer alone."""
    return {**values, "loadbalancer": _first(pool["loadbalancers"])}


def _monitor(values: Mapping[str, object], monitor: Fields) -> Fields:
    return {**values, "pool": _first(monitor["pools"])}


_CERTIFICATES = frozenset({"default_tls_container_ref", "sni_container_refs"})

ROWS: Mapping[str, Mapping[str, object]] = {
    "OS::Octavia::LoadBalancer": {"varying": frozenset({"availability_zone"})},
    "OS::Octavia::Listener": {"varying": _CERTIFICATES, "describe": _listener},
    "OS::Octavia::Pool": {"describe": _pool},
    "OS::Octavia::PoolMember": {},
    "OS::Octavia::HealthMonitor": {"follows": "pool", "describe": _monitor},
    "OS::Octavia::L7Policy": {},
    "OS::Octavia::L7Rule": {},
}
