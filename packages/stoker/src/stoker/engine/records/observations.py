"""What the cloud says about the objects of a stack, taken over into recorded resources before a plan is made.

A difference then becomes a change back to the template, and an object that is gone is replaced;
docs/explanation/plans.md lists the rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from stoker.contract.stacks import Refresh
from stoker.engine.records.ignored_drift import IgnoredPath, paths_of, without_ignored
from stoker.engine.records.state import ResourceState
from stoker.store.records import COMPLETE, FAILED
from stoker_foundation.clock import isoformat

Found = Mapping[str, Any] | None
"""The property values of an object that differ from the record; None if the object does not exist."""

GONE = "the object does not exist any more"


class Cause(StrEnum):
    """Why a resource, or properties of it, were not compared with the cloud."""

    TYPE = "type"
    """The type has no comparison."""
    EXTERNAL = "external"
    """The object is not the stack's own."""
    SERVICE = "service"
    """The service did not answer, or refused."""
    PROPERTIES = "properties"
    """These properties could not be read."""


@dataclass(frozen=True, slots=True)
class NotCompared:
    """A resource that was not compared with the cloud, and why; with the cause PROPERTIES, only these were not."""

    path: str
    type: str
    cause: Cause
    reason: str = ""
    properties: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ignored:
    """The paths that the template of a resource ignores in comparisons."""

    path: str
    type: str
    properties: tuple[IgnoredPath, ...]

    def to_data(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {"path": self.path, "type": self.type, "properties": [each.to_data() for each in self.properties]}


@dataclass(frozen=True, slots=True)
class Coverage:
    """How much of a tree of stacks a comparison with the cloud covers: of `total` resources, all but `omitted`.

    `ignored` is what templates ignore. `in_sync` is the number of those that were compared completely and are as
    recorded, `differing` of those that are not. `refresh` says which resources were looked at, `read_at` when, in
    seconds since the epoch.
    """

    total: int
    omitted: tuple[NotCompared, ...]
    in_sync: int
    differing: int
    refresh: Refresh
    read_at: float
    ignored: tuple[Ignored, ...] = ()

    def to_data(self) -> dict[str, Any]:
        """Return plain JSON data."""
        omitted = [asdict(each) for each in self.omitted]
        counts = {"resources": self.total, "in_sync": self.in_sync, "differing": self.differing}
        exceptions = {"not_compared": omitted, "ignored": [each.to_data() for each in self.ignored]}
        return {**counts, **exceptions, "refresh": self.refresh.value, "at": isoformat(self.read_at)}


def is_expected(state: ResourceState) -> bool:
    """Return whether a resource has an object that should exist, its own or one that it refers to (external_id)."""
    row = state.row
    present = row.status == COMPLETE and row.action != "DELETE" and row.replaced_by is None
    return present and row.physical_id is not None


def is_observable(state: ResourceState) -> bool:
    """Return whether a resource has an object of its own to compare with the record."""
    return is_expected(state) and state.stored.definition.get("external_id") is None


def record_found(state: ResourceState, found: Found) -> dict[str, str] | None:
    """Change a recorded resource to what was found; return its new property set, None if that stays the same.

    A nested stack is compared on its own: its resource counts as possibly changed.
    """
    if found is None:
        state.row.action, state.row.status, state.stored.marked = "CHECK", FAILED, True
        state.row.reason, state.drifted = GONE, None
    elif found:
        state.row.fingerprint = ""
        state.drifted = {name: state.properties.get(name) for name in found}
        return state.set_properties({**state.properties, **found})
    elif state.type.nested:
        state.row.fingerprint = ""
    return None


def keep_deployed(state: ResourceState) -> None:
    """Keep the recorded values that what was found replaces, until an update has settled the difference: if it fails
    before that, looks and plans still tell what was changed outside.
    """
    state.stored.deployed = {**(state.drifted or {}), **state.stored.deployed}


def return_to_deployed(state: ResourceState) -> None:
    """Give a resource, for a comparison only, the values with which it was deployed."""
    if state.stored.deployed:
        state.set_properties(_set({**state.properties, **state.stored.deployed}))


def forget_ignored(state: ResourceState, written: Sequence[str]) -> None:
    """Forget, for a plan only, what was found at paths that the template ignores."""
    if not written or not state.drifted:
        return
    before, live = state.drifted, {name: state.properties[name] for name in state.drifted}
    recorded = {**state.properties, **before}
    kept = without_ignored(state.type, _set(recorded), live, paths_of(state.type, written).values())
    if kept.keys() == live.keys():
        return
    state.set_properties(_set({**recorded, **kept}))
    state.drifted = {name: before[name] for name in kept}


def _set(values: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in values.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Observations:
    """What was found, by the uuid of the resource. Resources that are missing here are as recorded.

    `coverage` is None if healthy objects were not compared. `usable` are the resources whose last action failed and
    whose objects need not be replaced, `obstacles` what prevents restoring (`ResourceState.obstacle`).
    """

    found: Mapping[str, Found] = field(default_factory=dict)
    usable: frozenset[str] = frozenset()
    coverage: Coverage | None = None
    obstacles: Mapping[str, str] = field(default_factory=dict)

    def apply_to(self, states: Iterable[ResourceState]) -> None:
        """Change recorded resources, for a plan only, to what was found."""
        for state in states:
            state.usable = state.row.uuid in self.usable
            state.obstacle = self.obstacles.get(state.row.uuid, "")
            if state.row.uuid in self.found and is_expected(state):
                record_found(state, self.found[state.row.uuid])
