"""The drivers of nodes, and the conductor that has them."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.baremetal.records import Node
from openstack_emulator.baremetal.rules.kinds import INTERFACES
from openstack_emulator.core.error_bodies import CONDUCTOR
from openstack_emulator.core.errors import bad_request

HOST = "conductor-1"
"""The conductor that manages all nodes, and holds their locks."""
_NETWORK, _STORAGE = ("noop", "flat", "neutron"), ("noop", "cinder")
DRIVERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "fake-hardware": {
        **{name: ("fake", f"no-{name}") for name in ("bios", "console", "inspect", "raid", "rescue", "vendor")},
        **dict.fromkeys(("boot", "deploy", "management", "power"), ("fake",)),
        "network": _NETWORK, "storage": (*_STORAGE, "fake"),
    },
    "ipmi": {
        "bios": ("no-bios",), "boot": ("ipxe", "pxe"), "console": ("no-console", "ipmitool-socat"),
        "deploy": ("direct", "ramdisk"), "inspect": ("no-inspect",), "management": ("ipmitool", "noop"),
        "network": _NETWORK, "power": ("ipmitool",), "raid": ("no-raid", "agent"), "rescue": ("no-rescue", "agent"),
        "storage": _STORAGE, "vendor": ("ipmitool", "no-vendor"),
    },
    "redfish": {
        "bios": ("redfish", "no-bios"), "boot": ("redfish-virtual-media", "ipxe", "pxe"), "console": ("no-console",),
        "deploy": ("direct", "ramdisk"), "inspect": ("redfish", "no-inspect"), "management": ("redfish",),
        "network": _NETWORK, "power": ("redfish",), "raid": ("redfish", "agent", "no-raid"),
        "rescue": ("no-rescue", "agent"), "storage": _STORAGE, "vendor": ("redfish", "no-vendor"),
    },
}  # fmt: skip
"""Drivers (hardware types), and the implementations of each interface that their nodes can have, the default first."""


def interface_of(node: Node, name: str) -> str | None:
    """The implementation of an interface that a node has."""
    found: str | None = node.get(f"{name}_interface")
    return found


def default_interfaces(driver: str, node: Node) -> dict[str, str]:
    """The driver's implementations of those interfaces for which a node has none, by the names of the fields."""
    return {f"{name}_interface": DRIVERS[driver][name][0] for name in INTERFACES if not interface_of(node, name)}


def check_interfaces(node: Node) -> None:
    """Refuse an implementation of an interface that no driver has, or not the driver of the node. ApiError 400."""
    driver = DRIVERS[node.driver]
    for name in INTERFACES:
        chosen = interface_of(node, name)
        if not chosen or chosen in driver[name]:
            continue
        enabled = sorted({interface for interfaces in DRIVERS.values() for interface in interfaces[name]})
        if chosen not in enabled:
            raise bad_request(
                f"Could not find the following interface in the 'ironic.hardware.interfaces.{name}' entrypoint: "
                f"{chosen}. Valid interfaces are {enabled}.",
                CONDUCTOR,
            )
        raise bad_request(
            f"{name} interface implementation '{chosen}' is not supported by hardware type {node.driver}.",
            CONDUCTOR,
        )
