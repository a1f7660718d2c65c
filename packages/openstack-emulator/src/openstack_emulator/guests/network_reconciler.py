"""Keeps the network namespaces of a cloud as the topology wants them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from openstack_emulator.core.guests.driver import CloudInterface
from openstack_emulator.core.guests.topology import Lease, Lease6, Port, Topology
from openstack_emulator.guests.announcing import Announcers
from openstack_emulator.guests.dhcp import DHCP4, DHCP6, DhcpServers
from openstack_emulator.guests.load_balancer_proxies import LoadBalancerProxies
from openstack_emulator.guests.metadata import MetadataProxies
from openstack_emulator.guests.namespace_process import NamespaceProcess, NetworkFailed
from openstack_emulator.guests.spaces import (
    NamespaceContent,
    Plan,
    PlanPort,
    VirtualLink,
    address_commands,
    bridge_commands,
    cable_commands,
    guest_space,
    network_space,
    planned,
    tap_name,
    without,
)

log = logging.getLogger(__name__)

BATCH = ("-batch", "-")
FORCED = ("-force", "-batch", "-")
"""Of `ip`: continue after an error. A guest may have changed its interfaces."""
FILTER = ("-f", "-")


class NetworkReconciler:
    """Connects guests. What is changed is applied soon, one plan after the other.

    plan_port: connects a port with the namespace of its guest. followers: are called after each change.
    """

    def __init__(self, namespace_process: NamespaceProcess, cloudside: CloudInterface, plan_port: PlanPort) -> None:
        self._namespace_process = namespace_process
        self._metadata = MetadataProxies(namespace_process, cloudside)
        self._plan_port = plan_port
        self.followers: list[Callable[[], None]] = []
        self._dhcp = DhcpServers(namespace_process, DHCP4)
        self._dhcp6 = DhcpServers(namespace_process, DHCP6)
        self._announcers = Announcers(namespace_process)
        self.load_balancer_proxies = LoadBalancerProxies(namespace_process)
        self._topology = Topology()
        self._present = Plan()
        self._running: set[str] = set()
        self._numbers: dict[tuple[str, str], int] = {}
        self._frozen = False
        self._lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    @property
    def topology(self) -> Topology:
        return self._topology

    def connected_ports(self, guest_id: str) -> list[tuple[Port, VirtualLink]]:
        """Return the ports of a guest that are connected with its namespace, in the order of its interfaces."""
        ports = [port for port in self._topology.ports.values() if port.guest_id == guest_id]
        found = [(port, self._present.cables.get(tap_name(port.id))) for port in ports]
        return [(port, cable) for port, cable in found if cable is not None]

    def freeze(self) -> None:
        """Change nothing more, since the cloud ends."""
        self._frozen = True

    def change(self, topology: Topology) -> None:
        """Apply a topology soon."""
        if topology == self._topology or self._frozen:
            return
        self._topology = topology
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._follow())

    async def join(
        self, guest_id: str, namespaces: Sequence[int], translation: str, settings: Mapping[str, str]
    ) -> None:
        """Connect a guest that is about to run.

        namespaces: descriptors of those of its network, users and mounts. settings: of its network namespace.
        translation: of addresses in the guest, in the language of nftables.

        Raises: NetworkFailed.
        """
        async with self._lock:
            await self._namespace_process.order("keep", guest_space(guest_id), *namespaces)
            try:
                if settings:
                    await self._namespace_process.order("write", guest_space(guest_id), files=settings)
                await self._namespace_process.run(guest_space(guest_id), "nft", FILTER, translation)
            except NetworkFailed:
                await self._namespace_process.order("drop", guest_space(guest_id))
                raise
            self._running.add(guest_id)
            self._present.spaces[guest_space(guest_id)] = NamespaceContent()
            await self._apply()

    async def leave(self, guest_id: str) -> None:
        """Disconnect a guest that has ended."""
        async with self._lock:
            if guest_id in self._running and not self._frozen:
                self._running.discard(guest_id)
                with suppress(NetworkFailed):
                    await self._apply()

    async def close(self) -> None:
        """End the namespaces."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        async with self._lock:
            self._announcers.close()
            for servers in (self._dhcp, self._dhcp6):
                await servers.serve({})
            await self.load_balancer_proxies.serve(())
            await self._metadata.close()
            self._namespace_process.close()

    async def _follow(self) -> None:
        applied: Topology | None = None
        while applied is not self._topology:
            async with self._lock:
                applied = self._topology
                try:
                    await self._apply()
                except NetworkFailed as error:
                    log.error("The networks of the guests are not as they should be: %s", error)
            for follower in self.followers:
                follower()

    def _number(self, port: Port) -> int:
        """Return the number of a port's interface: the first one that no other port of the guest has."""
        key = (port.guest_id, port.id)
        if key not in self._numbers:
            taken = {number for (guest_id, _), number in self._numbers.items() if guest_id == port.guest_id}
            self._numbers[key] = next(number for number in range(len(taken) + 1) if number not in taken)
        return self._numbers[key]

    async def _apply(self) -> None:
        """Change what is different from what is present. What fails is tried again with the next change."""
        topology, namespace_process = self._topology, self._namespace_process
        needed = {(port.guest_id, port.id) for port in topology.ports.values() if port.guest_id in self._running}
        self._numbers = {key: number for key, number in self._numbers.items() if key in needed}
        plan = planned(topology, self._running, self._number, namespace_process.family, self._plan_port)
        before = self._present
        for name in plan.spaces.keys() - before.spaces.keys():
            await self._make(name, plan.spaces[name])
        for cable in [cable for name, cable in before.cables.items() if plan.cables.get(name) != cable]:
            await self._cut(cable)
        for name, space in plan.spaces.items():
            if space.filter != before.spaces[name].filter:
                await namespace_process.run(name, "nft", FILTER, space.filter)
                before.spaces[name].filter = space.filter
        for name, cable in plan.cables.items():
            if name not in before.cables:
                await namespace_process.run(network_space(cable.network), "ip", BATCH, cable_commands(cable))
                before.cables[name] = cable
                await namespace_process.run(cable.space, "ip", BATCH, cable.connect_commands)
        for name, space in plan.spaces.items():
            await self._address(name, space)
        for name in before.spaces.keys() - plan.spaces.keys():
            await namespace_process.order("drop", name)
            del before.spaces[name]
        await self._dhcp.serve(self._leases(plan))
        await self._dhcp6.serve(self._leases6(plan))
        await self._announcers.serve(topology, plan)
        await self.load_balancer_proxies.serve(topology.balancers)
        await self._metadata.serve(topology, plan)

    def _leases(self, plan: Plan) -> dict[str, tuple[str, dict[str, Lease]]]:
        """Return the DHCP servers of the networks that guests use, with their leases."""
        found: dict[str, tuple[str, dict[str, Lease]]] = {
            key: (network.server, {})
            for key, network in self._topology.networks.items()
            if network.server is not None and network_space(key) in plan.spaces
        }
        for port in self._topology.ports.values():
            if port.network in found and port.lease is not None:
                found[port.network][1][port.mac] = port.lease
        return found

    def _leases6(self, plan: Plan) -> dict[str, tuple[str, dict[str, Lease6]]]:
        """Return the networks in use with leases of DHCPv6."""
        found: dict[str, tuple[str, dict[str, Lease6]]] = {}
        for port in self._topology.ports.values():
            if port.lease6 is not None and network_space(port.network) in plan.spaces:
                found.setdefault(port.network, (port.network, {}))[1][port.mac] = port.lease6
        return found

    async def _make(self, name: str, space: NamespaceContent) -> None:
        await self._namespace_process.order("make", name)
        self._present.spaces[name] = NamespaceContent()
        if space.bridge is not None:
            await self._namespace_process.run(name, "ip", BATCH, bridge_commands(space))
        if space.settings:
            await self._namespace_process.order("write", name, files=space.settings)

    async def _cut(self, cable: VirtualLink) -> None:
        """Remove a cable. It is gone already if the guest has ended."""
        if cable.disconnect_commands and cable.space in self._present.spaces:
            with suppress(NetworkFailed):
                await self._namespace_process.run(cable.space, "ip", BATCH, cable.disconnect_commands)
        with suppress(NetworkFailed):
            await self._namespace_process.run(network_space(cable.network), "ip", BATCH, f"link del {cable.name}\n")
        del self._present.cables[cable.name]
        if cable.space in self._present.spaces:
            left = without(self._present.spaces[cable.space], {cable.interface: cable})
            self._present.spaces[cable.space] = left

    async def _address(self, name: str, space: NamespaceContent) -> None:
        before = self._present.spaces[name]
        if commands := address_commands(before, space):
            try:
                await self._namespace_process.run(name, "ip", FORCED, commands)
            except NetworkFailed as error:
                log.warning("Not all addresses and routes of the guests are set: %s", error)
            before.addresses, before.routes = set(space.addresses), set(space.routes)
