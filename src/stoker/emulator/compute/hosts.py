"""Compute hosts: what they can hold, which services they run, how they are grouped, and which one gets a server."""

from __future__ import annotations

from typing import Any

from stoker.emulator.compute.keypairs import KeypairRecords
from stoker.emulator.compute.tables import ZONE
from stoker.emulator.core.cloud import new_id
from stoker.emulator.core.errors import ApiError, bad_request, conflict, forbidden
from stoker.emulator.core.http import Context
from stoker.emulator.core.store import Record

COMPUTE_HOSTS = ("compute-1", "compute-2", "compute-3", "compute-4")
CONTROLLER = "controller"
CAPACITY = {"vcpus": 512, "memory_mb": 4 * 1024 * 1024, "local_gb": 200 * 1024}
CPU_RATIO = 16
POLICIES = ("anti-affinity", "affinity", "soft-anti-affinity", "soft-affinity")


class HostRecords(KeypairRecords):
    """Hosts, services, aggregates with their availability zones, and server groups."""

    def seed(self) -> None:
        super().seed()
        for host in COMPUTE_HOSTS:
            self.hosts.add({"id": host, "uuid": new_id(), "number": self.next_number("hosts"), **CAPACITY})
        for binary, host in (
            ("nova-conductor", CONTROLLER),
            ("nova-scheduler", CONTROLLER),
            *(("nova-compute", host) for host in COMPUTE_HOSTS),
        ):
            self.services.add(
                {
                    "id": new_id(),
                    "number": self.next_number("services"),
                    "binary": binary,
                    "host": host,
                    "disabled": False,
                    "disabled_reason": None,
                    "forced_down": False,
                }
            )

    def zone_of(self, host: str | None) -> str:
        """The availability zone a host is in."""
        for aggregate in self.aggregates:
            if host in aggregate["hosts"] and aggregate["metadata"].get("availability_zone"):
                return str(aggregate["metadata"]["availability_zone"])
        return ZONE

    def zones(self) -> dict[str, list[str]]:
        """The hosts of each availability zone that has any."""
        found: dict[str, list[str]] = {}
        for host in self.hosts:
            found.setdefault(self.zone_of(host["id"]), []).append(host["id"])
        return found

    def usable_hosts(self) -> list[str]:
        """The hosts whose compute service is enabled and up."""
        off = {row["host"] for row in self.services if row["disabled"] or row["forced_down"]}
        return [host["id"] for host in self.hosts if host["id"] not in off]

    def usage(self, host: str) -> dict[str, int]:
        """What the servers of a host take of it."""
        servers = self.servers.select(host=host)
        return {
            "running_vms": len(servers),
            "vcpus_used": sum(server["flavor"]["vcpus"] for server in servers),
            "memory_mb_used": 512 + sum(server["flavor"]["ram"] for server in servers),
            "local_gb_used": sum(server["flavor"]["disk"] + server["flavor"]["ephemeral"] for server in servers),
        }

    def choose_host(
        self,
        flavor: Record,
        zone: str | None,
        group_id: str | None,
        only: str | None = None,
        avoid: str | None = None,
        hints: Record | None = None,
    ) -> str | None:
        """The host for a server of a flavor, None when no host fits.

        only: the single host that is acceptable. avoid: one that is not. hints: the server's scheduler hints.
        """
        near, far = (self._hosts_of((hints or {}).get(name)) for name in ("same_host", "different_host"))
        hosts = [
            host
            for host in self.usable_hosts()
            if only in (None, host)
            and host != avoid
            and (near is None or host in near)
            and (far is None or host not in far)
            and zone in (None, self.zone_of(host))
            and self._has_room(host, flavor)
        ]
        load = {host: len(self.servers.select(host=host)) for host in hosts}
        hosts = self._by_group(sorted(hosts, key=lambda host: load[host]), group_id)
        return hosts[0] if hosts else None

    def _hosts_of(self, hint: Any) -> set[str] | None:
        """The hosts of the servers that a hint names, one or a list of them; None without a hint."""
        if hint is None:
            return None
        servers = (self.servers.get(key) for key in ([hint] if isinstance(hint, str) else hint))
        return {server["host"] for server in servers if server is not None}

    def _has_room(self, host: str, flavor: Record) -> bool:
        record, used = self.hosts.require(host), self.usage(host)
        return bool(
            used["vcpus_used"] + flavor["vcpus"] <= record["vcpus"] * CPU_RATIO
            and used["memory_mb_used"] + flavor["ram"] <= record["memory_mb"]
            and used["local_gb_used"] + flavor["disk"] + flavor["ephemeral"] <= record["local_gb"]
        )

    def _by_group(self, hosts: list[str], group_id: str | None) -> list[str]:
        """The hosts that a server group's policy allows, best first."""
        group = self.server_groups.get(group_id or "")
        if group is None:
            return hosts
        members = [self.servers.get(key) for key in group["members"]]
        count: dict[str, int] = {}
        for member in members:
            if member is not None and member["host"] is not None:
                count[member["host"]] = count.get(member["host"], 0) + 1
        most = int((group["rules"] or {}).get("max_server_per_host", 1))
        if group["policy"] == "affinity":
            return [host for host in hosts if not count or host in count]
        if group["policy"] == "anti-affinity":
            return [host for host in hosts if count.get(host, 0) < most]
        together = group["policy"] == "soft-affinity"
        return sorted(hosts, key=lambda host: count.get(host, 0), reverse=together)

    def create_group(self, context: Context, name: str, policy: str, rules: Record | None) -> Record:
        """A new server group; 403 beyond the quota."""
        limit = self.limits_of(context.project)["server_groups"]
        if 0 <= limit <= len(self.server_groups.select(project_id=context.project)):
            raise forbidden("Quota exceeded, too many server groups.")
        if rules and policy != "anti-affinity":
            raise bad_request("Only anti-affinity policy supports rules.")
        return self.server_groups.add(
            {
                "id": new_id(),
                "name": name,
                "policy": policy,
                "rules": rules or {},
                "members": [],
                "project_id": context.project,
                "user_id": context.user_id,
            }
        )

    def group_of(self, server_id: str) -> Record | None:
        """The group a server is in."""
        return next((group for group in self.server_groups if server_id in group["members"]), None)

    def leave_group(self, server_id: str) -> None:
        if (group := self.group_of(server_id)) is not None:
            self.server_groups.update(group, members=[key for key in group["members"] if key != server_id])

    def create_aggregate(self, name: str, zone: str | None) -> Record:
        """A new aggregate of no hosts; 409 when the name is taken."""
        self._refuse_taken_aggregate(name)
        return self.aggregates.add(
            {
                "id": str(self.next_number("aggregates")),
                "uuid": new_id(),
                "name": name,
                "hosts": [],
                "metadata": {"availability_zone": zone} if zone else {},
                "created_at": self.moment(),
                "updated_at": None,
            }
        )

    def update_aggregate(self, aggregate: Record, changes: dict[str, Any]) -> None:
        """Set name and availability_zone; 409 for a taken name or a zone its hosts cannot be in."""
        if "name" in changes and changes["name"] != aggregate["name"]:
            self._refuse_taken_aggregate(changes["name"])
            self.aggregates.update(aggregate, name=changes["name"], updated_at=self.moment())
        if "availability_zone" in changes:
            self.set_aggregate_metadata(aggregate, {"availability_zone": changes["availability_zone"]})

    def set_aggregate_metadata(self, aggregate: Record, changes: dict[str, str | None]) -> None:
        """Set keys, and drop those that are None."""
        zone = changes.get("availability_zone")
        if zone is not None:
            for host in aggregate["hosts"]:
                self._refuse_second_zone(host, zone, aggregate)
        merged = {**aggregate["metadata"], **changes}
        kept = {key: value for key, value in merged.items() if value is not None}
        self.aggregates.update(aggregate, metadata=kept, updated_at=self.moment())

    def delete_aggregate(self, aggregate: Record) -> None:
        """Drop an aggregate; 400 while it has hosts."""
        if aggregate["hosts"]:
            raise bad_request(f"Cannot remove aggregate {aggregate['id']}: Host aggregate is not empty.")
        self.aggregates.remove(aggregate)

    def add_host(self, aggregate: Record, host: str) -> None:
        """Put a host into an aggregate; 404 for an unknown one, 409 when it is there or would be in two zones."""
        self.hosts.require(host)
        if host in aggregate["hosts"]:
            raise conflict(f"Cannot add host {host} in aggregate {aggregate['id']}: host exists already.")
        if zone := aggregate["metadata"].get("availability_zone"):
            self._refuse_second_zone(host, zone, aggregate)
        self.aggregates.update(aggregate, hosts=[*aggregate["hosts"], host], updated_at=self.moment())

    def remove_host(self, aggregate: Record, host: str) -> None:
        """Take a host from an aggregate; 404 when it is not in it."""
        if host not in aggregate["hosts"]:
            raise ApiError(404, f"Cannot remove host {host} in aggregate {aggregate['id']}: it has no such host.")
        kept = [one for one in aggregate["hosts"] if one != host]
        self.aggregates.update(aggregate, hosts=kept, updated_at=self.moment())

    def _refuse_taken_aggregate(self, name: str) -> None:
        if self.aggregates.first(name=name) is not None:
            raise conflict(f"Aggregate {name} already exists.")

    def _refuse_second_zone(self, host: str, zone: str, aggregate: Record) -> None:
        for other in self.aggregates:
            held = other["metadata"].get("availability_zone")
            if other is not aggregate and host in other["hosts"] and held not in (None, zone):
                raise conflict(
                    f"Cannot add host {host} in aggregate {aggregate['id']}: "
                    f"Host already in availability zone {held} of another aggregate."
                )
