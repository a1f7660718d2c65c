"""A Heat database in SQLite, with the rows of a real Heat 27 (`heat27.json`), which encrypts parameters and properties.

`python -m tools.conformance.takeover` made the stacks (testing/heat_stacks.yaml) and recorded the rows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Boolean, Column, DateTime, Integer, MetaData, String, Table, create_engine, insert

RECORDED = Path(__file__).with_name("heat27.json")
ENCRYPTION_KEY = "0123456789abcdef0123456789abcdef"
"""The auth_encryption_key of that Heat."""

_KINDS = {"int": Integer, "str": String, "bool": Boolean, "datetime": DateTime, "bytes": String}

Rows = dict[str, list[dict[str, Any]]]


def make(
    path: Path,
    project: str,
    change: Callable[[Rows], object] = lambda rows: None,
    without: Mapping[str, Collection[str]] | None = None,
) -> str:
    """Write the database, with all stacks in one project, and return its URL; `change` can edit the rows before.

    `without` are columns by table that the database does not have; for a table without all of them, none are named.
    """
    recorded = json.loads(RECORDED.read_text())
    tables = {name: list(table["columns"]) for name, table in recorded.items()}
    rows = {
        name: [dict(zip(tables[name], row, strict=True)) for row in table["rows"]] for name, table in recorded.items()
    }
    for each in rows.values():
        for row in each:
            row.update({name: project for name in ("tenant", "tenant_id") if row.get(name)})
    change(rows)
    metadata, made = MetaData(), {}
    lacking = {name: frozenset(columns) for name, columns in (without or {}).items()}
    for name, table in recorded.items():
        missing = lacking.get(name, frozenset())
        if missing or name not in lacking:
            kinds = {column: kind for column, kind in table["columns"].items() if column not in missing}
            made[name] = Table(name, metadata, *(Column(column, _KINDS[kind]) for column, kind in kinds.items()))
    engine = create_engine(f"sqlite:///{path}")
    metadata.create_all(engine)
    with engine.begin() as connection:
        for name, each in rows.items():
            kinds, missing = recorded[name]["columns"], lacking.get(name, frozenset())
            values = [
                {column: _stored(kinds[column], value) for column, value in row.items() if column not in missing}
                for row in each
            ]
            if values and name in made:
                connection.execute(insert(made[name]), values)
    engine.dispose()
    return f"sqlite:///{path}"


def _stored(kind: str, value: Any) -> Any:
    return datetime.fromisoformat(value) if kind == "datetime" and value else value
