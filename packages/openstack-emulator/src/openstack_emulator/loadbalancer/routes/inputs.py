"""What the bodies of requests want to be created. Every function raises ApiError 400 for a body that is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from operator import itemgetter
from typing import Any

from openstack_emulator.loadbalancer.records import (
    HealthMonitor,
    L7Policy,
    L7Rule,
    Listener,
    LoadBalancer,
    Member,
    Pool,
)
from openstack_emulator.loadbalancer.routes import forms
from openstack_emulator.loadbalancer.rules.consistency import TARGETS, check_session, require_target
from openstack_emulator.loadbalancer.rules.inputs import NewBalancer, NewObject, NewPool, PoolName, RequestedMember

NOT_KEPT = frozenset(
    {
        "default_pool", "healthmonitor", "l7policies", "listener_id", "listeners", "loadbalancer_id", "members",
        "pool_id", "pools", "project_id", "redirect_pool", "rules", "tenant_id",
    }
)  # fmt: skip
"""Fields that are not settings of an object: the objects in it and around it, and its project."""


_IN_BALANCER = itemgetter("pools", "listeners")
_IN_LISTENER = itemgetter("l7policies", "default_pool")
_IN_POOL = itemgetter("members", "healthmonitor", "session_persistence", "listener_id")
_IN_POLICY = itemgetter("rules", "redirect_pool", "action")


def new_balancer(body: object) -> NewBalancer:
    """A load balancer, with the pools and listeners in it."""
    values = forms.LOAD_BALANCER.values(body)
    pools, listeners = _IN_BALANCER(values)
    return NewBalancer(
        kind=LoadBalancer,
        settings={**_settings(values), "provider": values["provider"] or "amphora"},
        parts=(*map(new_pool, pools), *map(new_listener, listeners)),
        project_id=values["project_id"] or values["tenant_id"],
    )


def new_listener(body: object) -> NewObject[Listener]:
    """A listener, with the policies in it and its default pool."""
    values = forms.LISTENER.values(body)
    policies, pool = _IN_LISTENER(values)
    parts = tuple(map(new_policy, policies))
    return NewObject(kind=Listener, settings=_settings(values), parts=parts, pool=_pool(pool))


def new_pool(body: object) -> NewPool:
    """A pool, with the members and the health monitor in it."""
    values = forms.POOL.values(body)
    members, monitor, persistence, listener_id = _IN_POOL(values)
    check_session(persistence)
    parts: list[NewObject[Any]] = [new_member(member) for member in members]
    if monitor is not None:
        parts.append(new_monitor(monitor))
    return NewPool(kind=Pool, settings=_settings(values), parts=tuple(parts), listener_id=listener_id)


def new_member(body: object) -> NewObject[Member]:
    """A member of a pool."""
    return NewObject(kind=Member, settings=_settings(forms.MEMBER.values(body)))


def requested_member(body: Any) -> RequestedMember:
    """A member that a pool is to have; what it has already keeps the fields that are not given."""
    new = new_member(body)
    changes = {
        name: new.settings[name] for name in body if name in new.settings and not forms.MEMBER.fields[name].fixed
    }
    return RequestedMember(new=new, changes=changes)


def new_monitor(body: object) -> NewObject[HealthMonitor]:
    """A health monitor of a pool."""
    return NewObject(kind=HealthMonitor, settings=_settings(forms.HEALTH_MONITOR.values(body)))


def new_policy(body: object) -> NewObject[L7Policy]:
    """A policy of a listener, with the rules in it and the pool that it redirects to."""
    values = forms.L7_POLICY.values(body)
    rules, pool, action = _IN_POLICY(values)
    target = values.get(TARGETS.get(action, "")) or (pool if action == "REDIRECT_TO_POOL" else None)
    require_target(action, target)
    parts = tuple(map(new_rule, rules))
    return NewObject(kind=L7Policy, settings=_settings(values), parts=parts, pool=_pool(pool))


def new_rule(body: object) -> NewObject[L7Rule]:
    """A rule of a policy."""
    return NewObject(kind=L7Rule, settings=_settings(forms.L7_RULE.values(body)))


def _pool(body: object) -> NewPool | PoolName | None:
    """The pool that an object uses: a new one, or one of the same request by its name alone."""
    if body is None:
        return None
    return PoolName(body["name"]) if isinstance(body, dict) and body.keys() == {"name"} else new_pool(body)


def _settings(values: Mapping[str, object]) -> Mapping[str, object]:
    return {name: value for name, value in values.items() if name not in NOT_KEPT}
