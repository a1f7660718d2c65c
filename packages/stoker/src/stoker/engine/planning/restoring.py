"""Property values from a restored snapshot, which replace those of the template.

A template specifies the image from which a server is created; after a snapshot was restored, the server has the content
of the snapshot's image. To prevent later updates from reverting that, the record contains the template's values that
the restored ones replace: they remain as long as the template does not change them. They belong to the object: one that
replaces it is created from the template, since the snapshot may be deleted by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stoker.engine.records.content_copies import Path, path_of
from stoker.engine.records.state import ResourceState
from stoker.plugins.resource import ContentCopy


@dataclass(frozen=True, slots=True)
class Restored:
    """A resource's values after restoring. `note` is stored with it; `renewed` are the properties to apply regardless
    of the recorded values, None if there is nothing to do. `fresh` are the values of a new object, if they differ.
    """

    given: Mapping[str, Any]
    note: Mapping[str, Any] = field(default_factory=dict)
    renewed: frozenset[str] | None = None
    fresh: Mapping[str, object] | None = None


Restore = Callable[[str, Mapping[str, Any]], Restored]
"""Maps (resource name, values from the template) to the restored values."""


def as_given(name: str, given: Mapping[str, object]) -> Restored:
    """Return the values unchanged, for stacks without restored snapshots."""
    return Restored(given)


@dataclass(frozen=True, slots=True)
class Restoring:
    """Values of one stack's resources: those of restored snapshots, and of the one that `operation` restores.

    `copies` are that snapshot's copies by resource name; `above` has the names of the nested stacks that contain
    copies.
    """

    current: Mapping[str, ResourceState]
    operation: str = ""
    copies: Mapping[str, ResourceState] = field(default_factory=dict)
    above: frozenset[str] = frozenset()

    def __call__(self, name: str, given: Mapping[str, object]) -> Restored:
        state = self.current.get(name)
        note = state.stored.restored if state is not None else {}
        if name in self.copies:
            return self._from_copy(name, given, note)
        if name in self.above:
            begun = note.get("by") == self.operation
            return Restored(given, {"by": self.operation}, None if begun else frozenset())
        return _kept(given, note, state)

    def _from_copy(self, name: str, given: Mapping[str, object], note: Mapping[str, object]) -> Restored:
        copy = self.copies[name]
        assert isinstance(copy.type, ContentCopy)
        restored = copy.type.restored(given, copy.snapshot())
        instead = {key: given.get(key) for key, value in restored.items() if given.get(key) != value}
        begun = note.get("by") == self.operation
        renewed = None if begun or not (instead or name in self.above) else frozenset(instead)
        return Restored(restored, {"by": self.operation, "instead": instead}, renewed)


@dataclass(frozen=True, slots=True)
class Copies:
    """The copies of the snapshot that `operation` restores, by the paths of their resources below one stack."""

    operation: str = ""
    by_path: Mapping[Path, ResourceState] = field(default_factory=dict)

    @classmethod
    def of(cls, operation: str, copies: Iterable[ResourceState]) -> Copies:
        """Return the copies below the stack of the snapshot."""
        return cls(operation, {path_of(copy): copy for copy in copies})

    def below(self, name: str) -> Copies:
        """Return the copies below the nested stack of the resource with this name."""
        inner = {path[1:]: copy for path, copy in self.by_path.items() if path[0] == name and len(path) > 1}
        return Copies(self.operation, inner)

    def restoring(self, current: Mapping[str, ResourceState]) -> Restoring:
        """Return the values to restore in the stack with these resources, by name."""
        own = {path[0]: copy for path, copy in self.by_path.items() if len(path) == 1}
        return Restoring(current, self.operation, own, frozenset(path[0] for path in self.by_path if len(path) > 1))


def _kept(given: Mapping[str, object], note: Mapping[str, Any], state: ResourceState | None) -> Restored:
    """Return values with the previously restored ones, as long as the template has the values that these replace."""
    instead = {key: value for key, value in note.get("instead", {}).items() if given.get(key) == value}
    if state is None or not instead:
        return Restored(given)
    kept = {key: state.given[key] for key in instead if key in state.given}
    return Restored({**given, **kept}, {"by": note["by"], "instead": instead}, fresh=given)
