"""Record the rows of a Heat database as JSON, for the tests that take it over without a Heat."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import MetaData, create_engine, select

TABLES = (
    "stack", "raw_template", "raw_template_files", "resource", "resource_data", "resource_properties_data", "event",
    "stack_tag", "user_creds", "snapshot", "resource_snapshot", "software_config", "software_deployment",
    "alembic_version",
)  # fmt: skip


def dump(url: str, path: Path) -> None:
    """Write the columns and rows of every table of stacks."""
    engine = create_engine(url)
    metadata = MetaData()
    lines = []
    with engine.connect() as connection:
        metadata.reflect(connection, only=TABLES, resolve_fks=False)
        for name in TABLES:
            table = metadata.tables[name]
            found = connection.execute(select(table).order_by(*table.primary_key))
            rows = ",\n".join(json.dumps([_plain(value) for value in row], separators=(",", ":")) for row in found)
            columns = json.dumps({column.name: _kind(column.type.python_type) for column in table.columns})
            lines.append(f'"{name}": {{"columns": {columns}, "rows": [\n{rows}\n]}}')
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _kind(kind: type) -> str:
    return kind.__name__


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat(sep=" ")
    return value.decode() if isinstance(value, bytes) else value
