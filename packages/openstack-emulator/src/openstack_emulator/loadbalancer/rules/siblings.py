"""The objects of one load balancer that a request sees: those that are stored, and those that it creates."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.loadbalancer.records import LoadBalancer, Provisioned
from openstack_emulator.loadbalancer.rules.tables import TITLES, P, Tables


class Siblings:
    """The objects of a load balancer, for a caller; `new_records` are those that are not stored yet."""

    def __init__(self, tables: Tables, caller: Context, balancer: LoadBalancer) -> None:
        self.tables, self.caller, self.balancer = tables, caller, balancer
        self.new_records: list[Provisioned] = []

    def of(self, record: P, **equals: Any) -> list[P]:
        """The other objects of the kind of an object, with these values."""
        kind = type(record)
        stored = self.tables.of(kind).select(load_balancer_id=self.balancer.id, **equals)
        drafted = [
            sibling
            for sibling in self.new_records
            if isinstance(sibling, kind) and all(getattr(sibling, name) == value for name, value in equals.items())
        ]
        return [sibling for sibling in (*stored, *drafted) if sibling.id != record.id]

    def part(self, kind: type[P], key: str) -> P:
        """An object of this load balancer. Raises ApiError 404, 403, or 400 for another's."""
        drafted = next(
            (sibling for sibling in self.new_records if isinstance(sibling, kind) and sibling.id == key), None
        )
        found = drafted or self.tables.reach(self.caller, kind, key)
        if found.load_balancer_id != self.balancer.id:
            raise bad_request(f"{TITLES[kind]} {key} belongs to another load balancer than {self.balancer.id}.")
        return found
