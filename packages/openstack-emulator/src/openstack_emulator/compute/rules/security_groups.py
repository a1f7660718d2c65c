"""Security groups of servers: those of their ports."""

from __future__ import annotations

from openstack_emulator.compute.records import Server
from openstack_emulator.core.errors import bad_request, conflict, not_found
from openstack_emulator.core.rules import Rules
from openstack_emulator.network.records.core import SecurityGroup
from openstack_emulator.network.rules.composition import NetworkService


class ServerSecurityGroups(Rules):
    """The security groups of servers, which the network service has."""

    @property
    def _network(self) -> NetworkService:
        return self.cloud.of(NetworkService)

    def ids(self, project_id: str, names: list[str]) -> list[str]:
        """The ids of the security groups with these ids or names.

        Raises: ApiError 400 for an unknown one, 409 for a name that several have.
        """
        found = []
        for name in names:
            groups = self._network.security_groups_by_name_or_id(project_id, name)
            if not groups:
                raise bad_request(f"Unable to find security_group with name or id '{name}'")
            if len(groups) > 1:
                raise conflict(f"Multiple security groups found matching '{name}'. Use an ID to be more specific.")
            found.append(groups[0].id)
        return list(dict.fromkeys(found))

    def of_server(self, server: Server) -> list[SecurityGroup]:
        """The security groups of a server's ports, each once."""
        ids = dict.fromkeys(key for port in self._network.ports_of_device(server.id) for key in port.security_groups)
        found = (self._network.security_groups_by_name_or_id(server.project_id, key) for key in ids)
        return [groups[0] for groups in found if groups]

    def change(self, server: Server, name: str, add: bool) -> None:
        """Add all ports of a server to a security group, or remove them from it; 404 for an unknown group."""
        groups = self._network.security_groups_by_name_or_id(server.project_id, name)
        if not groups:
            raise not_found(f"Security group {name} is not found for project {server.project_id}")
        group = groups[0].id
        ports = self._network.ports_of_device(server.id)
        if not add and not any(group in port.security_groups for port in ports):
            raise not_found(f"Security group {name} not associated with the instance {server.id}")
        for port in ports:
            others = [key for key in port.security_groups if key != group]
            self._network.update_port(port.id, security_groups=[*others, group] if add else others)
