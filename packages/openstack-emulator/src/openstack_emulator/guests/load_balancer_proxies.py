"""Load balancers that pass connections on to guests.

Each has a network namespace with the interface of its virtual IP address. The cloud listens there, and connects from
there to members, so that the rules of security groups and the routes are those of the network. It passes on
connections, not single requests of HTTP.
"""

from __future__ import annotations

import asyncio
import logging
import math
import zlib
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address, ip_network
from socket import SOCK_STREAM, socket

from openstack_emulator.core.guests.topology import Balancer, Listener, Member, Pool
from openstack_emulator.guests.namespace_process import NamespaceProcess, NetworkFailed
from openstack_emulator.guests.probing import Health, connected, status_line
from openstack_emulator.guests.spaces import balancer_space
from openstack_emulator.guests.streams import Connection, ended, join

log = logging.getLogger(__name__)

CONNECT_SECONDS = 5.0
MOST = 256
"""Connections of a listener at the same time; a member may lead back to its load balancer."""
UNAVAILABLE = 503
Place = tuple[str, int]


class LoadBalancerProxies:
    """Listens for load balancers, and probes their members."""

    def __init__(self, namespace_process: NamespaceProcess) -> None:
        self._namespace_process = namespace_process
        self._fronts: dict[Place, Frontend] = {}
        self._health: dict[str, Health] = {}

    def answers(self, member_id: str) -> bool | None:
        """Return whether a member is healthy; None without a probe."""
        return self._health[member_id].healthy if member_id in self._health else None

    async def serve(self, balancers: Sequence[Balancer]) -> None:
        """Serve these load balancers and no others, whose namespaces exist. Raises: NetworkFailed."""
        await self._probe(balancers)
        needed = {(balancer.id, listener.port): listener for balancer in balancers for listener in balancer.listeners}
        for place in self._fronts.keys() - needed.keys():
            await self._fronts.pop(place).close()
        for place, listener in needed.items():
            if place in self._fronts:
                self._fronts[place].listener = listener
            else:
                self._fronts[place] = await self._front(place, listener)

    async def _front(self, place: Place, listener: Listener) -> Frontend:
        space = balancer_space(place[0])
        (descriptor,) = await self._namespace_process.order(
            "open", space, kind=int(SOCK_STREAM), bound=["", listener.port], listen=True
        )
        front = Frontend(self._namespace_process, space, listener, self)
        await front.open(socket(fileno=descriptor))
        return front

    async def _probe(self, balancers: Sequence[Balancer]) -> None:
        needed = {
            member.id: (balancer_space(balancer.id), member, pool.monitor)
            for balancer in balancers
            for pool in balancer.pools
            if pool.monitor is not None
            for member in pool.members
        }
        for key, running in list(self._health.items()):
            space, member, monitor = needed.get(key, ("", None, None))
            if member is None or running.of != (space, member.probed, monitor):
                del self._health[key]
                await ended([running.task])
        for key, (space, member, monitor) in needed.items():
            if key not in self._health:
                self._health[key] = Health(self._namespace_process, space, member, monitor)


class Frontend:
    """A port of a load balancer. listener: how connections are treated from now on."""

    def __init__(
        self,
        namespace_process: NamespaceProcess,
        space: str,
        listener: Listener,
        load_balancer_proxies: LoadBalancerProxies,
    ) -> None:
        self.listener = listener
        self._namespace_process, self._space, self._load_balancer_proxies = (
            namespace_process,
            space,
            load_balancer_proxies,
        )
        self._served: Counter[str] = Counter()
        self._open: Counter[str] = Counter()
        self._usable: list[Member] = []
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    async def open(self, listening: socket) -> None:
        listening.setblocking(False)
        self._server = await asyncio.start_server(self._accept, sock=listening)

    async def close(self) -> None:
        """Listen no more, and end the connections."""
        if self._server is not None:
            self._server.close()
        await ended(self._tasks)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._pass_on(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._serve(reader, writer)
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        listener = self.listener
        source, port = writer.get_extra_info("peername") or ("", 0)
        if not source:  # the connection has ended already
            return
        admitted = not listener.sources or any(
            ip_address(source) in ip_network(network) for network in listener.sources
        )
        if not admitted or self._open.total() >= min(MOST, MOST if listener.most is None else listener.most):
            writer.transport.abort()
            return
        for member in self._choice(listener.pool, source):
            inner = await self._connection(member)
            if inner is not None:
                self._open[member.id] += 1
                try:
                    if listener.pool is not None and listener.pool.announces:
                        here = writer.get_extra_info("sockname")
                        inner[1].write(f"PROXY TCP4 {source} {here[0]} {port} {here[1]}\r\n".encode())
                    await join((reader, writer), inner)
                finally:
                    self._open[member.id] -= 1
                return
        await self._refuse(reader, writer)

    async def _connection(self, member: Member) -> Connection | None:
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return await connected(self._namespace_process, self._space, member.address, member.port)
        except (OSError, NetworkFailed, TimeoutError) as error:
            log.debug("The member %s at %s:%d cannot be reached: %s", member.id, member.address, member.port, error)
            return None

    async def _refuse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """End a connection for which there is no member."""
        if not self.listener.http:
            writer.transport.abort()
            return
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(CONNECT_SECONDS):
                await reader.read(1)
                writer.write(status_line(UNAVAILABLE))
                await writer.drain()

    def _choice(self, pool: Pool | None, source: str) -> list[Member]:
        """Return the members that may get a connection, the first one first."""
        if pool is None:
            return []
        usable = [
            member
            for member in pool.members
            if member.weight and self._load_balancer_proxies.answers(member.id) is not False
        ]
        usable = [member for member in usable if not member.backup] or usable
        if usable != self._usable:
            self._usable = usable
            self._served.clear()  # a new member must not get all connections until it has had as many
        if pool.by_source or pool.algorithm.startswith("SOURCE_IP"):
            return sorted(usable, key=lambda member: _rank(source, member))
        if pool.algorithm == "LEAST_CONNECTIONS":
            chosen = sorted(
                usable, key=lambda member: ((self._open[member.id] + 1) / member.weight, self._served[member.id])
            )
        else:
            chosen = sorted(usable, key=lambda member: (self._served[member.id] + 1) / member.weight)
        if chosen:
            self._served[chosen[0].id] += 1
        return chosen


def _rank(source: str, member: Member) -> float:
    """Return a number that is the lowest for the member that the connections of an address go to: each member has the
    share of its weight of all addresses, and keeps its addresses when others come and go (rendezvous hashing)."""
    fraction = (zlib.crc32(f"{source} {member.id}".encode()) + 1) / (1 << 32)
    return -math.log(fraction) / member.weight
