"""Data sources: the objects of the cloud's services as tables."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.core.http import Request
from openstack_emulator.core.internal import call_service
from openstack_emulator.core.rules import Rules
from openstack_emulator.policy.records import DataSource
from openstack_emulator.policy.rules.drivers import DRIVERS, Driver, Table
from openstack_emulator.policy.rules.evaluation import Row
from openstack_emulator.policy.rules.language import Value


class Sources(Rules):
    """The data sources; a new cloud has one for each driver."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("datasources", DataSource, "name")

    def seed(self) -> None:
        for name, driver in self.drivers().items():
            self._add(name, name, driver.description)

    def drivers(self) -> dict[str, Driver]:
        """Return the drivers of the services that the cloud has."""
        return {name: driver for name, driver in DRIVERS.items() if self.cloud.has_service(driver.service)}

    def add(self, name: str, driver: object, description: str) -> DataSource:
        """Add a data source. Raises ApiError: 400 for an unknown driver, or 409 for a name that is in use."""
        if not isinstance(driver, str) or driver not in self.drivers():
            raise bad_request(f"Invalid driver {driver}")
        if self.rows.first(name=name) is not None:
            raise conflict(f"Datasource with name {name} already exists")
        return self._add(name, driver, description)

    def _add(self, name: str, driver: str, description: str) -> DataSource:
        return self.rows.add(
            DataSource(
                id=new_id(), name=name, driver=driver, description=description, type=None, enabled=True, config={}
            )
        )

    def find(self, key: str) -> DataSource:
        """Return a data source by ID or name. Raises ApiError 404."""
        return self.rows.get(key) or self.rows.first(name=key) or self.rows.require(key)

    def tables(self, row: DataSource) -> Mapping[str, Table]:
        """Return the tables of a data source; none if the cloud no longer has the service."""
        driver = self.drivers().get(row.driver)
        return {} if driver is None else driver.tables

    def columns(self, name: str, table: str) -> list[str] | None:
        """Return the columns of a table of the data source with a name; None without such a table."""
        row = self.rows.first(name=name)
        found = None if row is None else self.tables(row).get(table)
        return None if found is None else list(found.columns)

    def read(self, request: Request, row: DataSource, name: str) -> list[Row]:
        """Return the rows of a table, as the caller of the request may see them. Raises ApiError."""
        table = self.tables(row)[name]
        path = table.path % {"project_id": request.context.project_id}
        listed = call_service(self.cloud, request, "GET", path, query=table.query)[table.members]
        return list(
            dict.fromkeys(
                tuple(_cell(entry, around, path) for path in table.columns.values())
                for entry, around in _entries(table, listed)
            )
        )


def _entries(table: Table, listed: list[Any]) -> Iterator[tuple[Any, Any]]:
    for around in listed:
        for entry in around.get(table.each) or [] if table.each else [around]:
            yield entry, around


def _cell(entry: object, around: object, path: str) -> Value:
    """Return a value of a row: a number or a string."""
    found = around if path.startswith("^") else entry
    for part in path.removeprefix("^").split(".") if path else []:
        found = found.get(part) if isinstance(found, dict) else None
    if isinstance(found, str | int | float) and not isinstance(found, bool):
        return found
    return json.dumps(found) if isinstance(found, dict | list) else str(found)
