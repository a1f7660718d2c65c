"""How many objects, and how many bytes, containers and accounts may have."""

from __future__ import annotations

from openstack_emulator.objectstore.records import Container
from openstack_emulator.objectstore.rules.accounts import Accounts, Containers
from openstack_emulator.objectstore.rules.errors import explained
from openstack_emulator.objectstore.rules.metadata import ACCOUNT_QUOTAS, is_number
from openstack_emulator.objectstore.rules.objects import Objects

IN_BYTES, IN_OBJECTS = "x-container-meta-quota-bytes", "x-container-meta-quota-count"


class Quotas:
    """The quotas that headers of containers and accounts set."""

    def __init__(self, accounts: Accounts, containers: Containers, objects: Objects) -> None:
        self._accounts, self._containers, self._objects = accounts, containers, objects

    def admit(self, container: Container, name: str, size: int) -> None:
        """Raise ApiError 413 for an object of so many bytes that goes beyond a quota."""
        replaced = self._objects.rows.get(f"{container.id}/{name}")
        count, used = self._objects.usage(container)
        if replaced is not None:
            count, used = count - 1, used - replaced.bytes
        _refuse_beyond(container.headers.get(IN_OBJECTS), count + 1)
        _refuse_beyond(container.headers.get(IN_BYTES), used + size)
        if self._accounts.require(container.account).headers.keys() & ACCOUNT_QUOTAS.keys():
            self._admit_to_account(container, count + 1, used + size)

    def _admit_to_account(self, container: Container, count: int, used: int) -> None:
        """Refuse an object that the account may not have, after which the container would hold so much."""
        others = [
            self._objects.usage(other) for other in self._containers.of(container.account) if other.id != container.id
        ]
        totals = {"count": count + sum(number for number, _ in others), "bytes": used + sum(size for _, size in others)}
        headers = self._accounts.require(container.account).headers
        for name, what in ACCOUNT_QUOTAS.items():
            _refuse_beyond(headers.get(name), totals[what])


def _refuse_beyond(quota: str | None, requested: int) -> None:
    if quota is not None and is_number(quota) and requested > int(quota):
        raise explained(413, "Upload exceeds quota.")
