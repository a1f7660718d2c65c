"""Resolve references to the recorded resources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from stoker.engine.records.state import ResourceState, attribute_text, walk
from stoker.schema.unknown import Unknown
from stoker.template.expressions import UNDETERMINED, Facade

Current = Callable[[str], ResourceState | None]


@dataclass(slots=True)
class RecordedScope:
    """References resolve to recorded values; those of resources that do not exist yet are unknown.

    Attributes are the values at the end of the resource's last action, or read since (`prefetched`). Availability zones
    are unknown until they are read. `unread` are the reasons why attributes of resources could not be read, by the name
    of the resource.
    """

    current: Current
    parent: Facade | None = None
    zones: object = UNDETERMINED
    prefetched: dict[tuple[str, str], object] = field(default_factory=dict)
    unread: dict[str, str] = field(default_factory=dict)

    def facade(self) -> Facade | None:
        """Return the parent resource of this nested stack."""
        return self.parent

    def availability_zones(self) -> object:
        """Return the names of the compute service's availability zones, if the template uses them."""
        return self.zones

    def state(self, resource: str) -> ResourceState | None:
        """Return the recorded resource with this name."""
        return self.current(resource)

    def reference(self, resource: str) -> Any:
        """Return the resource's reference id."""
        state = self.current(resource)
        return Unknown.of(resource) if state is None else state.reference_id()

    def attribute(self, resource: str, attribute: str, path: tuple[str | int, ...]) -> object:
        """Return an attribute's value, with the path that follows it applied."""
        state = self.current(resource)
        if state is None:
            return Unknown.of(resource, attribute, *path)
        key = (attribute, *path) if state.type.path_in_attribute else (attribute,)
        text = attribute_text(key)
        found = self.prefetched.get((resource, text), _MISSING)
        if found is _MISSING:
            found = state.stored.attributes.get(text, _MISSING)
        if found is _MISSING:
            return Unknown.of(resource, attribute, *path)
        return found if state.type.path_in_attribute else walk(found, path)

    def all_attributes(self, resource: str) -> object:
        """Return every declared attribute that is recorded, by name."""
        state = self.current(resource)
        if state is None:
            return Unknown.of(resource, "")
        return {name: self.attribute(resource, name, ()) for name in state.type.attributes if name != "show"}


_MISSING = object()
