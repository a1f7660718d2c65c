"""What there is on a stage: its stacks and events, also former ones, and the objects of the cloud."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Row, select

from stoker.store import tables
from stoker.store.database import Database
from stoker.store.records import IN_PROGRESS
from stoker.testing.cloud_objects import ObjectKind as ObjectKind
from stoker.testing.cloud_objects import naming, objects
from stoker.testing.emulated_cloud import EmulatedCloud


@dataclass(frozen=True, slots=True)
class Contents:
    """Reads the database and the cloud of a stage, at any time, also while no engine is there."""

    database: Database
    cloud: EmulatedCloud

    def is_waiting(self, types: Collection[str]) -> bool:
        """Whether an action is in progress on a resource of these types, in nested stacks, too."""
        return not self.database.read_now(_types_in_progress).isdisjoint(types)

    def objects(self, without: Collection[ObjectKind] = ()) -> dict[ObjectKind, set[str]]:
        """Return the IDs of the cloud's objects by their kind."""
        return objects(self.cloud.inner, without)

    def belonging_to(self, identifiers: Collection[str]) -> set[str]:
        """Return the IDs of the objects that services have made for others, and not for a request of the engine."""
        return naming(self.cloud.inner, identifiers) - {call.made_id for call in self.cloud.calls}

    def events(self) -> list[Row[Any]]:
        """Return the events of all resources so far, those of deleted nested stacks included, oldest first."""
        rows: list[Row[Any]] = self.database.read_now(_events)
        return rows

    def stacks(self) -> list[Row[Any]]:
        """Return all stacks that there have been."""
        rows: list[Row[Any]] = self.database.read_now(_stacks)
        return rows

    def stacks_of_resources(self) -> list[str]:
        """Return the IDs of the stacks that exist as objects of resources, as those of other regions do."""
        existing = {row.id for row in self.stacks() if row.deleted_at is None}
        return [stack_id for stack_id in self.cloud.orchestration.parents if stack_id in existing]

    def prefixes(self) -> dict[str, str]:
        """Return what precedes the names of resources in their paths, by the IDs of all stacks that there have been."""
        stacks = {row.id: (row.parent_id, row.parent_resource_name) for row in self.stacks()}
        stacks |= self.cloud.orchestration.parents

        def prefix(stack_id: str) -> str:
            parent, name = stacks.get(stack_id, (None, None))
            return "" if parent is None else f"{prefix(parent)}{name}."

        return {stack_id: prefix(stack_id) for stack_id in stacks}


_IN_PROGRESS = select(tables.resources.c.type).where(tables.resources.c.status == IN_PROGRESS)


def _types_in_progress(connection: Connection) -> set[str]:
    return {row.type for row in connection.execute(_IN_PROGRESS)}


def _events(connection: Connection) -> list[Row[Any]]:
    return list(connection.execute(select(tables.events).order_by(tables.events.c.sequence)))


def _stacks(connection: Connection) -> list[Row[Any]]:
    return list(connection.execute(select(tables.stacks)))
