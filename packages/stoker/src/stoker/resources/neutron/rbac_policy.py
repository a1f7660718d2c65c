"""OS::Neutron::RBACPolicy"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stoker.plugins.exclusion import Exclusion
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call
from stoker.resources.base import Collection
from stoker.resources.declare import one_of
from stoker.resources.neutron.allowances import RBAC_POLICIES, counts
from stoker.resources.neutron.base import NeutronResource
from stoker.schema.live import LISTED
from stoker.schema.property import Change, Property, Support
from stoker.schema.unknown import is_unknown

_EXTERNAL = "access_as_external"


async def _object(kind: NeutronResource, call: Call, shown: Mapping[str, object]) -> str:
    """Return the recorded name or ID, if it is that of the object."""
    given = str(call.properties["object_id"])
    object_id = await call.cloud.find(f"neutron.{call.properties['object_type']}", given)
    return given if shown["object_id"] == object_id else str(shown["object_id"])


class RBACPolicy(NeutronResource):
    """The permission of another project to use an object."""

    type_name = "OS::Neutron::RBACPolicy"
    description = "Permits another project to use an object of the network service."
    consumes = counts(RBAC_POLICIES)
    collection = Collection("neutron", "/v2.0/rbac-policies", "rbac_policy", "rbac_policies")
    identity = None
    exclusion = Exclusion.by(("object_type", "object_id", "target_tenant", "action"))
    extension = "rbac-policies"
    readers = {"object_id": _object}
    support = Support(version="6.0.0")
    recovery = Recovery(
        RecoveryMethod.MATCHING_PROPERTIES,
        "There is one policy for an object, an action and a project; it must belong to no other resource.",
    )

    properties = {
        "object_type": Property(
            description="Kind of the object.",
            required=True,
            constraints=one_of("network", "qos_policy", "security_group", "address_scope", "subnetpool"),
        ),
        "target_tenant": Property(
            description="The project that may use the object; * for all.", required=True, change=Change.UPDATE
        ),
        "action": Property(
            description="How the object may be used.",
            required=True,
            constraints=one_of("access_as_shared", _EXTERNAL),
        ),
        "object_id": Property(description="The object, by name or ID.", required=True, live=LISTED),
        "tenant_id": Property(description="The project that owns the policy; for administrators."),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        kind, action = properties.get("object_type"), properties.get("action")
        if action == _EXTERNAL and kind != "network" and not is_unknown(kind):
            yield f"action {_EXTERNAL} is only possible for object_type network, not {kind}"

    async def create_body(self, call: Call) -> dict[str, object]:
        body = await super().create_body(call)
        return {**body, "object_id": await call.cloud.find(f"neutron.{body['object_type']}", str(body["object_id"]))}
