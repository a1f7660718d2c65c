"""OS::Neutron::VPNService and OS::Neutron::IPsecSiteConnection: virtual private networks between sites."""

from __future__ import annotations

from collections.abc import Mapping

from stoker.plugins.outcome import Done, Outcome
from stoker.plugins.resource import Call, Waiter
from stoker.resources.declare import custom, one_of
from stoker.resources.neutron.base import NeutronResource, collection
from stoker.schema.property import Attribute, Change, Property, Support, Type

EXTENSION = "vpnaas"
ADMIN_STATE_UP = Property(Type.BOOLEAN, "Whether it is enabled.", default=True, change=Change.UPDATE)
DESCRIPTION = Property(description="Its description.", change=Change.UPDATE)
NAME = Property(description="Its name.", change=Change.UPDATE)
_HIDDEN = Support("HIDDEN", "5.0.0", previous=Support("DEPRECATED", "2014.2"))
_SINCE = Support(version="2015.1")


def string_attributes(**described: str) -> dict[str, Attribute]:
    """Declare attributes that are strings, by their descriptions."""
    return {name: Attribute(description, Type.STRING) for name, description in described.items()}


class VPNService(NeutronResource):
    """The connection of a router and a subnet to virtual private networks."""

    type_name = "OS::Neutron::VPNService"
    description = "Makes a subnet behind a router reachable through virtual private networks."
    collection = collection("vpnservice", "/v2.0/vpn/vpnservices")
    extension = EXTENSION
    # A service without connections stays PENDING_CREATE.
    waits = Waiter.until("PENDING_CREATE", "ACTIVE", "DOWN", pending=("PENDING_UPDATE",), failed=("ERROR",))

    properties = {
        "name": NAME,
        "description": DESCRIPTION,
        "admin_state_up": ADMIN_STATE_UP,
        "subnet_id": Property(
            description="Older name of subnet.", constraints=custom("neutron.subnet"), support=_HIDDEN
        ),
        "subnet": Property(
            description="The subnet, by name or ID.",
            required=True,
            support=Support(version="2014.2"),
            wire="subnet_id",
            reference="neutron.subnet",
            replaces="subnet_id",
        ),
        "router_id": Property(
            description="Older name of router.",
            constraints=custom("neutron.router"),
            support=Support(
                "HIDDEN", "6.0.0", previous=Support("DEPRECATED", "2015.1", previous=Support(version="2013.2"))
            ),
        ),
        "router": Property(
            description="The router, by name or ID.",
            required=True,
            support=_SINCE,
            wire="router_id",
            reference="neutron.router",
            replaces="router_id",
        ),
    }
    attributes = string_attributes(
        admin_state_up="Whether the service is enabled.",
        description="Description of the service.",
        name="Name of the service.",
        router_id="ID of the router.",
        status="Status of the service.",
        subnet_id="ID of the subnet.",
        tenant_id="The project that owns the service.",
    )


class IPsecSiteConnection(NeutronResource):
    """A connection to another site."""

    type_name = "OS::Neutron::IPsecSiteConnection"
    description = "A connection of a VPN service to another site."
    collection = collection("ipsec_site_connection", "/v2.0/vpn/ipsec-site-connections")
    extension = EXTENSION
    waits = Waiter.until("ACTIVE", pending=("PENDING_CREATE",), failed=("ERROR",))

    properties = {
        "name": NAME,
        "description": DESCRIPTION,
        "admin_state_up": ADMIN_STATE_UP,
        "peer_address": Property(description="Address or name of the peer's gateway.", required=True),
        "peer_id": Property(description="Identity of the peer, such as its address.", required=True),
        "peer_cidrs": Property(
            Type.LIST,
            "Networks behind the peer.",
            required=True,
            items=Property(Type.STRING, "A network, as a CIDR.", constraints=custom("net_cidr")),
        ),
        "mtu": Property(Type.INTEGER, "The MTU, in bytes.", default=1500),
        "dpd": Property(
            Type.MAP,
            "Dead peer detection.",
            schema={
                "actions": Property(
                    description="What to do when the peer does not answer.",
                    default="hold",
                    constraints=one_of("clear", "disabled", "hold", "restart", "restart-by-peer"),
                    wire="action",
                ),
                "interval": Property(Type.INTEGER, "Seconds between two probes.", default=30),
                "timeout": Property(Type.INTEGER, "Seconds after which the peer is dead.", default=120),
            },
        ),
        "psk": Property(description="The pre-shared key.", required=True, secret=True),
        "initiator": Property(
            description="Who may start the connection.",
            default="bi-directional",
            constraints=one_of("bi-directional", "response-only"),
        ),
        "ikepolicy_id": Property(description="ID of the IKE policy.", required=True),
        "ipsecpolicy_id": Property(description="ID of the IPsec policy.", required=True),
        "vpnservice_id": Property(description="ID of the VPN service.", required=True),
    }
    attributes = {
        **string_attributes(
            admin_state_up="Whether the connection is enabled.",
            auth_mode="How the peers authenticate.",
            description="Description of the connection.",
            ikepolicy_id="ID of the IKE policy.",
            initiator="Who may start the connection.",
            ipsecpolicy_id="ID of the IPsec policy.",
            mtu="The MTU, in bytes.",
            name="Name of the connection.",
            peer_address="Address or name of the peer's gateway.",
            peer_id="Identity of the peer.",
            psk="The pre-shared key.",
            route_mode="How routes are found.",
            status="Status of the connection.",
            tenant_id="The project that owns the connection.",
            vpnservice_id="ID of the VPN service.",
        ),
        "dpd": Attribute("Dead peer detection.", Type.MAP),
        "peer_cidrs": Attribute("Networks behind the peer.", Type.LIST),
    }

    def status_outcome(self, call: Call, shown: Mapping[str, object] | None) -> Outcome:
        """Wait for the connection when it is created; an update of its description does not depend on the peer."""
        return Done() if shown is not None and call.action == "UPDATE" else super().status_outcome(call, shown)
