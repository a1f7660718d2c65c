"""Nova: servers, flavors, keypairs and server groups."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.nova.deployed_server import DeployedServer
from stoker.resources.nova.flavor import Flavor
from stoker.resources.nova.floating_ip import FloatingIP
from stoker.resources.nova.floating_ip_association import FloatingIPAssociation
from stoker.resources.nova.host_aggregate import HostAggregate
from stoker.resources.nova.key_pair import KeyPair
from stoker.resources.nova.quota import Quota
from stoker.resources.nova.server.server import Server
from stoker.resources.nova.server_group import ServerGroup

TYPES: tuple[type[ResourceType], ...] = (
    DeployedServer,
    HostAggregate,
    Quota,
    Flavor,
    FloatingIP,
    FloatingIPAssociation,
    KeyPair,
    Server,
    ServerGroup,
)
