"""The records of one tree of stacks before they are written."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID, uuid5

from stoker.base.errors import StokerError
from stoker.engine.planning.planner import DesiredState
from stoker.engine.records.loader import Prepared
from stoker.engine.records.object_owners import owned_by
from stoker.engine.records.scope import RecordedScope
from stoker.engine.records.stack_view import current_of
from stoker.engine.records.state import ResourceState
from stoker.store.ownership import Owned
from stoker.store.records import COMPLETE, Stack, StackSnapshot
from stoker.takeover.heat import HeatStack

_NAMES = UUID("6c0b7d0e-8f0e-5d3b-9a53-3d1b7c2f4a11")
"""The namespace of the IDs of records that Heat has no IDs for, so that a repeated takeover makes the same ones."""


def record_id(source: HeatStack, *parts: object) -> str:
    """Return the ID of a record of a stack; `parts` distinguish it from the stack's other records."""
    return _record_id(source.id, *parts)


def taken_over_event(stack_id: str) -> str:
    """Return the ID of the event that says that a stack was taken over: the last one that a takeover records of it."""
    return _record_id(stack_id, "taken over")


def _record_id(*parts: object) -> str:
    return str(uuid5(_NAMES, "/".join(map(str, parts))))


class NotTransferable(StokerError):
    """A tree of stacks cannot be taken over as it is."""


@dataclass
class MappedStack:
    """One stack as it will be recorded. `states` are its resources by Heat's IDs, `copies` those of its snapshots."""

    source: HeatStack
    stack: Stack
    inputs: Prepared
    desired: DesiredState
    states: dict[int, ResourceState] = field(default_factory=dict)
    property_sets: list[dict[str, str]] = field(default_factory=list)
    earlier_inputs: list[Prepared] = field(default_factory=list)
    snapshots: list[StackSnapshot] = field(default_factory=list)
    copies: list[ResourceState] = field(default_factory=list)
    scope: RecordedScope = field(init=False)

    def __post_init__(self) -> None:
        self.scope = RecordedScope(self._current)

    def _current(self, name: str) -> ResourceState | None:
        return self.current.get(name)

    @property
    def current(self) -> dict[str, ResourceState]:
        """Its resources by name, without replaced ones."""
        return current_of(self.states.values())

    def is_settled(self) -> bool:
        """Return whether every resource is what the template defines, also in the stacks below."""
        rows = [state.row for state in self.states.values()]
        return self.stack.status == COMPLETE and all(row.status == COMPLETE and row.fingerprint for row in rows)


@dataclass
class MappedTree:
    """A tree of stacks as it will be recorded, the root first; `notes` say what the operator should know."""

    root: HeatStack
    digest: str
    stacks: list[MappedStack] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    credentials: dict[str, tuple[str, str]] = field(default_factory=dict)


def claims_of(tree: MappedTree) -> dict[str, Owned]:
    """Return the claims of a tree's resources to their objects, by UUID: of several with one object, the latest's.

    They are a resource and the one that replaces it.
    """
    owners: dict[str, Owned] = {}
    for mapped in tree.stacks:
        for state in sorted(mapped.states.values(), key=lambda state: state.row.position):
            if (claimed := owned_by(state, mapped.stack)) is not None:
                owners[claimed.key] = claimed
    return {claimed.uuid: claimed for claimed in owners.values()}
