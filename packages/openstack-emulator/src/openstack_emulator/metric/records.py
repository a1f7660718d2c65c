"""What the metric service keeps. Periods are in seconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from openstack_emulator.core.typed import Part, TypedRecord, named


@dataclass(slots=True, kw_only=True, eq=False)
class Definition(Part):
    """Periods of one length; None for `points` keeps them all."""

    granularity: int
    points: int | None


@dataclass(slots=True, kw_only=True, eq=False)
class Policy(TypedRecord):
    """An archive policy, whose id is its name."""

    definition: list[Definition]
    aggregation_methods: list[str]
    back_window: int


@dataclass(slots=True, kw_only=True, eq=False)
class OwnedRecord(TypedRecord):
    """What a user has created, perhaps for another project than the user's."""

    project_id: str | None
    created_by_project_id: str | None
    created_by_user_id: str | None

    @property
    def owners(self) -> tuple[str | None, str | None]:
        """The projects that may see it."""
        return self.project_id, self.created_by_project_id

    @property
    def creator(self) -> str:
        """The user and the project that have created it."""
        return f"{self.created_by_user_id}:{self.created_by_project_id}"


@dataclass(slots=True, kw_only=True, eq=False)
class Metric(OwnedRecord):
    """A metric; `policy` is the name of its archive policy."""

    name: str | None
    unit: str | None
    resource_id: str | None
    policy: str


@dataclass(slots=True, kw_only=True, eq=False)
class Measures(TypedRecord):
    """The measures of the metric with the same id, in the order of time: seconds since the epoch and a value."""

    points: list[list[float]]


@dataclass(slots=True, kw_only=True, eq=False)
class Attribute(Part):
    """What an attribute of a resource may be; the lengths are those of a string, the others of a number."""

    type: str
    required: bool
    min_length: int | None = None
    max_length: int | None = None
    min: float | None = None
    max: float | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class ResourceType(TypedRecord):
    """A type of resources, whose id is its name."""

    attributes: dict[str, Attribute]


@dataclass(slots=True, kw_only=True, eq=False)
class Resource(OwnedRecord):
    """A resource with the attributes of its type.

    original_resource_id: the id that its creator gave. is_server: it was made for a server of the compute service.
    """

    type: str
    user_id: str | None
    started_at: str
    ended_at: str | None
    original_resource_id: str
    attributes: dict[str, Any]
    is_server: bool = field(metadata=named("_server"))

    def get(self, name: str) -> Any:
        """The value of a field or an attribute; None for an unknown name. No attribute has the name of a field."""
        return self.attributes[name] if name in self.attributes else TypedRecord.get(self, name)
