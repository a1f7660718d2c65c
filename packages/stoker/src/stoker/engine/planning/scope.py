"""Resolve references while a plan is made: unknown if the plan will change the resource."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from stoker.engine.planning.decide import Target
from stoker.engine.planning.kinds import StepKind
from stoker.engine.planning.plan import Decision, Step
from stoker.engine.records.scope import RecordedScope
from stoker.engine.records.state import ResourceState
from stoker.engine.redaction.stacks import RedactedProperties
from stoker.plugins.resource import AttributeKey
from stoker.schema.unknown import Unknown, is_unknown
from stoker.template.expressions import Facade


class Forecast(Protocol):
    """The future of an updated resource as far as it is known: values can be unknown."""

    def reference(self) -> Any:
        """Return its future reference id."""

    def attribute(self, key: AttributeKey) -> object:
        """Return the future value of an attribute, with the path that follows it."""


@dataclass(slots=True)
class PlanScope:
    """References to the future state: known for kept resources, unknown for new and changed ones.

    `with_same_reference` are replaced resources whose new objects have the same reference IDs as the former ones:
    mostly names.
    """

    recorded: RecordedScope
    decisions: dict[str, Decision] = field(default_factory=dict)
    forecasts: dict[str, Forecast] = field(default_factory=dict)
    with_same_reference: set[str] = field(default_factory=set)

    def state(self, resource: str) -> ResourceState | None:
        """Return the recorded resource with this name."""
        return self.recorded.current(resource)

    def facade(self) -> Facade | None:
        """Implements RecordedScope."""
        return self.recorded.parent

    def availability_zones(self) -> object:
        """Implements RecordedScope."""
        return self.recorded.zones

    def reference(self, resource: str) -> Any:
        """Return the reference id; kept and updated resources keep theirs, and so do replaced ones with fixed IDs."""
        kind = self._kind(resource)
        if kind is StepKind.UPDATE and resource in self.forecasts:
            return self.forecasts[resource].reference()
        stays = kind in (StepKind.KEEP, StepKind.UPDATE, StepKind.REFUSE) or (
            kind is StepKind.REPLACE and resource in self.with_same_reference
        )
        return self.recorded.reference(resource) if stays else Unknown.of(resource)

    def attribute(self, resource: str, attribute: str, path: tuple[str | int, ...]) -> object:
        """Return an attribute: only those of kept resources are certain; nested stacks have those of their plans."""
        forecast = self.forecasts.get(resource)
        if self._kind(resource) is StepKind.KEEP:
            found = self.recorded.attribute(resource, attribute, path)
            if forecast is None or not is_unknown(found):
                return found
        return Unknown.of(resource, attribute, *path) if forecast is None else forecast.attribute((attribute, *path))

    def all_attributes(self, resource: str) -> object:
        """Return all attributes; see `attribute`."""
        if self._kind(resource) is StepKind.KEEP:
            return self.recorded.all_attributes(resource)
        return Unknown.of(resource, "")

    def _kind(self, resource: str) -> StepKind:
        decision = self.decisions.get(resource)
        return decision.kind if decision else StepKind.CREATE


class NestedStackPlanner(Protocol):
    """Plans nested stacks for the plan of the stack that contains them."""

    def plan_nested(
        self,
        target: Target,
        state: ResourceState | None,
        decision: Decision,
        hidden: RedactedProperties,
        secrets: frozenset[str],
    ) -> NestedPlan | None:
        """Return the future of a resource's nested stack; None if it is unknown.

        `hidden` are the resource's property values with hidden ones marked, None if none is hidden; `secrets` are the
        strings that the stack with the resource, and those above it, hide.
        """

    def removed(self, state: ResourceState) -> tuple[Step, ...]:
        """Return the removal steps of everything in a resource's nested stack."""


@dataclass(frozen=True, slots=True)
class NestedPlan:
    """The future of a resource's nested stack; it can make the decision about the resource a milder one.

    A new nested stack of imported objects `is_known`: attributes of the resource can be values of these.
    """

    decision: Decision
    steps: tuple[Step, ...]
    forecast: Forecast
    secrets: frozenset[str] = frozenset()
    is_known: bool = False
