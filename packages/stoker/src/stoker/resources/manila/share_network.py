"""OS::Manila::ShareNetwork"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from stoker.base.errors import CloudError
from stoker.cloud.errors import NotNamed
from stoker.plugins.capabilities import ServiceValidated
from stoker.plugins.resource import Call, Sources
from stoker.resources.base import Collection, RestResource
from stoker.resources.manila.allowances import SHARE_NETWORK
from stoker.resources.wire import NOT_SENT
from stoker.schema.live import FETCHED, managed
from stoker.schema.property import Attribute, Change, Property, Support, Type
from stoker.schema.unknown import is_unknown

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud


class ShareNetwork(RestResource, ServiceValidated):
    """A network with shares in it."""

    type_name = "OS::Manila::ShareNetwork"
    description = "A network of Neutron in which share servers are created, and the directories that they use."
    consumes = SHARE_NETWORK
    collection = Collection(
        "manila", "/share-networks", "share_network", "share_networks", list_path="/share-networks/detail", owner=None
    )
    kept_after_failure = True
    consults = True
    support = Support(version="5.0.0")

    properties = {
        "name": Property(description="Name of the share network.", change=Change.UPDATE),
        "neutron_network": Property(
            description="The network, by name or ID; that of the subnet if it is not given.",
            change=Change.UPDATE,
            wire="neutron_net_id",
            reference="neutron.network",
        ),
        "neutron_subnet": Property(
            description="The subnet, by name or ID.",
            change=Change.UPDATE,
            wire="neutron_subnet_id",
            reference="neutron.subnet",
        ),
        "nova_network": Property(
            description="A network of nova-network, which no longer exists.",
            change=Change.UPDATE,
            support=Support("HIDDEN", "21.0.0"),
            wire=NOT_SENT,
            live=managed("it is refused"),
        ),
        "description": Property(description="Description of the share network.", change=Change.UPDATE),
        "security_services": Property(
            Type.LIST,
            "Security services that share servers in the network use.",
            default=[],
            items=Property(Type.STRING, "A security service, by name or ID.", resolve="manila.security_service"),
            change=Change.UPDATE,
            wire=NOT_SENT,
            live=FETCHED,
        ),
    }
    attributes = {
        "segmentation_id": Attribute("Segmentation ID of the network.", Type.STRING),
        "cidr": Attribute("Addresses of the subnet, as a CIDR.", Type.STRING),
        "ip_version": Attribute("IP version of the subnet.", Type.STRING),
        "network_type": Attribute("Type of the network.", Type.STRING),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        if properties.get("nova_network") is not None:
            yield "nova_network is not supported: use neutron_network and neutron_subnet"
        if properties.get("neutron_network") is not None and properties.get("neutron_subnet") is None:
            yield "neutron_network cannot be given without neutron_subnet"

    async def consult(self, properties: Mapping[str, object], cloud: Cloud, sources: Sources) -> Iterable[str]:
        """Check that the subnet is in the network; the constraints report objects that do not exist."""
        network, subnet = properties.get("neutron_network"), properties.get("neutron_subnet")
        if network is None or subnet is None or is_unknown(network) or is_unknown(subnet):
            return ()
        try:
            network_id = await cloud.find("neutron.network", str(network))
            actual = await _network_of(cloud, await cloud.find("neutron.subnet", str(subnet)))
        except NotNamed:
            return ()
        return () if network_id == actual else (f"the subnet {subnet} is not in the network {network}",)

    async def create_body(self, call: Call) -> dict[str, object]:
        return await _with_network(call, await super().create_body(call))

    async def update_body(self, call: Call) -> dict[str, object]:
        return await _with_network(call, await super().update_body(call))

    def needs_extras(self, call: Call) -> bool:
        return bool(call.properties["security_services"])

    async def add_extras(self, call: Call) -> None:
        if call.properties["security_services"]:
            await self._use_services(call)

    async def change_extras(self, call: Call) -> None:
        if "security_services" in call.changed:
            await self._use_services(call)

    async def _use_services(self, call: Call) -> None:
        """Make the security services of the network the declared ones."""
        declared = set(call.properties["security_services"] or ())
        current = await _services(call)
        # A network has one security service of each type, so the old one is removed before the new one is added.
        for action, changed in (("remove", current - declared), ("add", declared - current)):
            for service in sorted(changed):
                body = {f"{action}_security_service": {"security_service_id": service}}
                await call.cloud.post("manila", f"{self.member_path(call)}/action", body)

    async def observe(self, call: Call) -> Mapping[str, object] | None:
        found = await super().observe(call)
        if found is None:
            return None
        try:
            actual = await _services(call)
        except CloudError as error:
            call.report.unread["security_services"] = error.message
            return found
        call.report.compared.add("security_services")
        if actual == set(call.properties["security_services"] or ()):
            return found
        return {**found, "security_services": sorted(actual)}


async def _services(call: Call) -> set[str]:
    """Return the IDs of the network's security services."""
    params = {"share_network_id": call.physical_id}
    listed = await call.cloud.list("manila", "/security-services", "security_services", params)
    return {str(item["id"]) for item in listed}


async def _network_of(cloud: Cloud, subnet: str) -> str:
    """Return the ID of a subnet's network."""
    found = await cloud.get("neutron", f"/v2.0/subnets/{quote(subnet, safe='')}")
    return str(found["subnet"]["network_id"])


async def _with_network(call: Call, body: dict[str, Any]) -> dict[str, object]:
    """Return the body with the subnet's network, unless the template gives the network."""
    subnet = body.get("neutron_subnet_id")
    if not subnet or call.properties.get("neutron_network") is not None:
        return body
    return {**body, "neutron_net_id": await _network_of(call.cloud, subnet)}
