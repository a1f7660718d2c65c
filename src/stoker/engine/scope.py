"""What references resolve to: the recorded resources, or unknown where a plan will change them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from stoker.engine.plan import Decision, Kind
from stoker.engine.state import ResourceState, attribute_text, walk
from stoker.schema.unknown import Unknown
from stoker.template.expressions import Facade

Current = Callable[[str], ResourceState | None]


@dataclass(slots=True)
class RecordedScope:
    """References resolve to what is recorded; what has not been made yet is unknown.

    Attributes are the values that were read when the resource's last action ended, or since (`prefetched`).
    """

    current: Current
    parent: Facade | None = None
    zones: list[str] = field(default_factory=list)
    prefetched: dict[tuple[str, str], Any] = field(default_factory=dict)

    def facade(self) -> Facade | None:
        """The resource that holds this nested stack."""
        return self.parent

    def availability_zones(self) -> list[str]:
        """Names of the compute service's availability zones, where the template asks for them."""
        return self.zones

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

    def facade(self) -> Facade | None:
        """See RecordedScope."""
        return self.recorded.parent

    def availability_zones(self) -> list[str]:
        """See RecordedScope."""
        return self.recorded.zones

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
