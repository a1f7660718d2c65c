"""Paths of resources in a tree of stacks, as plans show them: `group.0.server`."""

from __future__ import annotations

from stoker.engine.records.state import ResourceState
from stoker.store.records import Stack


class ResourcePaths:
    """Names resources by their path from a stack; the stacks must come from that one downwards."""

    def __init__(self, root: Stack) -> None:
        self._above: dict[str | None, str] = {root.parent_resource: ""}

    def of(self, stack: Stack, state: ResourceState) -> str:
        """Return the path of a resource of a stack."""
        path = f"{self._above.get(stack.parent_resource, '')}{state.row.name}"
        self._above[state.row.uuid] = f"{path}."
        return path
