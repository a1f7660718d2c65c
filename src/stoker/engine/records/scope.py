"""What references resolve to: the recorded resources, or unknown where a plan will change them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from stoker.engine.planning.kinds import Kind
from stoker.engine.planning.plan import Decision
from stoker.engine.records.state import ResourceState, attribute_text, walk
from stoker.plugins.resource import AttributeKey
from stoker.schema.unknown import Unknown, is_unknown
from stoker.template.expressions import UNDETERMINED, Facade

Current = Callable[[str], ResourceState | None]


@dataclass(slots=True)
class RecordedScope:
    """References resolve to what is recorded; what has not been made yet is unknown.

    Attributes are the values that were read when the resource's last action ended, or since (`prefetched`). The names
    of zones are unknown until they are asked for.
    """

    current: Current
    parent: Facade | None = None
    zones: Any = UNDETERMINED
    prefetched: dict[tuple[str, str], Any] = field(default_factory=dict)

    def facade(self) -> Facade | None:
        """The resource that holds this nested stack."""
        return self.parent

    def availability_zones(self) -> Any:
        """Names of the compute service's availability zones, where the template asks for them."""
        return self.zones

    def state(self, resource: str) -> ResourceState | None:
        """The recorded resource of this name."""
        return self.current(resource)

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


class Outlook(Protocol):
    """What becomes of a resource that is updated, as far as it can be told: values may be unknown."""

    def reference(self) -> Any:
        """What its reference id will be."""

    def attribute(self, key: AttributeKey) -> Any:
        """What an attribute, with the path that follows it, will be."""


@dataclass(slots=True)
class PlanScope:
    """References as they will be: known for what is kept, unknown for what is made or changed."""

    recorded: RecordedScope
    decisions: dict[str, Decision] = field(default_factory=dict)
    outlooks: dict[str, Outlook] = field(default_factory=dict)

    def state(self, resource: str) -> ResourceState | None:
        """The recorded resource of this name."""
        return self.recorded.current(resource)

    def facade(self) -> Facade | None:
        """See RecordedScope."""
        return self.recorded.parent

    def availability_zones(self) -> Any:
        """See RecordedScope."""
        return self.recorded.zones

    def reference(self, resource: str) -> Any:
        """Kept and updated resources keep their reference id."""
        kind = self._kind(resource)
        if kind is Kind.UPDATE and resource in self.outlooks:
            return self.outlooks[resource].reference()
        stays = kind in (Kind.KEEP, Kind.UPDATE, Kind.REFUSE)
        return self.recorded.reference(resource) if stays else Unknown.of(resource)

    def attribute(self, resource: str, attribute: str, path: tuple[str | int, ...]) -> Any:
        """Only a kept resource's attributes are sure to stay; a nested stack's are those that its own plan leaves."""
        outlook = self.outlooks.get(resource)
        if self._kind(resource) is Kind.KEEP:
            found = self.recorded.attribute(resource, attribute, path)
            if outlook is None or not is_unknown(found):
                return found
        return Unknown.of(resource, attribute, *path) if outlook is None else outlook.attribute((attribute, *path))

    def all_attributes(self, resource: str) -> Any:
        """See `attribute`."""
        if self._kind(resource) is Kind.KEEP:
            return self.recorded.all_attributes(resource)
        return Unknown.of(resource, "")

    def _kind(self, resource: str) -> Kind:
        decision = self.decisions.get(resource)
        return decision.kind if decision else Kind.CREATE
