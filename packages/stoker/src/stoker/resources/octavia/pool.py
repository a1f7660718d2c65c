"""OS::Octavia::Pool and OS::Octavia::PoolMember: what gets the connections."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from stoker.plugins.exclusion import Exclusion
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.resources.declare import between, custom, one_of
from stoker.resources.octavia.allowances import POOL
from stoker.resources.octavia.base import ADMIN_STATE_UP, NAME, OctaviaResource, collection
from stoker.resources.wire import NOT_SENT
from stoker.schema.property import Attribute, Change, Property, Support, Type
from stoker.schema.unknown import is_unknown


class Pool(OctaviaResource):
    """Members that share connections."""

    type_name = "OS::Octavia::Pool"
    description = "A pool of members that connections are distributed to."
    consumes = POOL
    collection = collection("pools", "pool")
    exclusion = Exclusion.by(("listener",))
    relations = {"loadbalancer_id": "loadbalancers", "listener_id": "listeners"}
    support = Support(version="10.0.0")

    properties = {
        "name": NAME,
        "description": Property(description="Its description.", default="", change=Change.UPDATE),
        "admin_state_up": ADMIN_STATE_UP,
        "lb_algorithm": Property(
            description="How a member is chosen.",
            required=True,
            constraints=one_of("ROUND_ROBIN", "LEAST_CONNECTIONS", "SOURCE_IP", "SOURCE_IP_PORT"),
            change=Change.UPDATE,
        ),
        "protocol": Property(
            description="The protocol of connections to members.",
            required=True,
            constraints=one_of("TCP", "HTTP", "HTTPS", "TERMINATED_HTTPS", "PROXY", "UDP"),
        ),
        "listener": Property(
            description="The listener whose default pool this is, by name or ID.",
            wire="listener_id",
            reference="octavia.listener",
        ),
        "loadbalancer": Property(
            description="The load balancer, by name or ID.", wire="loadbalancer_id", reference="octavia.loadbalancer"
        ),
        "session_persistence": Property(
            Type.MAP,
            "How further connections of a client get to the same member.",
            schema={
                "type": Property(
                    description="What identifies a client.",
                    required=True,
                    constraints=one_of("SOURCE_IP", "HTTP_COOKIE", "APP_COOKIE"),
                ),
                "cookie_name": Property(description="Name of the cookie, for APP_COOKIE."),
            },
            change=Change.UPDATE,
        ),
        "tls_enabled": Property(
            Type.BOOLEAN,
            "Whether connections to members are encrypted.",
            default=False,
            change=Change.UPDATE,
            support=Support(version="14.0.0"),
        ),
    }
    attributes = {
        "healthmonitor_id": Attribute("ID of the health monitor.", Type.STRING),
        "listeners": Attribute("The listeners whose default pool this is, as a list of maps with id.", Type.STRING),
        "members": Attribute("The members, as a list of maps with the key id.", Type.LIST, live=True),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        if properties.get("listener") is None and properties.get("loadbalancer") is None:
            yield "listener or loadbalancer must be given"
        persistence = properties.get("session_persistence")
        if not isinstance(persistence, Mapping) or is_unknown(persistence):
            return
        kind, cookie = persistence.get("type"), persistence.get("cookie_name")
        if kind == "APP_COOKIE" and not cookie:
            yield "session_persistence.cookie_name must be given for type APP_COOKIE"
        if kind == "SOURCE_IP" and cookie:
            yield "session_persistence.cookie_name cannot be given for type SOURCE_IP"


class PoolMember(OctaviaResource):
    """A server in a pool."""

    type_name = "OS::Octavia::PoolMember"
    description = "A member of a pool: an address and port that gets connections."
    collection = collection("pools/{pool}/members", "member")
    exclusion = Exclusion.by(("pool", "address", "protocol_port"))
    identity = None
    support = Support(version="10.0.0")
    recovery = Recovery(
        RecoveryMethod.MATCHING_PROPERTIES,
        "A pool has one member with an address and port; the member must belong to no other resource.",
    )

    properties = {
        "pool": Property(
            description="The pool, by name or ID.", required=True, wire=NOT_SENT, reference="octavia.pool"
        ),
        "address": Property(description="The address.", required=True, constraints=custom("ip_addr")),
        "protocol_port": Property(Type.INTEGER, "The port.", required=True, constraints=between(1, 65535)),
        "monitor_address": Property(
            description="The address that is monitored, if not the member's.", constraints=custom("ip_addr")
        ),
        "monitor_port": Property(
            Type.INTEGER, "The port that is monitored, if not the member's.", constraints=between(1, 65535)
        ),
        "weight": Property(
            Type.INTEGER,
            "Share of connections in comparison with other members; 0 for no new ones.",
            default=1,
            constraints=between(0, 256),
            change=Change.UPDATE,
        ),
        "admin_state_up": ADMIN_STATE_UP,
        "subnet": Property(
            description="The subnet of the address, by name or ID.", wire="subnet_id", reference="neutron.subnet"
        ),
        "tags": Property(Type.LIST, "Tags of the member.", change=Change.UPDATE, support=Support(version="13.0.0")),
    }
