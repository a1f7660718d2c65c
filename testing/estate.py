"""A large estate: a database whose rows are copies of those that Stoker has recorded for a few stacks."""

from __future__ import annotations

from sqlalchemy import Column, Connection, Table, text

from stoker.store.tables import metadata

_SHARED = {
    "announcements", "document_parts", "documents", "engines", "sealing_keys", "trusts", "writers",
}  # fmt: skip
"""Tables without rows of their own for each stack; notifications are work to be done, which no copy adds."""

_OF_ENGINES = {"owner", "engine", "engine_id", "credential"}
_IDENTIFIER = 36
_DELETED = "copy_number % 4 = 0"
_ELSEWHERE = "copy_number % 4 = 1"
_OTHER_PROJECT = "CASE WHEN copy_number < 100 THEN 'few' ELSE 'p' || (copy_number % 100) END"

_CHANGED = {
    ("stacks", "name"): "name || '-' || copy_number",
    ("stacks", "live_name"): f"CASE WHEN {_DELETED} THEN NULL ELSE live_name || '-' || copy_number END",
    ("stacks", "deleted_at"): f"CASE WHEN {_DELETED} THEN created_at + copy_number ELSE deleted_at END",
    ("stacks", "created_at"): "created_at + CASE WHEN copy_number % 2 = 0 THEN copy_number ELSE -copy_number END",
    ("stacks", "updated_at"): "updated_at + CASE WHEN copy_number % 2 = 0 THEN copy_number ELSE -copy_number END",
    ("resources", "physical_id"): "physical_id || '-' || copy_number",
    ("resources", "ownership"): "ownership || '-' || copy_number",
    ("search_terms", "value"): "value || '-' || copy_number",
    ("exports", "name"): "name || '-' || copy_number",
    ("imports", "name"): "name || '-' || copy_number",
    ("request_tokens", "token"): "token || '-' || copy_number",
    ("software_deployments", "server_id"): "server_id || '-' || copy_number",
    ("operations", "status"): "CASE WHEN copy_number % 4 = 2 THEN 'FAILED' ELSE status END",
    ("*", "project_id"): f"CASE WHEN {_ELSEWHERE} THEN {_OTHER_PROJECT} ELSE project_id END",
}  # fmt: skip
"""How a column of a copy differs from the original, by table and column; identifiers differ everywhere."""


def multiply(connection: Connection, copies: int) -> None:
    """Copy everything that is recorded, with its relations, so many times.

    The statements are the same for each kind of database; MariaDB must take quotation marks and `||` as the standard
    has them (its mode ANSI).

    Of four copies one belongs to a deleted stack, one to another project, and one has operations that failed. The
    project `few` has a quarter of the first hundred copies, however many there are; they are the last ones in the
    order of identifiers.
    """
    connection.execute(text("CREATE TEMPORARY TABLE copy_numbers (copy_number INTEGER PRIMARY KEY)"))
    numbers = [{"number": number} for number in range(1, copies + 1)]
    connection.execute(text("INSERT INTO copy_numbers VALUES (:number)"), numbers)
    for table in metadata.sorted_tables:
        if table.name not in _SHARED:
            _copy(connection, table)
    connection.execute(text("DROP TABLE copy_numbers"))


def _copy(connection: Connection, table: Table) -> None:
    columns = [column for column in table.columns if column.autoincrement is not True]
    names = ", ".join(f'"{column.name}"' for column in columns)
    values = ", ".join(_value(table, column) for column in columns)
    connection.execute(text(f"CREATE TEMPORARY TABLE originals AS SELECT * FROM {table.name}"))
    connection.execute(text(f"INSERT INTO {table.name} ({names}) SELECT {values} FROM copy_numbers, originals"))
    connection.execute(text("DROP TABLE originals"))


def _value(table: Table, column: Column[object]) -> str:
    changed = _CHANGED.get((table.name, column.name)) or _CHANGED.get(("*", column.name))
    if changed is not None:
        return changed
    if getattr(column.type, "length", None) == _IDENTIFIER and column.name not in _OF_ENGINES:
        return f'substr("{column.name}", 1, 28) || (99999999 - copy_number)'
    return f'"{column.name}"'
