"""The base class of constraints on objects of the network service."""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.engine import constraints


class NeutronConstraint(constraints.BaseCustomConstraint):
    """The value is the name or ID of an object of the kind `resource_name` (`network`).

    The service has to have loaded the extension `extension`, if the class names one.
    """

    expected_exceptions = (exception.EntityNotFound, exception.PhysicalResourceNameAmbiguity)
    resource_client_name = "neutron"
    resource_name: str | None = None
    cmd_resource: str | None = None
    extension: str | None = None

    def validate_with_client(self, client: Any, value: object) -> None:
        plugin = client.client_plugin("neutron")
        if self.extension and not plugin.has_extension(self.extension):
            raise exception.EntityNotFound(entity="neutron extension", name=self.extension)
        plugin.find_resourceid_by_name_or_id(self.resource_name, value)
