"""The registered resource types and constraints: found by entry points, and validated at start.

| group | object of the entry point |
|---|---|
| `stoker.resources` | an iterable of `ResourceType` classes |
| `stoker.constraints` | a mapping from names to `CustomCheck` objects |
| `stoker.template_types` | one function `(template, name) -> ResourceType` for resources that are templates |
| `stoker.event_sinks` | a mapping from the types of event sinks to `EventSink` objects |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from stevedore import ExtensionManager

from stoker.base.errors import StokerError
from stoker.cloud.finders import FINDERS
from stoker.cloud.services import SERVICES
from stoker.plugins.constraints import CustomCheck
from stoker.plugins.event_sink import EventSink
from stoker.plugins.recovery import Recovery
from stoker.plugins.resource import ResourceType
from stoker.schema.constraints import CustomConstraint
from stoker.schema.property import Finalizer, Property

RESOURCES = "stoker.resources"
CONSTRAINTS = "stoker.constraints"
TEMPLATE_TYPES = "stoker.template_types"
EVENT_SINKS = "stoker.event_sinks"

TemplateType = Callable[[Any, str], ResourceType]


class PluginInvalid(StokerError):
    """A plug-in cannot be used; `problems` has one sentence per problem."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = tuple(problems)
        super().__init__("Plug-ins cannot be used:\n" + "\n".join(f"  {problem}" for problem in self.problems))


class Registry:
    """Resource types by name, one instance each, and custom constraints by name. Immutable."""

    def __init__(
        self,
        types: Iterable[type[ResourceType]],
        constraints: Mapping[str, CustomCheck] | None = None,
        template_type: TemplateType | None = None,
        options: Mapping[str, Any] | None = None,
        sinks: Mapping[str, EventSink] | None = None,
    ) -> None:
        """`options` are the operator's settings (heat.conf names), with which types configure themselves.

        Raises PluginInvalid with all problems of the declarations.
        """
        self._constraints = dict(constraints or {})
        self._template_type = template_type
        self._sinks = dict(sinks or {})
        self._types: dict[str, ResourceType] = {}
        problems: list[str] = []
        for kind in types:
            name = getattr(kind, "type_name", "") or f"{kind.__module__}.{kind.__qualname__}"
            if name in self._types and type(self._types[name]) is not kind:
                problems.append(f"{name}: declared by {type(self._types[name]).__qualname__} and {kind.__qualname__}")
                continue
            made = self._types[name] = kind()
            made.configure(options or {})
            problems += (f"{name}: {problem}" for problem in declaration_problems(made, self._constraints))
        if problems:
            raise PluginInvalid(problems)

    @classmethod
    def from_entry_points(cls, options: Mapping[str, Any] | None = None) -> Registry:
        """Load all plug-ins of the installed packages, configured with `options`. Raises PluginInvalid."""
        types = [kind for offered in _offers(RESOURCES) for kind in offered]
        constraints: dict[str, CustomCheck] = {}
        for offered in _offers(CONSTRAINTS):
            constraints |= offered
        factories = list(_offers(TEMPLATE_TYPES))
        if len(factories) > 1:
            raise PluginInvalid([f"{len(factories)} entry points in {TEMPLATE_TYPES}; only one is allowed"])
        sinks: dict[str, EventSink] = {}
        for offered in _offers(EVENT_SINKS):
            sinks |= offered
        return cls(types, constraints, factories[0] if factories else None, options, sinks)

    def get(self, type_name: str) -> ResourceType | None:
        """Return the type with exactly this name; None when there is none."""
        return self._types.get(type_name)

    def types(self) -> Mapping[str, ResourceType]:
        """All types by name."""
        return self._types

    def constraint(self, name: str) -> CustomCheck | None:
        """Return the custom constraint with this name; None when there is none."""
        return self._constraints.get(name)

    def constraints(self) -> Mapping[str, CustomCheck]:
        """All custom constraints by name."""
        return self._constraints

    def event_sink(self, name: str) -> EventSink | None:
        """Return the kind of event sink with this name; None when there is none."""
        return self._sinks.get(name)

    def event_sinks(self) -> Mapping[str, EventSink]:
        """All kinds of event sinks by name."""
        return self._sinks

    def template_type(self, template: Any, name: str) -> ResourceType:
        """Return the type of a resource that is itself a (parsed) template; `name` is its file's name or URL."""
        if self._template_type is None:
            raise PluginInvalid([f"{name}: there is no plug-in in {TEMPLATE_TYPES} for resources that are templates"])
        return self._template_type(template, name)


def _offers(group: str) -> Iterator[Any]:
    """Load the objects of a group's entry points, in the order of their names."""

    def refused(manager: Any, entry_point: Any, error: BaseException) -> None:
        raise PluginInvalid([f"{group}: {entry_point.name} ({entry_point.value}) cannot be loaded: {error}"]) from error

    manager = ExtensionManager(group, on_load_failure_callback=refused)
    return iter([extension.plugin for extension in sorted(manager, key=lambda extension: extension.name)])


def declaration_problems(kind: ResourceType, constraints: Mapping[str, CustomCheck]) -> Iterator[str]:
    """Return the problems of a type's declarations, one sentence each."""
    if not getattr(kind, "type_name", ""):
        yield "has no type_name"
    if kind.service is not None and kind.service not in SERVICES:
        yield f"needs the service {kind.service!r}, which Stoker does not support"
    if not kind.local and not (isinstance(kind.recovery, Recovery) and kind.recovery.why):
        yield "has side effects but does not declare (in `recovery`) how an interrupted creation is found again"
    yield from _schema_problems(kind.properties, "properties", constraints)
    yield from _schema_problems(kind.update_policy, "update_policy", constraints)
    yield from _schema_problems(kind.creation_policy, "creation_policy", constraints)


def _schema_problems(
    schema: Mapping[str, Property], place: str, constraints: Mapping[str, CustomCheck]
) -> Iterator[str]:
    sent: dict[str, str] = {}
    for name, prop in schema.items():
        where = f"{place}.{name}"
        if prop.replaces is not None and prop.replaces not in schema:
            yield f"{where} replaces {prop.replaces!r}, which is not declared in the same map"
        older = any(other.replaces == name for other in schema.values())
        wire = name if prop.wire is None else prop.wire
        if wire and not older and sent.setdefault(wire, name) != name:
            yield f"{where} is sent as {wire!r}, and so is {sent[wire]!r}"
        yield from _property_problems(prop, where, constraints)


def _property_problems(prop: Property, where: str, constraints: Mapping[str, CustomCheck]) -> Iterator[str]:
    if prop.resolve is not None and prop.resolve not in FINDERS:
        yield f"{where} resolves names with {prop.resolve!r}, which is not a finder"
    for constraint in prop.constraints:
        if isinstance(constraint, CustomConstraint) and constraint.name not in constraints:
            yield f"{where} has the unknown custom constraint {constraint.name!r}"
    if prop.default is not None:
        finalizer = Finalizer()
        finalizer.value(prop, prop.default, ())
        yield from (f"{where} has an invalid default: {problem.message}" for problem in finalizer.problems)
    if prop.schema is not None:
        yield from _schema_problems(prop.schema, where, constraints)
    if prop.items is not None:
        yield from _property_problems(prop.items, f"{where}[]", constraints)
