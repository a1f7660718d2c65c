"""How the copies of contents that snapshots hold are recorded."""

from __future__ import annotations

from stoker.engine.records.state import ResourceState

Path = tuple[str, ...]


def path_of(copy: ResourceState) -> Path:
    """Names from the stack that the snapshot is of down to the resource that the copy is of."""
    return tuple(copy.stored.definition["path"])
