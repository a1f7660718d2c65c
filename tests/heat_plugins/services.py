"""A client plug-in and a constraint, which a package offers by entry points."""

from __future__ import annotations

from typing import Any

from heat.common import exception
from heat.engine import constraints, lifecycle_plugin
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


class Auditor(lifecycle_plugin.LifecyclePlugin):
    """Notes every operation, and refuses the update of a stack to an empty template."""

    def do_pre_op(self, cnxt: Any, stack: Any, current_stack: Any = None, action: str | None = None) -> None:
        if action == "UPDATE" and not stack.t["resources"]:
            raise ValueError("An audited stack must not be emptied.")
        appliance.OPERATIONS.append(f"before {action} of {stack.name} in {cnxt.tenant_id}")

    def do_post_op(
        self,
        cnxt: Any,
        stack: Any,
        current_stack: Any = None,
        action: str | None = None,
        is_stack_failure: bool = False,
    ) -> None:
        appliance.OPERATIONS.append(f"after {action}: {is_stack_failure}")

    def get_ordinal(self) -> int:
        return 7


class ApplianceLog:
    """A sink that needs a level."""

    def __init__(self, level: str) -> None:
        self.level = level

    def consume(self, stack: Any, event: Any) -> None:
        payload = event["payload"]
        entry = f"{self.level} {payload['resource_name']} {payload['resource_status']} {stack.id}"
        appliance.OBJECTS.setdefault("log", {"entries": []})["entries"].append(entry)
