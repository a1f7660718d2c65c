"""The one back end: its pool, what the scheduler knows of it, and the processes of the service."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.share.rules.constants import BACKEND_HOST, ZONE

TOTAL_GIB = 10_000
CAPABILITIES: Mapping[str, object] = {
    "share_backend_name": "generic",
    "vendor_name": "Stoker",
    "driver_version": "1.0",
    "storage_protocol": "NFS_CIFS",
    "driver_handles_share_servers": [False, True],
    "snapshot_support": True,
    "create_share_from_snapshot_support": True,
    "revert_to_snapshot_support": True,
    "mount_snapshot_support": False,
    "replication_type": None,
    "dedupe": False,
    "compression": False,
    "thin_provisioning": False,
    "qos": False,
    "ipv4_support": True,
    "ipv6_support": False,
    "security_service_update_support": False,
    "network_allocation_update_support": False,
    "total_capacity_gb": TOTAL_GIB,
    "reserved_percentage": 0,
    "max_over_subscription_ratio": 1.0,
}
"""What the pool can do, by the names that extra specs of share types use."""
NO_CAPABILITIES = frozenset({"availability_zones"})
"""Extra specs that are not compared with capabilities."""
_SCOPE = "capabilities:"


def processes() -> list[dict[str, str]]:
    """The processes of the service that report their state."""
    host, backend = BACKEND_HOST.split("#")[0].split("@")
    binaries = (("manila-scheduler", host), ("manila-share", f"{host}@{backend}"), ("manila-data", host))
    return [{"binary": binary, "host": where, "zone": ZONE} for binary, where in binaries]


def fits(extra_specs: Mapping[str, str]) -> bool:
    """Whether the pool has what the extra specs of a share type ask for.

    Extra specs with a scope other than `capabilities` are not for the scheduler.
    """
    for name, required in extra_specs.items():
        key = name.removeprefix(_SCOPE)
        if ":" in key or key in NO_CAPABILITIES:
            continue
        if key not in CAPABILITIES or not _matches(CAPABILITIES[key], required):
            return False
    return True


def _matches(present: object, expected: str) -> bool:
    if isinstance(present, list):
        return any(_matches(value, expected) for value in present)
    operator, _, value = expected.strip().partition(" ")
    if operator == "<is>" or isinstance(present, bool):
        return as_boolean(expected.removeprefix("<is>").strip()) is bool(present)
    if operator == "<in>":
        return value.strip() in str(present)
    return str(present).lower() == expected.strip().lower()
