"""Settings of stacks: termination protection, policies, notification topics."""

from __future__ import annotations

from sqlalchemy import Connection, delete, insert

from stoker.store import statements
from stoker.store.records import StackSettings
from stoker.store.tables import stack_settings


def of_stack(connection: Connection, root_id: str) -> StackSettings:
    """Return the settings of a tree of stacks, or the defaults."""
    row = connection.execute(statements.where(stack_settings, "stack_id"), {"stack_id": root_id}).one_or_none()
    return StackSettings.of(row) if row else StackSettings(root_id)


def save(connection: Connection, settings: StackSettings) -> None:
    """Write all settings (a journal step)."""
    forget(connection, settings.stack_id)
    connection.execute(insert(stack_settings).values(**settings.values()))


def forget(connection: Connection, root_id: str) -> None:
    """Delete the settings of a tree of stacks."""
    connection.execute(delete(stack_settings).where(stack_settings.c.stack_id == root_id))
