"""Make many stacks in a Heat database by duplicating the rows of those that are there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, MetaData, Table, create_engine, func, insert, select, text

_COPIED = (
    "resource_properties_data",
    "raw_template_files",
    "raw_template",
    "stack",
    "resource",
    "resource_data",
    "event",
)
_REFERENCES: Mapping[str, Mapping[str, str]] = {
    "raw_template": {"files_id": "raw_template_files"},
    "stack": {"raw_template_id": "raw_template", "prev_raw_template_id": "raw_template", "owner_id": "stack"},
    "resource": {
        "stack_id": "stack", "root_stack_id": "stack", "current_template_id": "raw_template", "nova_instance": "stack",
        "rsrc_prop_data_id": "resource_properties_data", "attr_data_id": "resource_properties_data",
        "replaces": "resource", "replaced_by": "resource",
    },
    "resource_data": {"resource_id": "resource"},
    "event": {"stack_id": "stack", "rsrc_prop_data_id": "resource_properties_data"},
}  # fmt: skip
"""Columns that contain the ID of a row of another table; for `nova_instance`, of nested stacks only."""

Rows = dict[str, list[dict[str, Any]]]


def duplicate(url: str, stacks: int) -> int:
    """Add copies of all stacks until there are at least as many; return the number."""
    engine = create_engine(url)
    metadata = MetaData()
    with engine.begin() as connection:
        metadata.reflect(connection, only=_COPIED, resolve_fks=False)
        if connection.dialect.name == "mysql":
            connection.execute(text("SET foreign_key_checks = 0"))
        tables = {name: metadata.tables[name] for name in _COPIED}
        rows = {
            name: [dict(row._mapping) for row in connection.execute(select(table))] for name, table in tables.items()
        }
        first = {name: _highest(connection, table) + 1 for name, table in tables.items()}
        number, total = 0, len(rows["stack"])
        while total < stacks:
            number += 1
            _copy(connection, tables, rows, first, number)
            total += len(rows["stack"])
    engine.dispose()
    return total


def _highest(connection: Connection, table: Table) -> int:
    found = connection.execute(select(func.max(table.c.id))).scalar()
    return found if isinstance(found, int) else 0


def _copy(connection: Connection, tables: Mapping[str, Table], rows: Rows, first: dict[str, int], number: int) -> None:
    ids: dict[str, dict[Any, Any]] = {}
    for name, table in tables.items():
        if name == "stack":
            ids[name] = {row["id"]: str(uuid4()) for row in rows[name]}
        else:
            ids[name] = {row["id"]: first[name] + index for index, row in enumerate(rows[name])}
            first[name] += len(rows[name])
        made = []
        for row in rows[name]:
            copy = {**row, "id": ids[name][row["id"]]}
            for column, target in _REFERENCES.get(name, {}).items():
                copy[column] = ids[target].get(row[column], row[column])
            if name == "resource" and row["nova_instance"] and copy["nova_instance"] == row["nova_instance"]:
                copy["nova_instance"] = f"{row['nova_instance']}-{number}"  # an object has one owner
            if "uuid" in copy:
                copy["uuid"] = str(uuid4())
            if name == "stack":
                copy["name"] = f"{row['name']}-{number}"
            made.append(copy)
        if made:
            connection.execute(insert(table), made)
