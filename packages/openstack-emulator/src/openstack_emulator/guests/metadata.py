"""The metadata service on the networks of guests, as the agents of Neutron serve it.

It answers at 169.254.169.254 in the namespaces of routers, and in those of networks that have a subnet with a DHCP
server but no router. A guest is identified by the network and its address there; packets to the service from addresses
that the port of a guest does not have are dropped (`rules.network_filter`).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from ipaddress import ip_address, ip_interface
from socket import SOCK_STREAM, socket

from openstack_emulator.core.guests.driver import CloudInterface
from openstack_emulator.core.guests.topology import METADATA_ADDRESS, Link, Topology
from openstack_emulator.guests.namespace_process import NamespaceProcess
from openstack_emulator.guests.spaces import Plan, network_space, router_space

METADATA_PORT = 80


class MetadataProxies:
    """Listens in the namespaces of networks and routers."""

    def __init__(self, namespace_process: NamespaceProcess, cloudside: CloudInterface) -> None:
        self._namespace_process = namespace_process
        self._cloudside = cloudside
        self._topology = Topology()
        self._open: dict[str, Callable[[], Awaitable[None]]] = {}

    async def serve(self, topology: Topology, plan: Plan) -> None:
        """Listen in these namespaces and no others. Raises: NetworkFailed."""
        self._topology = topology
        needed = {
            network_space(key): partial(self._on_network, key)
            for key, network in topology.networks.items()
            if network.metadata
        }
        needed |= {router_space(key): partial(self._on_router, key) for key in topology.routers}
        for space in self._open.keys() - (needed.keys() & plan.spaces.keys()):
            await self._open.pop(space)()
        for space in (needed.keys() & plan.spaces.keys()) - self._open.keys():
            place = [METADATA_ADDRESS, METADATA_PORT]
            (descriptor,) = await self._namespace_process.order(
                "open", space, kind=int(SOCK_STREAM), bound=place, listen=True
            )
            self._open[space] = await self._cloudside.serve_metadata(socket(fileno=descriptor), needed[space])

    async def close(self) -> None:
        """Listen no more."""
        while self._open:
            await self._open.popitem()[1]()

    def _on_network(self, network: str, address: str) -> str:
        for port in self._topology.ports.values():
            if port.network == network and address in (interface.partition("/")[0] for interface in port.addresses):
                return port.guest_id
        return ""

    def _on_router(self, router: str, address: str) -> str:
        known = self._topology.routers.get(router)  # it may be gone before its namespace is
        links = known.links if known is not None else ()
        return next((self._on_network(link.network, address) for link in links if _reaches(link, address)), "")


def _reaches(link: Link, address: str) -> bool:
    """Whether an address is on a subnet of a link: another one of the same network may have the same range."""
    return any(ip_address(address) in ip_interface(interface).network for interface in link.addresses)
