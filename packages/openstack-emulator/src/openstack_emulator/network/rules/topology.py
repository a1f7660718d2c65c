"""The auto-allocated topology: a network with subnets and a router that a project gets without asking for details."""

from __future__ import annotations

from openstack_emulator.core.errors import ApiError, bad_request
from openstack_emulator.network.records.core import Network, SubnetPool
from openstack_emulator.network.rules.kinds.kind import CLOUD
from openstack_emulator.network.rules.networks import Networks
from openstack_emulator.network.rules.pools import SubnetPools
from openstack_emulator.network.rules.routers import Routers
from openstack_emulator.network.rules.subnets import Subnets

NETWORK_NAME = "auto_allocated_network"
ROUTER_NAME = "auto_allocated_router"
SUBNET_NAME = "auto_allocated_subnet_v"


class Topology:
    """Needs a default external network and a default subnet pool."""

    def __init__(self, networks: Networks, subnets: Subnets, routers: Routers, pools: SubnetPools) -> None:
        self._networks = networks
        self._subnets = subnets
        self._routers = routers
        self._pools = pools

    def check(self, project_id: str) -> tuple[Network, SubnetPool]:
        """The default external network and subnet pool. Raises: ApiError 400 when one is missing."""
        external = self._networks.rows.first(is_default=True)
        if external is None:
            raise _failed("No default router:external network.")
        pool = self._pools.rows.first(is_default=True)
        if pool is None:
            raise _failed("No default subnetpools defined.")
        return external, pool

    def get(self, project_id: str) -> str:
        """The id of the project's network, which is made when it is not there. Raises: as `check`."""
        present = self._networks.rows.first(name=NETWORK_NAME, project_id=project_id)
        if present is not None:
            return present.id
        external, pool = self.check(project_id)
        owner = {"project_id": project_id}
        network = self._networks.create(CLOUD, {"name": NETWORK_NAME, **owner})
        version = pool.ip_version
        subnet = self._subnets.create(
            CLOUD,
            {
                "name": f"{SUBNET_NAME}{version}",
                "network_id": network.id,
                "subnetpool_id": pool.id,
                "ip_version": version,
                **owner,
            },
        )
        gateway = {"network_id": external.id}
        router = self._routers.create(CLOUD, {"name": ROUTER_NAME, "external_gateway_info": gateway, **owner})
        self._routers.add_interface(CLOUD, router, "", subnet.id)
        return network.id

    def delete(self, project_id: str) -> None:
        """Delete the network again. Raises: ApiError 409 while ports are on the network."""
        network = self._networks.rows.first(name=NETWORK_NAME, project_id=project_id)
        router = self._routers.rows.first(name=ROUTER_NAME, project_id=project_id)
        if router is not None:
            for subnet in self._subnets.rows.select(network_id=network.id if network else ""):
                self._routers.remove_interface(CLOUD, router, "", subnet.id)
            self._routers.delete(CLOUD, router)
        if network is not None:
            self._networks.delete(CLOUD, network)


def _failed(reason: str) -> ApiError:
    return bad_request(f"Deployment error: {reason}", "AutoAllocationFailure")
