"""The client plug-in of the network service."""

from __future__ import annotations

from heat.common import exception
from heat.engine.clients import client_plugin
from stoker.cloud.finders import finders
from stoker_heat_plugins.openstack_clients import OpenStackClientPlugin


class NeutronClientPlugin(OpenStackClientPlugin):
    """The client of python-neutronclient."""

    service = "neutron"

    def find_resourceid_by_name_or_id(self, resource: str, name_or_id: str, cmd_resource: str | None = None) -> str:
        """Return the ID of the object of a kind (`network`) with this name or ID."""
        finder = f"neutron.{resource}"
        if finder in finders():
            return self._found(finder, name_or_id)
        members = f"{resource[:-1]}ies" if resource.endswith("y") else f"{resource}s"
        for field in ("id", "name"):
            listed = getattr(self.client(), f"list_{members}")(**{field: name_or_id})[members]
            found = {str(item["id"]) for item in listed if item.get(field) == name_or_id}
            if len(found) > 1:
                raise exception.PhysicalResourceNameAmbiguity(name=name_or_id)
            if found:
                return found.pop()
        raise exception.EntityNotFound(entity=resource, name=name_or_id)

    find_neutron_resource = find_resourceid_by_name_or_id

    def resolve_resource(self, props: object, resource: str, name_or_id: str) -> str:
        """As `find_resourceid_by_name_or_id`."""
        return self.find_resourceid_by_name_or_id(resource, name_or_id)

    def is_no_unique(self, ex: BaseException) -> bool:
        """Return whether the exception means that several objects have the name."""
        return type(ex).__name__ in ("NeutronClientNoUniqueMatch", "PhysicalResourceNameAmbiguity")


__all__ = ["NeutronClientPlugin", "client_plugin"]
