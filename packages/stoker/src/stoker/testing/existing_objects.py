"""What a section `cloud` of a test file says that the emulated cloud has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.testing.emulated_cloud import EmulatedCloud


def create_existing_objects(cloud: EmulatedCloud, section: Mapping[str, Any]) -> None:
    """Give the emulated cloud what a section says that it has."""
    if section.get("only"):
        cloud.remove_own()
    if "services" in section:
        cloud.restrict_services(section["services"])
    if "extensions" in section:
        cloud.extensions = frozenset(section["extensions"])
    for name, flavor in section.get("flavors", {}).items():
        cloud.add_flavor(name, **flavor)
    for name, kind in section.get("volume_types", {}).items():
        cloud.add_volume_type(name, **kind)
    for name, image in section.get("images", {}).items():
        cloud.add_image(name, **image)
    for name, network in section.get("networks", {}).items():
        cloud.add_network(name, **network)
    for name in section.get("keypairs", ()):
        cloud.add_keypair(name)
    for region in section.get("regions", ()):
        cloud.add_region(region)
    for role in section.get("roles", ()):
        cloud.grant(role)
    for service, limits in section.get("quotas", {}).items():
        cloud.limit(service, limits, section.get("used", {}).get(service, {}))
