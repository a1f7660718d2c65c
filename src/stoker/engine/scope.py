"""What references resolve to: the recorded resources, or unknown where a plan will change them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from stoker.engine.plan import Decision, Kind
from stoker.engine.state import ResourceState, attribute_text, walk
from stoker.schema.unknown import Unknown

Current = Callable[[str], ResourceState | None]


@dataclass(frozen=True, slots=True)
class Facade:
    """What a nested stack's `resource_facade` shows of the resource that holds it."""

    metadata: Mapping[str, Any] = field(default_factory=dict)
    deletion_policy: str = "Delete"
    update_policy: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class RecordedScope:
    """References resolve to what is recorded; what has not been made yet is unknown.

    Attributes are the values that were read when the resource's last action ended, or since (`prefetched`).
    """

    current: Current
    facade: Facade | None = None
    prefetched: dict[tuple[str, str], Any] = field(default_factory=dict)

    def reference(self, resource: str) -> Any:
        """The resource's reference id."""
        state = self.current(resource)
        return Unknown.of(resource) if state is None else state.reference_id()

    def attribute(self, resource: str, attribute: str, path: tuple[str | int, ...]) -> Any:
        """An attribute's value, with the path that follows it applied."""
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

    def all_attributes(self, resource: str) -> Any:
        """Every declared attribute that is at hand, by name."""
        state = self.current(resource)
        if state is None:
            return Unknown.of(resource, "")
        return {name: self.attribute(resource, name, ()) for name in state.type.attributes if name != "show"}


_MISSING = object()


@dataclass(slots=True)
class PlanScope:
    """References as they will be: known for what is kept, unknown for what is made or changed."""

    recorded: RecordedScope
    decisions: dict[str, Decision] = field(default_factory=dict)

    @property
    def facade(self) -> Facade | None:
        """See RecordedScope."""
        return self.recorded.facade

    def reference(self, resource: str) -> Any:
        """Kept and updated resources keep their reference id."""
        kind = self._kind(resource)
        return self.recorded.reference(resource) if kind in (Kind.KEEP, Kind.UPDATE) else Unknown.of(resource)

    def attribute(self, resource: str, attribute: str, path: tuple[str | int, ...]) -> Any:
        """Only a kept resource's attributes are sure to stay."""
        if self._kind(resource) is Kind.KEEP:
            return self.recorded.attribute(resource, attribute, path)
        return Unknown.of(resource, attribute, *path)

    def all_attributes(self, resource: str) -> Any:
        """See `attribute`."""
        if self._kind(resource) is Kind.KEEP:
            return self.recorded.all_attributes(resource)
        return Unknown.of(resource, "")

    def _kind(self, resource: str) -> Kind:
        decision = self.decisions.get(resource)
        return decision.kind if decision else Kind.CREATE
