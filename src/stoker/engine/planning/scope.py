"""What references resolve to while a plan is made: unknown where the plan will change the resource."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from stoker.engine.planning.kinds import Kind
from stoker.engine.planning.plan import Decision
from stoker.engine.records.scope import RecordedScope
from stoker.engine.records.state import ResourceState
from stoker.plugins.resource import AttributeKey
from stoker.schema.unknown import Unknown, is_unknown
from stoker.template.expressions import Facade


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
