"""Octavia: load balancers, and what administrators offer for them."""

from __future__ import annotations

from stoker.plugins.on_demand import TypesOnDemand

TYPES = TypesOnDemand(
    __name__,
    {
        "OS::Octavia::AvailabilityZone": "flavors:AvailabilityZone",
        "OS::Octavia::AvailabilityZoneProfile": "flavors:AvailabilityZoneProfile",
        "OS::Octavia::Flavor": "flavors:Flavor",
        "OS::Octavia::FlavorProfile": "flavors:FlavorProfile",
        "OS::Octavia::HealthMonitor": "health_monitor:HealthMonitor",
        "OS::Octavia::L7Policy": "layer7:L7Policy",
        "OS::Octavia::L7Rule": "layer7:L7Rule",
        "OS::Octavia::Listener": "listener:Listener",
        "OS::Octavia::LoadBalancer": "load_balancer:LoadBalancer",
        "OS::Octavia::Pool": "pool:Pool",
        "OS::Octavia::PoolMember": "pool:PoolMember",
        "OS::Octavia::Quota": "quota:Quota",
    },
)
