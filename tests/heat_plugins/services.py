"""A client plug-in and a constraint, which a package offers by entry points."""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.engine import constraints
from heat.engine.clients import client_plugin
from tests.heat_plugins import appliance


class ApplianceClientPlugin(client_plugin.ClientPlugin):
    exceptions_module = [appliance]

    def _create(self, version: Any = None) -> Any:
        assert self.url_for(service_type="network").startswith("http")
        assert self._get_client_option("appliance", "endpoint_type") == "public"
        assert self.auth_token and self.context.tenant_id
        return appliance.Client()

    def network_of(self, name: str) -> str:
        if name != "blue":
            raise exception.EntityNotFound(entity="network of the appliance", name=name)
        return name


class NetworkConstraint(constraints.BaseCustomConstraint):
    expected_exceptions = (exception.EntityNotFound,)

    def validate_with_client(self, client: Any, value: Any) -> None:
        client.client_plugin("appliance").network_of(value)
