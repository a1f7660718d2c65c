"""What is rehearsed, and the outcome of a run: plain data, which other processes are given."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from stoker.template.document import Document
from stoker.testing.sandbox import Definition

CREATE, UPDATE, DELETE = "create", "update", "delete"
_SCALE = "scale "
NAME = "rehearsal"
"""The name of the stack."""


UNCHANGED = "UNCHANGED"
"""The state after a signal that has changed nothing."""


def is_scaling(phase: str) -> bool:
    """Return whether a scaling policy is signalled in a phase."""
    return phase.startswith(_SCALE)


@dataclass(frozen=True, slots=True)
class Dependency:
    """`depends_on` that is added to a resource of the document with this URL, to try it."""

    document: str
    resource: str
    on: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scenario:
    """A stack that is created from a template, updated if there is something to change, scaled, and deleted.

    `to` and `to_parameters` are another template and other values of parameters, to which it is updated. `cloud` are
    additional objects of the cloud, as in test files; `timeout` is in minutes. `scaled` are the paths of the scaling
    policies that are signalled, in this order; None stands for all of them. `timings` are the seconds that resources
    take, by their paths and the names of actions.
    """

    template: str
    to: str | None = None
    environments: tuple[str, ...] = ()
    parameters: Mapping[str, Any] = field(default_factory=dict)
    cloud: Mapping[str, Any] = field(default_factory=dict)
    timeout: int | None = None
    added: tuple[Dependency, ...] = ()
    scaled: tuple[str, ...] | None = None
    timings: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    to_parameters: Mapping[str, object] = field(default_factory=dict)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Scenario:
        """Return what `asdict` described."""
        added = tuple(
            Dependency(dependency["document"], dependency["resource"], tuple(dependency["on"]))
            for dependency in data["added"]
        )
        scaled = None if data["scaled"] is None else tuple(data["scaled"])
        return cls(**{**data, "environments": tuple(data["environments"]), "added": added, "scaled": scaled})

    def with_dependency(self, document: str, resource: str, *on: str) -> Scenario:
        """Return the scenario in which a resource depends on others, too."""
        return replace(self, added=(*self.added, Dependency(document, resource, on)))

    @property
    def target(self) -> Scenario | None:
        """The scenario of a stack that is created as this one is after its update; None without an update."""
        if self.to is None and not self.to_parameters:
            return None
        parameters = {**self.parameters, **self.to_parameters}
        return replace(self, template=self.to or self.template, parameters=parameters, to=None, to_parameters={})

    @property
    def phases(self) -> tuple[str, ...]:
        """The actions, in their order."""
        return (CREATE, *([] if self.target is None else [UPDATE]), *self.scalings, DELETE)

    @property
    def scalings(self) -> Mapping[str, str]:
        """The paths of the policies that are signalled, by the names of the phases in which they are."""
        phases: dict[str, str] = {}
        for path in self.scaled or ():
            times = 1 + list(phases.values()).count(path)
            phases[f"{_SCALE}{path}" if times == 1 else f"{_SCALE}{path} {times}"] = path
        return phases

    def definition(self, phase: str) -> Definition:
        """Read what the stack is to be in a phase. Raises Invalid for files that cannot be read."""
        scenario = (self.target if phase == UPDATE else None) or self
        read = Definition.read(scenario.template, scenario.environments, scenario.parameters)
        for dependency in self.added:
            _add(read, dependency)
        return read

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return asdict(self)


def _add(read: Definition, added: Dependency) -> None:
    """Add a dependency to a document; those that do not have the resource stay as they are."""
    sources = read.sources
    root = added.document == sources.template_url
    text = sources.template if root else sources.files.get(added.document)
    if text is None:
        return
    data = json.loads(json.dumps(Document.parse(text).data))
    section, key = ("Resources", "DependsOn") if "Resources" in data else ("resources", "depends_on")
    resource = data.get(section, {}).get(added.resource)
    if resource is None:
        return
    former = resource.get(key, [])
    resource[key] = [*([former] if isinstance(former, str) else former), *added.on]
    if root:
        sources.template = json.dumps(data)
    else:
        sources.files[added.document] = json.dumps(data)


@dataclass(frozen=True, slots=True)
class Failure:
    """A resource whose action has failed. `timed_out` is whether the time limit of the stack ended it."""

    path: str
    action: str
    reason: str
    timed_out: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """A request of the engine in a phase: its number, method and path, and the path of the resource it was sent for.

    `listed` is how many objects its answer listed, `made` the ID of the object that it created.
    """

    number: int
    method: str
    path: str
    resource: str
    listed: int = 0
    made: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """An action on a resource, with the seconds from the beginning of the phase at which it began and ended."""

    path: str
    action: str
    began: float
    ended: float


@dataclass(frozen=True, slots=True)
class Phase:
    """The outcome of a phase. `failures` are those of its action, `rollback_failures` those of the rollback after it.

    `lost` are the resources with data whose objects are not there any more, by path, with their types. `data` are
    those that are still there.
    """

    name: str
    state: str
    reason: str
    seconds: float
    failures: Sequence[Failure] = ()
    rollback_failures: Sequence[Failure] = ()
    lost: Mapping[str, str] = field(default_factory=dict)
    requests: Sequence[Request] = ()
    steps: Sequence[Step] = ()
    commits: int = 0
    waited: Sequence[str] = ()
    """Paths of the wait conditions that waited for signals."""
    again: str = ""
    """The state after a second attempt, if a deletion failed."""

    @property
    def succeeded(self) -> bool:
        """Whether the stack is as it was asked for. A signal that changes nothing, as in a group of the largest size,
        has succeeded.
        """
        if is_scaling(self.name):
            return self.state in (UNCHANGED, "UPDATE_COMPLETE")
        return self.state == "DELETED" if self.name == DELETE else self.state == f"{self.name.upper()}_COMPLETE"

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Phase:
        """Return what `asdict` described."""
        return cls(
            **{
                **data,
                "failures": [Failure(**failure) for failure in data["failures"]],
                "rollback_failures": [Failure(**failure) for failure in data["rollback_failures"]],
                "requests": [Request(**request) for request in data["requests"]],
                "steps": [Step(**step) for step in data["steps"]],
            }
        )


@dataclass(frozen=True, slots=True)
class LeftObject:
    """An object that is there after the deletion of the stack: its service, the name of its collection, its ID, and
    the resource that has to do with it, if any is known.
    """

    service: str
    collection: str
    id: str
    resource: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a run: its phases, what it left behind, the types of resources by path.

    `met` are the disruptions that took place, `engines` the engines that there were. `error` is why the run could not
    be carried out.
    """

    phases: Sequence[Phase] = ()
    left: Sequence[LeftObject] = ()
    types: Mapping[str, str] = field(default_factory=dict)
    met: Sequence[Mapping[str, object]] = ()
    engines: int = 1
    error: str = ""

    def phase(self, name: str) -> Phase | None:
        """Return a phase by its name; None if the run did not come to it."""
        return next((phase for phase in self.phases if phase.name == name), None)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Outcome:
        """Return what `asdict` described."""
        return cls(
            **{
                **data,
                "phases": [Phase.from_dict(phase) for phase in data["phases"]],
                "left": [LeftObject(**left_object) for left_object in data["left"]],
            }
        )
