"""What requests want to be created, with values that were checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic

from openstack_emulator.loadbalancer.records import LoadBalancer, Member, Pool
from openstack_emulator.loadbalancer.rules.tables import P


@dataclass(frozen=True, kw_only=True)
class NewObject(Generic[P]):
    """An object, with those that it is to contain.

    settings: the values of the fields that requests give, by their names. parts: the objects in it, in order. pool: of
    a listener or a policy, a pool of the same request that it uses.
    """

    kind: type[P]
    settings: Mapping[str, Any]
    parts: tuple[NewObject[Any], ...] = ()
    pool: NewPool | PoolName | None = None


@dataclass(frozen=True, kw_only=True)
class NewPool(NewObject[Pool]):
    """A pool; `listener_id` is the listener whose default pool it becomes."""

    listener_id: str | None


@dataclass(frozen=True)
class PoolName:
    """A pool that the same request contains elsewhere, by its name."""

    name: Any


@dataclass(frozen=True, kw_only=True)
class NewBalancer(NewObject[LoadBalancer]):
    """A load balancer; `project_id` is the project that gets it, the caller's without one."""

    project_id: str | None


@dataclass(frozen=True, kw_only=True)
class RequestedMember:
    """A member that a pool is to have: as a new one, and what changes of one that has its address and port."""

    new: NewObject[Member]
    changes: Mapping[str, Any]

    @property
    def place(self) -> tuple[str, int]:
        """The address and port that distinguish members."""
        return self.new.settings["address"], self.new.settings["protocol_port"]
