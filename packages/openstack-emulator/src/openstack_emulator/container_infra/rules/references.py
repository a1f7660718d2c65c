"""Objects of other services that templates and clusters name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.core.cloud import Cloud
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Request
from openstack_emulator.core.lookups import member_of_collection, one_of_collection

_FLAVOR = ("flavor", one_of_collection, "/compute/v2.1/flavors", "flavors")
REFERENCES: Mapping[str, tuple[str, Callable[..., dict[str, object] | None], str, str]] = {
    "flavor_id": _FLAVOR,
    "master_flavor_id": _FLAVOR,
    "keypair": ("keypair", member_of_collection, "/compute/v2.1/os-keypairs", "keypair"),
    "external_network_id": ("external network", one_of_collection, "/network/v2.0/networks", "networks"),
    "fixed_network": ("fixed network", one_of_collection, "/network/v2.0/networks", "networks"),
    "fixed_subnet": ("fixed subnet", one_of_collection, "/network/v2.0/subnets", "subnets"),
}
"""Fields that name objects of other services: what the object is called, and how it is looked up. The key pair of a
template is not looked up: it is that of each user of the template.
"""


def check_reference(cloud: Cloud, request: Request, field: str, value: str) -> None:
    """Refuse a field that names an object of another service which does not exist. Raises ApiError 400, 404 or 409."""
    if field not in REFERENCES:
        return
    what, look_up, path, key = REFERENCES[field]
    found = look_up(cloud, request, path, key, value)
    if found is None or (what == "external network" and not found.get("router:external")):
        error = not_found if what == "keypair" else bad_request
        raise error(f"Unable to find {what} {value}.")


def distribution(cloud: Cloud, request: Request, image: str) -> str:
    """Return the distribution in an image. Raises ApiError 400 for an unknown image, or one that names none."""
    shown = one_of_collection(cloud, request, "/image/v2/images", "images", image)
    if shown is None:
        raise bad_request(f"Image {image} could not be found.")
    if not (found := shown.get("os_distro")):
        raise bad_request(f"Image {image} doesn't contain os_distro field.")
    return str(found)
