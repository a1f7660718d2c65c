"""Security services: directories by which share servers know users."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import forbidden
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules, visible
from openstack_emulator.core.store import Table
from openstack_emulator.share.records import SecurityService, ShareNetwork
from openstack_emulator.share.rules.inputs import NewSecurityService
from openstack_emulator.share.rules.networks import LOOSE, ShareNetworks


class SecurityServices(Rules):
    """Security services. rows: their table."""

    def __init__(self, records: Records, rows: Table[SecurityService], networks: ShareNetworks) -> None:
        super().__init__(records)
        self.rows = rows
        self._networks = networks

    def create(self, context: Context, new_security_service: NewSecurityService) -> SecurityService:
        return self.rows.add(
            SecurityService(
                id=new_id(),
                name=new_security_service.name,
                description=new_security_service.description,
                type=new_security_service.type,
                dns_ip=new_security_service.dns_ip,
                server=new_security_service.server,
                domain=new_security_service.domain,
                user=new_security_service.user,
                password=new_security_service.password,
                ou=new_security_service.ou,
                status="new",
                project_id=context.project,
                created_at=self.moment(),
                updated_at=None,
            )
        )

    def update(self, service: SecurityService, changes: Mapping[str, Any]) -> None:
        """Change a security service; 403 for what share servers use already."""
        if changes.keys() - LOOSE and any(self._networks.is_used(network) for network in self.networks_of(service)):
            raise forbidden(
                "Cannot update security service. It is used by share servers: only its name and description can be "
                "changed."
            )
        self.rows.update(service, **changes, updated_at=self.moment())

    def delete(self, service: SecurityService) -> None:
        """Delete a security service; 403 while a share network has it."""
        if self.networks_of(service):
            raise forbidden("Cannot delete security service. It is assigned to share network(s)")
        self.rows.remove(service)

    def networks_of(self, service: SecurityService) -> list[ShareNetwork]:
        """The share networks that have a security service."""
        return [row for row in self._networks.rows if service.id in row.security_services]

    def of_network(self, context: Context, network_id: str) -> list[SecurityService]:
        """The security services of a share network; 404 for one that the caller cannot see."""
        return self._networks.services_of(visible(self._networks.rows, context, network_id))
