"""Which host gets a server."""

from __future__ import annotations

from typing import Any

from openstack_emulator.compute.records import Server, ServerFlavor
from openstack_emulator.compute.rules.aggregates import Aggregates
from openstack_emulator.compute.rules.hosts import Hosts
from openstack_emulator.compute.rules.server_groups import ServerGroups
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table

NO_HOST = "No valid host was found. There are not enough hosts available."


class Scheduler(Rules):
    """Chooses hosts: by capacity, availability zone, server group, hints and reservations; of those that fit, the least
    loaded.
    """

    def __init__(
        self, records: Records, hosts: Hosts, aggregates: Aggregates, groups: ServerGroups, servers: Table[Server]
    ) -> None:
        super().__init__(records)
        self._hosts = hosts
        self._aggregates = aggregates
        self._groups = groups
        self._servers = servers

    def choose_host(
        self,
        server: Server,
        flavor: ServerFlavor | None = None,
        group_id: str | None = None,
        only: str | None = None,
        avoid: str | None = None,
    ) -> str | None:
        """The host for a server, in the zone and with the hints of the request for it; None when no host fits.

        flavor: the server's own by default. only: the single host that is acceptable. avoid: one that is not.
        """
        size, hints, zone = flavor or server.flavor, server.hints, server.zone_asked
        near, far = (self._hosts_of(hints.get(name)) for name in ("same_host", "different_host"))
        hosts = [
            host
            for host in self._hosts.usable()
            if only in (None, host)
            and host != avoid
            and (near is None or host in near)
            and (far is None or host not in far)
            and zone in (None, self._aggregates.zone_of(host))
            and self._aggregates.admits(host, server, size)
            and self._hosts.has_room(host, size)
        ]
        hosts = [host for host in hosts if self._is_reserved(host, server, size)]
        load = {host: len(self._servers.select(host=host)) for host in hosts}
        hosts = self._by_group(sorted(hosts, key=lambda host: load[host]), group_id)
        return hosts[0] if hosts else None

    def _is_reserved(self, host: str, server: Server, flavor: ServerFlavor) -> bool:
        """Whether the reservation that a flavor belongs to has room for the server on a host; without one, it has."""
        reserved = self._aggregates.reserved_for(flavor)
        if reserved is None:
            return True
        aggregate, room = reserved
        count = dict.fromkeys(aggregate.hosts, 0)
        for name in count:
            same = (row for row in self._servers.select(host=name) if row.flavor.id == flavor.id)
            count[name] = sum(row.id != server.id for row in same)
        return count.get(host, 0) < room.on_one_host and sum(count.values()) < room.total

    def _hosts_of(self, hint: Any) -> set[str | None] | None:
        """The hosts of the servers that a hint names, one or a list of them; None without a hint."""
        if hint is None:
            return None
        servers = (self._servers.get(key) for key in ([hint] if isinstance(hint, str) else hint))
        return {server.host for server in servers if server is not None}

    def _by_group(self, hosts: list[str], group_id: str | None) -> list[str]:
        """The hosts that a server group's policy allows, best first."""
        group = self._groups.rows.get(group_id or "")
        if group is None:
            return hosts
        members = [self._servers.get(key) for key in group.members]
        count: dict[str, int] = {}
        for member in members:
            if member is not None and member.host is not None:
                count[member.host] = count.get(member.host, 0) + 1
        most = (group.rules or {}).get("max_server_per_host", 1)
        if group.policy == "affinity":
            return [host for host in hosts if not count or host in count]
        if group.policy == "anti-affinity":
            return [host for host in hosts if count.get(host, 0) < most]
        together = group.policy == "soft-affinity"
        return sorted(hosts, key=lambda host: count.get(host, 0), reverse=together)
