"""Accounts and their containers."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.objectstore.records import Account, Container
from openstack_emulator.objectstore.rules.errors import constrained, refused
from openstack_emulator.objectstore.rules.objects import Objects
from openstack_emulator.objectstore.rules.syncing import ContainerSync
from openstack_emulator.objectstore.rules.times import VersionClock

LONGEST_NAME = 256


class Accounts(Rules):
    """The accounts of projects: each comes into being when it is first used."""

    def __init__(self, records: Records, ticks: VersionClock) -> None:
        super().__init__(records)
        self._ticks = ticks
        self.rows = records.table("accounts", Account, missing=lambda key: refused(404))

    def require(self, name: str) -> Account:
        """The account, which may be a new one."""
        known = self.rows.get(name)
        if known is not None:
            return known
        project_id = name.partition("_")[2]
        return self.rows.add(Account(id=name, project_id=project_id, headers={}, created=self._ticks.tick()))

    def change(self, account: Account, headers: Mapping[str, str]) -> None:
        """Replace the headers of an account."""
        account.headers = dict(headers)
        self.rows.save(account)


class Containers(Rules):
    """The containers of all accounts."""

    def __init__(
        self,
        records: Records,
        rows: Table[Container],
        accounts: Accounts,
        objects: Objects,
        syncing: ContainerSync,
        ticks: VersionClock,
    ) -> None:
        super().__init__(records)
        self.rows = rows
        self._accounts, self._objects, self._syncing, self._ticks = accounts, objects, syncing, ticks

    def of(self, account: str) -> list[Container]:
        """The containers of an account."""
        return self.rows.select(account=account)

    def find(self, account: str, name: str) -> Container | None:
        """The container, if there is one."""
        return self.rows.get(f"{account}/{name}")

    def require(self, account: str, name: str) -> Container:
        """The container. Raises ApiError 404."""
        return self.rows.require(f"{account}/{name}")

    def put(self, account: str, name: str, headers: Mapping[str, str]) -> tuple[Container, bool]:
        """Make the container, or change its headers; the container and whether it is new. Raises ApiError 400.

        One with a partner sends all that it has.
        """
        if len(name) > LONGEST_NAME:
            raise constrained(f"Container name length of {len(name)} longer than {LONGEST_NAME}")
        known = self.find(account, name)
        container = known or self._add(self._accounts.require(account), name, headers)
        if known is not None:
            known.headers = dict(headers)
            self.rows.save(known)
        self._syncing.send_all(container)
        return container, known is None

    def _add(self, account: Account, name: str, headers: Mapping[str, str]) -> Container:
        return self.rows.add(
            Container(
                id=f"{account.id}/{name}",
                account=account.id,
                project_id=account.project_id,
                name=name,
                headers=dict(headers),
                created=self._ticks.tick(),
            )
        )

    def delete(self, container: Container) -> None:
        """Delete an empty container. Raises ApiError 409 for another one."""
        if self._objects.of(container):
            raise refused(409)
        self.rows.remove(container)
