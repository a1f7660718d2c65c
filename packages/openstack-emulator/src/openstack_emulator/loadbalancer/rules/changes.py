"""Changes of load balancers and their parts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.loadbalancer.records import L7Policy, Pool, Provisioned
from openstack_emulator.loadbalancer.rules.drafts import Creation
from openstack_emulator.loadbalancer.rules.inputs import RequestedMember
from openstack_emulator.loadbalancer.rules.provisioning import SECONDS_TO_CHANGE, Provisioning
from openstack_emulator.loadbalancer.rules.siblings import Siblings
from openstack_emulator.loadbalancer.rules.tables import P, Tables


class Changes:
    """Changes objects, which are pending for a while."""

    def __init__(self, tables: Tables, provisioning: Provisioning, creation: Creation) -> None:
        self._tables, self._provisioning, self._creation = tables, provisioning, creation

    def change(self, caller: Context, record: Provisioned, changes: Mapping[str, Any]) -> None:
        """Set fields of an object. Raises ApiError 400 and 409."""
        balancer = self._tables.balancer(record)
        self._provisioning.require_mutable(balancer)
        after = dataclasses.replace(record, **changes)
        self._creation.consistency.check(Siblings(self._tables, caller, balancer), after)
        _become(record, after)
        self._tables.save(record)
        if isinstance(record, L7Policy) and "position" in changes:
            self._provisioning.arrange(record.listener_id, record)
        self._provisioning.begin(balancer, {"PENDING_UPDATE": [record]}, SECONDS_TO_CHANGE)

    def replace_members(
        self, caller: Context, pool: Pool, requested_members: Sequence[RequestedMember], additive: bool
    ) -> None:
        """Make a pool have these members: an address and port that it has already is changed.

        additive: members that are not requested stay; they are deleted otherwise. Raises ApiError 400, 403 and 409.
        """
        balancer = self._tables.balancer(pool)
        self._provisioning.require_mutable(balancer)
        if len({member.place for member in requested_members}) < len(requested_members):
            raise bad_request("The list of members has the same address and protocol_port twice.")
        rows = self._tables.members
        present = {(row.address, row.protocol_port): row for row in rows.select(pool_id=pool.id)}
        draft = self._creation.draft(caller, balancer)
        present_members = [
            (row, member) for member in requested_members if (row := present.pop(member.place, None)) is not None
        ]
        places = {(row.address, row.protocol_port) for row, _ in present_members}
        for member in requested_members:
            if member.place not in places:
                draft.add(member.new, pool)
        draft.store()
        for row, member in present_members:
            rows.update(row, **member.changes)
        pending: Mapping[str, Sequence[Provisioned]] = {
            "PENDING_CREATE": draft.new_records,
            "PENDING_UPDATE": [row for row, _ in present_members],
            "PENDING_DELETE": [] if additive else [*present.values()],
        }
        if any(pending.values()):
            self._provisioning.begin(balancer, pending, SECONDS_TO_CHANGE)


def _become(record: P, after: P) -> None:
    """Give an object the fields of another one."""
    for field in dataclasses.fields(after):
        setattr(record, field.name, getattr(after, field.name))
