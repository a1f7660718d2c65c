"""OS::Octavia::HealthMonitor"""

from __future__ import annotations

from stoker.plugins.exclusion import Exclusion
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.resources.declare import between, one_of
from stoker.resources.octavia.allowances import HEALTH_MONITOR
from stoker.resources.octavia.base import ADMIN_STATE_UP, TENANT_ID, OctaviaResource, collection
from stoker.schema.property import Attribute, Change, Property, Support, Type


class HealthMonitor(OctaviaResource):
    """Checks of the members of a pool."""

    type_name = "OS::Octavia::HealthMonitor"
    description = "Checks whether the members of a pool work; those that do not get no connections."
    consumes = HEALTH_MONITOR
    collection = collection("healthmonitors", "healthmonitor")
    identity = None
    exclusion = Exclusion.by(("pool",))
    relations = {"pool_id": "pools"}
    support = Support(version="10.0.0")
    recovery = Recovery(
        RecoveryMethod.MATCHING_PROPERTIES,
        "A pool has one health monitor; the monitor must belong to no other resource.",
    )

    properties = {
        "admin_state_up": ADMIN_STATE_UP,
        "delay": Property(
            Type.INTEGER, "Seconds between two checks.", required=True, constraints=between(0), change=Change.UPDATE
        ),
        "expected_codes": Property(
            description="HTTP status codes of a member that works: 200, 200,202 or 200-204.", change=Change.UPDATE
        ),
        "http_method": Property(
            description="Method of the HTTP requests.",
            constraints=one_of("GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "OPTIONS", "CONNECT", "PATCH"),
            change=Change.UPDATE,
        ),
        "max_retries": Property(
            Type.INTEGER,
            "How many checks must succeed until a member gets connections again.",
            required=True,
            constraints=between(1, 10),
            change=Change.UPDATE,
        ),
        "pool": Property(
            description="The pool, by name or ID.", required=True, wire="pool_id", reference="octavia.pool"
        ),
        "timeout": Property(
            Type.INTEGER,
            "Seconds after which a check has failed.",
            required=True,
            constraints=between(0),
            change=Change.UPDATE,
        ),
        "type": Property(
            description="The kind of check.",
            required=True,
            constraints=one_of("PING", "TCP", "HTTP", "HTTPS", "UDP-CONNECT"),
        ),
        "url_path": Property(description="Path of the HTTP requests.", change=Change.UPDATE),
        "tenant_id": TENANT_ID,
    }
    attributes = {"pools": Attribute("The pool, as a list of one map with the key id.", Type.LIST)}
