"""The client plug-in of the network service."""

from __future__ import annotations

from typing import Any

from heat.engine.clients import client_plugin
from stoker_heat_plugins.openstack_clients import OpenStackClientPlugin


class NeutronClientPlugin(OpenStackClientPlugin):
    """The client of python-neutronclient."""

    service = "neutron"

    def find_resourceid_by_name_or_id(self, resource: str, name_or_id: str, cmd_resource: str | None = None) -> str:
        """Return the ID of the object of a kind (`network`) with this name or ID."""
        return self._found("neutron", resource, name_or_id)

    find_neutron_resource = find_resourceid_by_name_or_id

    def resolve_resource(self, props: Any, resource: str, name_or_id: str) -> str:
        """As `find_resourceid_by_name_or_id`."""
        return self.find_resourceid_by_name_or_id(resource, name_or_id)

    def is_no_unique(self, ex: BaseException) -> bool:
        """Return whether the exception means that several objects have the name."""
        return type(ex).__name__ in ("NeutronClientNoUniqueMatch", "PhysicalResourceNameAmbiguity")


__all__ = ["NeutronClientPlugin", "client_plugin"]
