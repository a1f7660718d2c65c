"""All routes of the load-balancer service, in the order of their paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.core.cloud import Handler
from openstack_emulator.core.guards import admin
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.versions import ApiVersion, all_versions, own
from openstack_emulator.loadbalancer.routes import balancers, providers, quotas
from openstack_emulator.loadbalancer.routes.balancers import LOAD_BALANCERS
from openstack_emulator.loadbalancer.routes.objects import (
    HEALTH_MONITORS,
    L7_POLICIES,
    L7_RULES,
    LISTENERS,
    MEMBERS,
    POOLS,
)
from openstack_emulator.loadbalancer.routes.operators import FLAVOR_PROFILES, FLAVORS, ZONE_PROFILES, ZONES
from openstack_emulator.loadbalancer.rules.composition import LoadBalancing

Routes = Mapping[str, Mapping[str, Callable[[LoadBalancing, Request], Response]]]
_NEWEST_MINOR = 27
"""The API is version 2 with minor versions, which clients do not select."""
_VERSIONS = [
    ApiVersion(
        f"v2.{minor}",
        (own("/v2"),),
        "CURRENT" if minor == _NEWEST_MINOR else "SUPPORTED",
        {"updated": "2021-11-23T00:00:00Z"},
    )
    for minor in range(_NEWEST_MINOR + 1)
]

ROUTES: Routes = {
    "/availabilityzoneprofiles": {"GET": admin(ZONE_PROFILES.index), "POST": admin(ZONE_PROFILES.create)},
    "/availabilityzoneprofiles/{id}": {
        "GET": admin(ZONE_PROFILES.show),
        "PUT": admin(ZONE_PROFILES.update),
        "DELETE": admin(ZONE_PROFILES.delete),
    },
    "/availabilityzones": {"GET": ZONES.index, "POST": admin(ZONES.create)},
    "/availabilityzones/{id}": {
        "GET": ZONES.show,
        "PUT": admin(ZONES.update),
        "DELETE": admin(ZONES.delete),
    },
    "/flavorprofiles": {"GET": admin(FLAVOR_PROFILES.index), "POST": admin(FLAVOR_PROFILES.create)},
    "/flavorprofiles/{id}": {
        "GET": admin(FLAVOR_PROFILES.show),
        "PUT": admin(FLAVOR_PROFILES.update),
        "DELETE": admin(FLAVOR_PROFILES.delete),
    },
    "/flavors": {"GET": FLAVORS.index, "POST": admin(FLAVORS.create)},
    "/flavors/{id}": {"GET": FLAVORS.show, "PUT": admin(FLAVORS.update), "DELETE": admin(FLAVORS.delete)},
    "/healthmonitors": {"GET": HEALTH_MONITORS.index, "POST": HEALTH_MONITORS.create},
    "/healthmonitors/{id}": {
        "GET": HEALTH_MONITORS.show,
        "PUT": HEALTH_MONITORS.update,
        "DELETE": HEALTH_MONITORS.delete,
    },
    "/l7policies": {"GET": L7_POLICIES.index, "POST": L7_POLICIES.create},
    "/l7policies/{id}": {"GET": L7_POLICIES.show, "PUT": L7_POLICIES.update, "DELETE": L7_POLICIES.delete},
    "/l7policies/{parent_id}/rules": {"GET": L7_RULES.index, "POST": L7_RULES.create},
    "/l7policies/{parent_id}/rules/{id}": {
        "GET": L7_RULES.show,
        "PUT": L7_RULES.update,
        "DELETE": L7_RULES.delete,
    },
    "/listeners": {"GET": LISTENERS.index, "POST": LISTENERS.create},
    "/listeners/{id}": {"GET": LISTENERS.show, "PUT": LISTENERS.update, "DELETE": LISTENERS.delete},
    "/listeners/{id}/stats": {"GET": balancers.show_listener_stats},
    "/loadbalancers": {"GET": LOAD_BALANCERS.index, "POST": LOAD_BALANCERS.create},
    "/loadbalancers/{id}": {
        "GET": LOAD_BALANCERS.show,
        "PUT": LOAD_BALANCERS.update,
        "DELETE": LOAD_BALANCERS.delete,
    },
    "/loadbalancers/{id}/failover": {"PUT": admin(balancers.fail_over)},
    "/loadbalancers/{id}/stats": {"GET": balancers.show_stats},
    "/loadbalancers/{id}/status": {"GET": balancers.show_status},
    "/loadbalancers/{id}/statuses": {"GET": balancers.show_status},
    "/pools": {"GET": POOLS.index, "POST": POOLS.create},
    "/pools/{id}": {"GET": POOLS.show, "PUT": POOLS.update, "DELETE": POOLS.delete},
    "/pools/{parent_id}/members": {
        "GET": MEMBERS.index,
        "POST": MEMBERS.create,
        "PUT": balancers.replace_members,
    },
    "/pools/{parent_id}/members/{id}": {"GET": MEMBERS.show, "PUT": MEMBERS.update, "DELETE": MEMBERS.delete},
    "/providers": {"GET": providers.index},
    "/providers/{provider}/availability_zone_capabilities": {"GET": admin(providers.list_zone_capabilities)},
    "/providers/{provider}/flavor_capabilities": {"GET": admin(providers.list_flavor_capabilities)},
    "/quotas": {"GET": admin(quotas.index)},
    "/quotas/defaults": {"GET": quotas.show_default},
    "/quotas/{project_id}": {"GET": quotas.show, "PUT": admin(quotas.update), "DELETE": admin(quotas.reset)},
    "/quotas/{project_id}/default": {"GET": quotas.show_default},
}
_AMPHORAE: Routes = {
    "": {"GET": admin(providers.list_amphorae)},
    "/{id}": {"GET": admin(providers.show_amphora)},
    "/{id}/config": {"PUT": admin(providers.configure_amphora)},
    "/{id}/failover": {"PUT": admin(providers.fail_over_amphora)},
}
ROOT: Mapping[str, Mapping[str, Handler]] = {
    "/": {"GET": all_versions(*_VERSIONS)},
    **{
        f"{version}/octavia/amphorae{path}": handlers
        for version in ("/v2", "/v2.0")
        for path, handlers in _AMPHORAE.items()
    },
}
"""What is directly below the mount: the versions, and the machines that load balancers run on."""
