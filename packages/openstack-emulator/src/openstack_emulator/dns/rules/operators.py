"""What administrators set up: top-level domains, blacklists, TSIG keys, pools; and the statuses of processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.dns.records import OperatorRecord, Pool, ServiceStatus
from openstack_emulator.dns.rules.errors import duplicate, missing
from openstack_emulator.dns.rules.pools import DEFAULT_POOL, NAME_SERVERS

PROCESSES = ("api", "central", "mdns", "producer", "worker")
T = TypeVar("T", bound=OperatorRecord)


class OperatorRecords(Rules, Generic[T]):
    """Records of one kind, of which no two have the same value in the field `unique`.

    title: the kind, in errors.
    """

    def __init__(self, records: Records, rows: Table[T], title: str, unique: str) -> None:
        super().__init__(records)
        self.rows = rows
        self._title = title
        self._unique = unique

    def create(self, constructor: Callable[..., T], body: Mapping[str, Any]) -> T:
        """Add a record of checked fields. Raises ApiError 409 when there is one with the same name."""
        self._refuse_taken(body.get(self._unique))
        return self.rows.add(constructor(id=new_id(), created_at=self.moment(), updated_at=None, **body))

    def change(self, record: T, changes: Mapping[str, Any]) -> None:
        """Change a record. Raises ApiError 409 when another one has the same name."""
        self._refuse_taken(changes.get(self._unique), record)
        self.rows.update(record, **changes, updated_at=self.moment())

    def remove(self, record: T) -> None:
        """Remove a record."""
        self.rows.remove(record)

    def _refuse_taken(self, name: str | None, owner: T | None = None) -> None:
        """Refuse the name of a record if it is that of another one than its owner."""
        if any(row is not owner for row in self.rows.select(**{self._unique: name})):
            raise duplicate(self._title)


class Pools(OperatorRecords[Pool]):
    """Pools. A zone is always in the default one: other ones have no name servers."""

    def seed(self) -> None:
        """Add the default pool."""
        self.rows.add(
            Pool(
                id=DEFAULT_POOL,
                name="default",
                description=None,
                attributes={},
                ns_records=list(NAME_SERVERS),
                project_id=None,
                created_at=self.moment(),
                updated_at=None,
            )
        )

    def remove(self, record: Pool) -> None:
        """Remove a pool. Raises ApiError 400 for the default one."""
        if record.id == DEFAULT_POOL:
            raise ApiError(400, "Not allowed to delete the default pool", "invalid_operation")
        super().remove(record)


class Processes(Rules):
    """The processes of the service."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("service_statuses", ServiceStatus, missing=missing("Service Status"))

    def seed(self) -> None:
        """Add the processes, which are all well."""
        for name in PROCESSES:
            self.rows.add(
                ServiceStatus(
                    id=new_id(),
                    service_name=name,
                    hostname="devstack",
                    status="UP",
                    stats={},
                    capabilities={},
                    created_at=self.moment(),
                    updated_at=None,
                )
            )
