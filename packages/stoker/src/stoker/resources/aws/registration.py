"""Registration of the members of instance groups with load balancers of the same stack.

A group records in its data which of its members serve, and notifies its load balancers, which read the data of all
groups. The data is the only record: a load balancer that was busy when it was notified reads it with its next action.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from stoker.base.errors import ActionInProgress, BadValue
from stoker.plugins.resource import Call, Neighbour, NoActionRequired

LOG = logging.getLogger(__name__)

LOAD_BALANCER = "AWS::ElasticLoadBalancing::LoadBalancer"
GROUPS = ("AWS::AutoScaling::AutoScalingGroup", "OS::Heat::InstanceGroup")

_REGISTERED = "registered_instances"


class InstancesChanged:
    """The message to a load balancer that the registered instances of a group have changed."""


async def register(call: Call, instances: Sequence[object]) -> None:
    """Register the group's serving members, by reference ID, with its load balancers, in place of the former ones.

    Raises BadValue if `LoadBalancerNames` has a name that is not that of a load balancer in the stack.
    """
    names = call.properties["LoadBalancerNames"] or []
    for name in names:
        found = await call.engine.neighbours.by_reference(name)
        if found is None or found.type != LOAD_BALANCER:
            raise BadValue(f"LoadBalancerNames: {name!r} is not the reference of a load balancer in this stack")
    if call.data.get(_REGISTERED, []) == list(instances):
        return
    call.data[_REGISTERED] = list(instances)
    for name in names:
        try:
            await call.engine.neighbours.send(name, InstancesChanged())
        except (ActionInProgress, NoActionRequired) as busy:
            LOG.info("load balancer %s of stack %s is not configured now: %s", name, call.stack.name, busy)


async def registered(call: Call) -> list[object]:
    """Return the reference IDs of all instances that groups have registered with the load balancer of the call."""
    groups: list[Neighbour] = [group for kind in GROUPS for group in await call.engine.neighbours.of_type(kind)]
    return [
        instance
        for group in groups
        if call.resource.name in (group.properties.get("LoadBalancerNames") or ())
        for instance in group.data.get(_REGISTERED, ())
    ]
