"""Octavia: load balancers, and what administrators offer for them."""

from __future__ import annotations

from stoker.plugins.resource import ResourceType
from stoker.resources.octavia.flavors import AvailabilityZone, AvailabilityZoneProfile, Flavor, FlavorProfile
from stoker.resources.octavia.health_monitor import HealthMonitor
from stoker.resources.octavia.layer7 import L7Policy, L7Rule
from stoker.resources.octavia.listener import Listener
from stoker.resources.octavia.load_balancer import LoadBalancer
from stoker.resources.octavia.pool import Pool, PoolMember
from stoker.resources.octavia.quota import Quota

TYPES: tuple[type[ResourceType], ...] = (
    AvailabilityZone,
    AvailabilityZoneProfile,
    Flavor,
    FlavorProfile,
    HealthMonitor,
    L7Policy,
    L7Rule,
    Listener,
    LoadBalancer,
    Pool,
    PoolMember,
    Quota,
)
