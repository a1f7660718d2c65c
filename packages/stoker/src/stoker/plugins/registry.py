"""The resource types and other parts that the installed packages offer, validated at start.

| group | object of an entry point |
|---|---|
| `stoker.resources` | an iterable of `ResourceType` classes, `TypesOnDemand`, or `ConfiguredTypes` |
| `stoker.constraints` | a mapping from names to `CustomCheck` objects, or `ConfiguredConstraints` |
| `stoker.template_types` | one function `(template, name) -> ResourceType` for resources that are templates |
| `stoker.event_sinks` | a mapping from the types of event sinks to `EventSink` objects |
| `stoker.lifecycle` | a mapping from names to `LifecyclePlugin` objects |
| `stoker.update_policies` | a mapping from names to `UpdatePolicy` objects |

The other groups are read where they are used: `stoker.services` in `stoker.cloud.services`, `stoker.finders` in
`stoker.cloud.finders`, the transports in `stoker.plugins.transports`, `stoker.template_functions` and
`stoker.template_versions` in `stoker.template`.

A package whose entry point cannot be loaded prevents the start, except for event sinks: stacks that name one that is
missing are refused, and all others are not affected. Stoker's own resource types, which its tests validate, are
imported when something uses them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from stoker.base.extensions import Offer, PluginInvalid, entries, not_loaded, offers, twice, working_offers
from stoker.cloud.finders import finders
from stoker.cloud.services import services
from stoker.plugins.configured import ConfiguredConstraints, ConfiguredTypes
from stoker.plugins.constraints import CustomCheck, Exists
from stoker.plugins.event_sink import EventSink
from stoker.plugins.lifecycle import LifecyclePlugin
from stoker.plugins.on_demand import TypeLocation, TypesOnDemand
from stoker.plugins.recovery import Recovery
from stoker.plugins.resource import ResourceType
from stoker.plugins.update_policy import UpdatePolicy
from stoker.schema.constraints import CustomConstraint
from stoker.schema.property import Finalizer, Property

RESOURCES = "stoker.resources"
CONSTRAINTS = "stoker.constraints"
TEMPLATE_TYPES = "stoker.template_types"
EVENT_SINKS = "stoker.event_sinks"
LIFECYCLE = "stoker.lifecycle"
UPDATE_POLICIES = "stoker.update_policies"

TemplateType = Callable[[Any, str], ResourceType]
_Offered = Offer[type[ResourceType] | TypeLocation]

Object = TypeVar("Object")
Ordered = TypeVar("Ordered", LifecyclePlugin, UpdatePolicy)


class Registry:
    """What the plug-ins offer. Immutable.

    By name: `types` has one instance of each resource type, `constraints` the custom constraints, `event_sinks` the
    kinds of event sinks. `lifecycle` and `update_policies` are the plug-ins with their names, in the order in which
    they are called before an operation, and asked.
    """

    def __init__(
        self,
        types: Iterable[type[ResourceType]],
        constraints: Mapping[str, CustomCheck] | None = None,
        template_type: TemplateType | None = None,
        options: Mapping[str, object] | None = None,
        sinks: Mapping[str, EventSink] | None = None,
        lifecycle: Mapping[str, LifecyclePlugin] | None = None,
        update_policies: Mapping[str, UpdatePolicy] | None = None,
    ) -> None:
        """`options` are the operator's settings (heat.conf names), with which types configure themselves.

        Raises PluginInvalid with all problems of the declarations.
        """
        self.constraints: Mapping[str, CustomCheck] = dict(constraints or {})
        self._template_type = template_type
        self.event_sinks: Mapping[str, EventSink] = dict(sinks or {})
        self.lifecycle = _in_order(lifecycle or {})
        self.update_policies = _in_order(update_policies or {})
        instances: dict[str, ResourceType] = {}
        problems = list(constraint_problems(self.constraints))
        for kind in types:
            name = type_name(kind)
            if name in instances and type(instances[name]) is not kind:
                problems.append(f"{name}: declared by {type(instances[name]).__qualname__} and {kind.__qualname__}")
                continue
            instances[name] = kind()
            instances[name].configure(options or {})
            problems += _type_problems(name, instances[name], self.constraints)
        if problems:
            raise PluginInvalid(problems)
        self.types: Mapping[str, ResourceType] = instances

    @classmethod
    def from_entry_points(cls, options: Mapping[str, object] | None = None) -> Registry:
        """Load what the installed packages offer, configured with `options`. Raises PluginInvalid.

        The types of other packages are imported and validated at once, Stoker's own when they are used.
        """
        offered = _offered_types(options or {})
        registry = cls(
            _classes(offer for offer in offered.values() if not offer.own),
            _constraints(options or {}),
            _template_type(),
            options,
            _named(working_offers(EVENT_SINKS), EventSink),  # type: ignore[type-abstract]
            _named(offers(LIFECYCLE), LifecyclePlugin),
            _named(offers(UPDATE_POLICIES), UpdatePolicy),  # type: ignore[type-abstract]
        )
        registry.types = _TypesOnDemand(offered, registry.constraints, options or {}, registry.types)
        return registry

    @classmethod
    def on_demand(cls, options: Mapping[str, object] | None = None) -> Registry:
        """Return a registry for tools that read a few templates: types are imported and validated when they are used.

        `options` are as in `from_entry_points`. The registry has no event sinks, lifecycle plug-ins and update
        policies, which only operations need. Raises PluginInvalid, also later, for a type that cannot be used.
        """
        registry = cls((), _constraints(options or {}), _template_type())
        registry.types = _TypesOnDemand(_offered_types(options or {}), registry.constraints, options or {}, {})
        return registry

    def load(self) -> None:
        """Import and validate all types that have not been used yet. Raises PluginInvalid for the first invalid one."""
        for _ in self.types.values():
            pass

    def template_type(self, template: object, name: str) -> ResourceType:
        """Return the type of a resource that is itself a (parsed) template; `name` is its file's name or URL."""
        if self._template_type is None:
            raise PluginInvalid([f"{name}: there is no plug-in in {TEMPLATE_TYPES} for resources that are templates"])
        return self._template_type(template, name)


class _TypesOnDemand(Mapping[str, ResourceType]):
    """One instance of each type by name, made when it is asked for first. Several threads may use it."""

    def __init__(
        self,
        offered: Mapping[str, _Offered],
        constraints: Mapping[str, CustomCheck],
        options: Mapping[str, object],
        instances: Mapping[str, ResourceType],
    ) -> None:
        """`instances` are those that exist already."""
        self._offered = offered
        self._constraints = constraints
        self._options = options
        self._instances = dict(instances)

    def __getitem__(self, name: str) -> ResourceType:
        known = self._instances.get(name)
        return self._make(name) if known is None else known

    def get(self, name: str, default: Any = None) -> Any:
        """Return a type, `default` if there is none; without the exception that `Mapping` would raise and catch."""
        known = self._instances.get(name)
        if known is not None:
            return known
        return self._make(name) if name in self._offered else default

    def _make(self, name: str) -> ResourceType:
        (kind,) = _classes([self._offered[name]])
        instance = kind()
        instance.configure(self._options)
        problems = list(_type_problems(name, instance, self._constraints))
        if problems:
            raise PluginInvalid(problems)
        return self._instances.setdefault(name, instance)

    def __contains__(self, name: object) -> bool:
        return name in self._offered

    def __iter__(self) -> Iterator[str]:
        return iter(self._offered)

    def __len__(self) -> int:
        return len(self._offered)


def _named(found: Iterable[Offer[object]], kind: type[Object]) -> dict[str, Object]:
    return {entry.name: entry.value for entry in entries(found, kind)}


def _in_order(plugins: Mapping[str, Ordered]) -> tuple[tuple[str, Ordered], ...]:
    return tuple(sorted(plugins.items(), key=lambda item: (item[1].order, item[0])))


def type_name(kind: type[ResourceType]) -> str:
    """Return the name of a type in templates; that of the class for one that has not declared any."""
    return getattr(kind, "type_name", "") or f"{kind.__module__}.{kind.__qualname__}"


def _offered_types(options: Mapping[str, object]) -> dict[str, _Offered]:
    """Return what packages offer with these options, by the name of the type. Raises PluginInvalid."""
    known: dict[str, _Offered] = {}
    problems: list[str] = []
    for offer in offers(RESOURCES):
        for kind in _table(offer.value, options):
            if not (isinstance(kind, TypeLocation) or (isinstance(kind, type) and issubclass(kind, ResourceType))):
                problems.append(f"{offer.origin}: {kind!r} must be a class derived from ResourceType")
                continue
            name = kind.type_name if isinstance(kind, TypeLocation) else type_name(kind)
            entry: _Offered = Offer(name, kind, offer.package, offer.entry_point)
            if known.setdefault(name, entry).value != kind:
                problems.append(twice(name, known[name], entry))
    if problems:
        raise PluginInvalid(problems)
    return known


def _table(offered: Any, options: Mapping[str, object]) -> Iterable[object]:
    """Return the types of one entry point."""
    if isinstance(offered, ConfiguredTypes):
        return offered.types(options)
    return offered.places.values() if isinstance(offered, TypesOnDemand) else offered


def _constraints(options: Mapping[str, object]) -> dict[str, CustomCheck]:
    """Return the constraints that packages offer with these options. Raises PluginInvalid."""
    found = [
        replace(offer, value=offer.value.constraints(options))
        if isinstance(offer.value, ConfiguredConstraints)
        else offer
        for offer in offers(CONSTRAINTS)
    ]
    return _named(found, CustomCheck)  # type: ignore[type-abstract]


def _classes(offered: Iterable[_Offered]) -> list[type[ResourceType]]:
    """Import the classes that are not imported yet. Raises PluginInvalid with all that cannot be loaded."""
    classes: list[type[ResourceType]] = []
    problems: list[str] = []
    for offer in offered:
        try:
            classes.append(offer.value.load() if isinstance(offer.value, TypeLocation) else offer.value)
        except Exception as error:
            problems.append(not_loaded(offer.package, f"{offer.entry_point}: {offer.name}", error))
    if problems:
        raise PluginInvalid(problems)
    return classes


def _template_type() -> TemplateType | None:
    found = offers(TEMPLATE_TYPES)
    if len(found) > 1:
        raise PluginInvalid([twice("the type of resources that are templates", found[0], found[1])])
    return found[0].value if found else None


def constraint_problems(constraints: Mapping[str, CustomCheck]) -> Iterator[str]:
    """Return the problems of constraints, one sentence each."""
    for name, check in constraints.items():
        if isinstance(check, Exists) and check.finder not in finders():
            yield f"the constraint {name!r} needs the finder {check.finder!r}, which no installed package offers"


def declaration_problems(kind: ResourceType, constraints: Mapping[str, CustomCheck]) -> Iterator[str]:
    """Return the problems of a type's declarations, one sentence each."""
    if not getattr(kind, "type_name", ""):
        yield "has no type_name"
    if kind.service is not None and kind.service not in services():
        yield f"needs the service {kind.service!r}, which no installed package offers"
    if not kind.local and not (isinstance(kind.recovery, Recovery) and kind.recovery.why):
        yield "has side effects but does not declare (in `recovery`) how an interrupted creation is found again"
    yield from _schema_problems(kind.properties, "properties", constraints)
    yield from _schema_problems(kind.update_policy, "update_policy", constraints)
    yield from _schema_problems(kind.creation_policy, "creation_policy", constraints)


def _type_problems(name: str, kind: ResourceType, constraints: Mapping[str, CustomCheck]) -> Iterator[str]:
    return (f"{name}: {problem}" for problem in declaration_problems(kind, constraints))


def _schema_problems(
    schema: Mapping[str, Property], place: str, constraints: Mapping[str, CustomCheck]
) -> Iterator[str]:
    sent: dict[str, str] = {}
    replaced = {prop.replaces for prop in schema.values()}
    for name, prop in schema.items():
        where = f"{place}.{name}"
        if prop.replaces is not None and prop.replaces not in schema:
            yield f"{where} replaces {prop.replaces!r}, which is not declared in the same map"
        wire = name if prop.wire is None else prop.wire
        if wire and name not in replaced and sent.setdefault(wire, name) != name:
            yield f"{where} is sent as {wire!r}, and so is {sent[wire]!r}"
        yield from _property_problems(prop, where, constraints)


def _property_problems(prop: Property, where: str, constraints: Mapping[str, CustomCheck]) -> Iterator[str]:
    if prop.resolve is not None and prop.resolve not in finders():
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
