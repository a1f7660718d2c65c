"""OS::Neutron::TaaS::TapService and OS::Neutron::TaaS::TapFlow: copies of a port's traffic."""

from __future__ import annotations

from stoker.plugins.resource import Waiter
from stoker.resources.declare import custom, matching, one_of
from stoker.resources.neutron.base import NeutronResource, collection
from stoker.schema.property import Change, Property, Support

_NAME = Property(description="Its name.", default="", change=Change.UPDATE)
_DESCRIPTION = Property(description="Its description.", default="", change=Change.UPDATE)


class Tap(NeutronResource):
    """A type of tapping as a service."""

    extension = "taas"
    support = Support(version="12.0.0")
    waits = Waiter.until("ACTIVE", failed=("ERROR",))
    deleting = Waiter.until("DELETED", pending=("ACTIVE", "DOWN", "PENDING_DELETE", "ERROR"), failed=())


class TapService(Tap):
    """Where copies of traffic arrive."""

    type_name = "OS::Neutron::TaaS::TapService"
    description = "The port where copies of other ports' traffic arrive."
    collection = collection("tap_service", "/v2.0/taas/tap_services")

    properties = {
        "name": _NAME,
        "description": _DESCRIPTION,
        "port": Property(
            description="The port where the copies arrive, by name or ID.",
            required=True,
            wire="port_id",
            reference="neutron.port",
        ),
    }


class TapFlow(Tap):
    """Whose traffic is copied."""

    type_name = "OS::Neutron::TaaS::TapFlow"
    description = "Copies the traffic of a port to a tap service."
    collection = collection("tap_flow", "/v2.0/taas/tap_flows")

    properties = {
        "name": _NAME,
        "description": _DESCRIPTION,
        "port": Property(
            description="The port whose traffic is copied, by name or ID.",
            required=True,
            wire="source_port",
            reference="neutron.port",
        ),
        "tap_service": Property(
            description="The tap service, by name or ID.",
            required=True,
            wire="tap_service_id",
            constraints=custom("neutron.taas.tap_service"),
            resolve="neutron.tap_service",
        ),
        "direction": Property(
            description="Which traffic is copied.", default="BOTH", constraints=one_of("IN", "OUT", "BOTH")
        ),
        "vlan_filter": Property(
            description="VLANs whose traffic is copied, as numbers and ranges (1,5-8).",
            constraints=matching("^([0-9]+(-[0-9]+)?)(,([0-9]+(-[0-9]+)?))*$"),
        ),
    }
