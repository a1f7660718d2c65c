"""OS::Nova::ServerGroup"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.base.errors import NotSupported
from stoker.plugins.preflight import Consumption
from stoker.plugins.resource import Call
from stoker.resources.base import Collection, RestResource
from stoker.resources.declare import one_of
from stoker.resources.nova.allowances import SERVER_GROUPS
from stoker.schema.live import LISTED
from stoker.schema.property import Property, Support, Type

ONE_POLICY = "2.64"
"""From this microversion on a group has a single policy, and rules."""


async def _policies(kind: ServerGroup, call: Call, shown: Mapping[str, Any]) -> object:
    """Return the policies, of which only the first is used; newer versions of Nova show one."""
    live = [shown["policy"]] if "policy" in shown else shown["policies"]
    return call.properties["policies"] if live[:1] == call.properties["policies"][:1] else live


class ServerGroup(RestResource):
    """A set of servers that the scheduler keeps together or apart."""

    type_name = "OS::Nova::ServerGroup"
    description = "A set of servers that the scheduler keeps together or apart."
    consumes = (Consumption(SERVER_GROUPS),)
    support = Support(version="2014.2")
    collection = Collection(
        "nova",
        "/os-server-groups",
        "server_group",
        "server_groups",
        created_field=None,
        owner=None,
        filters_names=False,
    )
    kept_after_failure = True
    readers = {"policies": _policies}

    properties = {
        "name": Property(description="Name of the group."),
        "policies": Property(
            Type.LIST,
            "How its servers are placed; only the first policy is used.",
            default=["anti-affinity"],
            items=Property(Type.STRING, "A policy."),
            constraints=one_of("anti-affinity", "affinity", "soft-anti-affinity", "soft-affinity"),
            live=LISTED,
        ),
        "rules": Property(
            Type.MAP,
            "Rules for the policy.",
            schema={
                "max_server_per_host": Property(Type.NUMBER, "Maximum number of servers of the group on one host."),
            },
            support=Support(version="17.0.0"),
        ),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        if properties["policies"] == []:
            yield "policies: must name a policy"

    async def create_body(self, call: Call) -> dict[str, object]:
        body: dict[str, Any] = await super().create_body(call)
        rules = body.pop("rules", None)
        if not await call.cloud.supports("nova", ONE_POLICY):
            if rules:
                raise NotSupported(
                    f"This cloud's Nova does not support rules of server groups (microversion {ONE_POLICY})."
                )
            return body
        body["policy"] = body.pop("policies")[0]
        if rules:
            body["rules"] = {key: int(value) for key, value in rules.items()}
        return body
