"""Property values that a restored snapshot puts in the place of the template's.

A template says from which image a server is made; once a snapshot has been restored the server is what the snapshot's
image holds. So that no later update brings the first image back by itself, the record says which of the template's
values the restored ones stand for: as long as the template goes on saying the same, they stay.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stoker.engine.records.state import ResourceState
from stoker.plugins.resource import ContentCopy


@dataclass(frozen=True, slots=True)
class Restored:
    """A resource's values after restoring. `note` is kept with it; `renewed` are the properties that are to be brought
    about whatever is recorded, None where nothing has to be done.
    """

    given: Mapping[str, Any]
    note: Mapping[str, Any] = field(default_factory=dict)
    renewed: frozenset[str] | None = None


Restore = Callable[[str, Mapping[str, Any]], Restored]
"""(resource name, values as the template gives them) → what becomes of them."""


def as_given(name: str, given: Mapping[str, Any]) -> Restored:
    """Where nothing is recorded nothing has been restored."""
    return Restored(given)


@dataclass(frozen=True, slots=True)
class Restoring:
    """Values of one stack's resources: those of restored snapshots, and of the one that `operation` restores.

    `copies` are that snapshot's copies by resource name; `above` names the nested stacks that hold some.
    """

    current: Mapping[str, ResourceState]
    operation: str = ""
    copies: Mapping[str, ResourceState] = field(default_factory=dict)
    above: frozenset[str] = frozenset()

    def __call__(self, name: str, given: Mapping[str, Any]) -> Restored:
        state = self.current.get(name)
        note = state.stored.restored if state is not None else {}
        if name in self.copies:
            return self._from_copy(self.copies[name], given, note)
        if name in self.above:
            begun = note.get("by") == self.operation
            return Restored(given, {"by": self.operation}, None if begun else frozenset())
        return _kept(given, note, state)

    def _from_copy(self, copy: ResourceState, given: Mapping[str, Any], note: Mapping[str, Any]) -> Restored:
        assert isinstance(copy.type, ContentCopy)
        restored = copy.type.restored(given, copy.snapshot())
        instead = {key: given.get(key) for key, value in restored.items() if given.get(key) != value}
        begun = note.get("by") == self.operation
        renewed = None if begun or not instead else frozenset(instead)
        return Restored(restored, {"by": self.operation, "instead": instead}, renewed)


def _kept(given: Mapping[str, Any], note: Mapping[str, Any], state: ResourceState | None) -> Restored:
    """Values with those that were restored before, as far as the template still says what they stand for."""
    instead = {key: value for key, value in note.get("instead", {}).items() if given.get(key) == value}
    if state is None or not instead:
        return Restored(given)
    kept = {key: state.given[key] for key in instead if key in state.given}
    return Restored({**given, **kept}, {"by": note["by"], "instead": instead})
