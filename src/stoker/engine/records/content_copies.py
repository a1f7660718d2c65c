"""The records of snapshots' content copies."""

from __future__ import annotations

from stoker.engine.records.state import ResourceState

Path = tuple[str, ...]


def path_of(copy: ResourceState) -> Path:
    """Return the names from the snapshot's stack down to the resource of the copy."""
    return tuple(copy.stored.definition["path"])
