"""Which back end suits a volume: its capabilities, and what the extra specs of a volume type ask of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.volume.rules.constants import BACKEND

CAPACITY_GIGABYTES = 30720
OVERSUBSCRIPTION = 20.0
SCOPE = "capabilities"
CAPABILITIES: Mapping[str, object] = {
    "total_capacity_gb": CAPACITY_GIGABYTES,
    "reserved_percentage": 0,
    "max_over_subscription_ratio": str(OVERSUBSCRIPTION),
    "thin_provisioning_support": True,
    "thick_provisioning_support": False,
    "multiattach": True,
    "volume_backend_name": BACKEND,
    "storage_protocol": "iSCSI",
    "vendor_name": "Open Source",
    "driver_version": "3.0.0",
    "QoS_support": False,
}
"""What the one pool of the one back end says of itself."""


def suits(extra_specs: Mapping[str, str]) -> bool:
    """Whether the back end has all that the extra specs ask for; those of a scope other than `capabilities` do not
    ask the back end."""
    for key, requirement in extra_specs.items():
        scope, separator, name = key.rpartition(":")
        if separator and scope != SCOPE:
            continue
        if name not in CAPABILITIES or not _fits(CAPABILITIES[name], requirement):
            return False
    return True


def _number(test: Callable[[float, float], bool]) -> Callable[[str, str], bool]:
    def compare(has: str, requirement: str) -> bool:
        try:
            return test(float(has), float(requirement))
        except ValueError:
            return False

    return compare


COMPARISONS: Mapping[str, Callable[[str, str], bool]] = {
    "=": _number(lambda has, requirement: has >= requirement),
    "==": _number(lambda has, requirement: has == requirement),
    "!=": _number(lambda has, requirement: has != requirement),
    ">=": _number(lambda has, requirement: has >= requirement),
    "<=": _number(lambda has, requirement: has <= requirement),
    "s==": lambda has, requirement: has == requirement,
    "s!=": lambda has, requirement: has != requirement,
    "s>": lambda has, requirement: has > requirement,
    "s>=": lambda has, requirement: has >= requirement,
    "s<": lambda has, requirement: has < requirement,
    "s<=": lambda has, requirement: has <= requirement,
    "<is>": lambda has, requirement: as_boolean(has) is as_boolean(requirement),
    "<in>": lambda has, requirement: requirement in has,
    "<or>": lambda has, requirement: has in (word.strip() for word in requirement.split("<or>")),
}
"""The first word of a spec's value → how the rest compares with a capability."""


def _fits(has: object, requirement: str) -> bool:
    operator, _, rest = requirement.strip().partition(" ")
    compare = COMPARISONS.get(operator)
    return str(has) == requirement if compare is None else compare(str(has), rest.strip())
