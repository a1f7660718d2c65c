"""The pages of Horizon about the objects of resources.

The paths are those of Horizon 25 and of its plug-ins; tests resolve them where a Horizon is installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

_INSTANCE = "project/instances/{}/"
_NETWORK = "project/networks/{}/detail"
_FLOATING_IPS = "project/floating_ips/"

_PAGES: Mapping[str, str] = {
    "AWS::EC2::EIP": _FLOATING_IPS,
    "AWS::EC2::Instance": _INSTANCE,
    "AWS::EC2::NetworkInterface": "project/networks/ports/{}/detail",
    "AWS::EC2::SecurityGroup": "project/security_groups/{}/",
    "AWS::EC2::Subnet": "project/networks/subnets/{}/detail",
    "AWS::EC2::VPC": _NETWORK,
    "AWS::EC2::Volume": "project/volumes/{}/",
    "AWS::S3::Bucket": "project/containers/container/{}",
    "OS::Cinder::Volume": "project/volumes/{}/",
    "OS::Glance::WebImage": "project/images/{}/",
    "OS::Keystone::User": "identity/users/{}/detail/",
    "OS::Neutron::FloatingIP": _FLOATING_IPS,
    "OS::Neutron::Net": _NETWORK,
    "OS::Neutron::Port": "project/networks/ports/{}/detail",
    "OS::Neutron::ProviderNet": _NETWORK,
    "OS::Neutron::Router": "project/routers/{}/",
    "OS::Neutron::SecurityGroup": "project/security_groups/{}/",
    "OS::Neutron::Subnet": "project/networks/subnets/{}/detail",
    "OS::Neutron::Trunk": "project/trunks/{}/",
    "OS::Nova::Flavor": "admin/flavors/",
    "OS::Nova::FloatingIP": _FLOATING_IPS,
    "OS::Nova::KeyPair": "project/key_pairs/{}/",
    "OS::Nova::Server": _INSTANCE,
    "OS::Swift::Container": "project/containers/container/{}",
}
"""The path below Horizon's address by the type of the resource, with the physical ID."""


def horizon_page(address: str, resource_type: str, physical_id: str | None) -> str:
    """Return the URL of the page about an object; empty if there is none. `address` may be empty."""
    path = _PAGES.get(resource_type)
    if not (address and path and physical_id):
        return ""
    return f"{address}/{path.format(quote(physical_id, safe=''))}"
