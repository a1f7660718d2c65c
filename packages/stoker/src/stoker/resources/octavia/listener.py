"""OS::Octavia::Listener"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stoker.plugins.exclusion import Exclusion
from stoker.resources.declare import between, custom, one_of
from stoker.resources.octavia.allowances import LISTENER
from stoker.resources.octavia.base import ADMIN_STATE_UP, NAME, TENANT_ID, OctaviaResource, collection
from stoker.schema.property import Attribute, Change, Property, Support, Type


class Listener(OctaviaResource):
    """A port of a load balancer."""

    type_name = "OS::Octavia::Listener"
    description = "A protocol and port on which a load balancer accepts connections."
    consumes = LISTENER
    collection = collection("listeners", "listener")
    exclusion = Exclusion.by(("loadbalancer", "protocol_port"))
    relations = {"loadbalancer_id": "loadbalancers"}
    support = Support(version="10.0.0")

    properties = {
        "name": NAME,
        "description": Property(description="Its description.", default="", change=Change.UPDATE),
        "loadbalancer": Property(
            description="The load balancer, by name or ID.",
            required=True,
            wire="loadbalancer_id",
            reference="octavia.loadbalancer",
        ),
        "default_pool": Property(
            description="The pool that gets the connections, by name or ID.",
            change=Change.UPDATE,
            wire="default_pool_id",
            reference="octavia.pool",
        ),
        "protocol": Property(
            description="The protocol.",
            required=True,
            constraints=one_of("TCP", "HTTP", "HTTPS", "TERMINATED_HTTPS", "PROXY", "UDP"),
        ),
        "protocol_port": Property(Type.INTEGER, "The port.", required=True, constraints=between(1, 65535)),
        "connection_limit": Property(
            Type.INTEGER,
            "How many connections are accepted at the same time; -1 for any number.",
            default=-1,
            constraints=between(-1),
            change=Change.UPDATE,
        ),
        "default_tls_container_ref": Property(
            description="URL of the certificate in the key manager, for TERMINATED_HTTPS.", change=Change.UPDATE
        ),
        "sni_container_refs": Property(
            Type.LIST, "URLs of the certificates for Server Name Indication.", change=Change.UPDATE
        ),
        "allowed_cidrs": Property(
            Type.LIST,
            "Networks whose connections are accepted; all if not given.",
            items=Property(Type.STRING, "A network, as a CIDR.", constraints=custom("net_cidr")),
            change=Change.UPDATE,
            support=Support(version="14.0.0"),
        ),
        "admin_state_up": ADMIN_STATE_UP,
        "tenant_id": TENANT_ID,
    }
    attributes = {
        "loadbalancers": Attribute("The load balancer, as a list of one map with the key id.", Type.LIST),
        "default_pool_id": Attribute("ID of the pool that gets the connections.", Type.STRING),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        if properties.get("protocol") == "TERMINATED_HTTPS" and properties.get("default_tls_container_ref") is None:
            yield "default_tls_container_ref must be given for protocol TERMINATED_HTTPS"
