"""Dependencies that plug-ins add to those in the template: `add_dependencies` and `add_explicit_dependencies`.

Both are called for every graph, before any resource exists. The plug-in's object and the other resources of the stack
then have the values of the template, in which references are placeholders: equal ones refer to the same value.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from heat.engine.resource import Resource
from heat.engine.rsrc_defn import ResourceDefinition
from stoker.base.errors import BadValue, StokerError
from stoker.plugins.resource import Graph, Node
from stoker.schema.unknown import Unknown
from stoker_heat_plugins.known import CLASSES
from stoker_heat_plugins.names import MANUAL
from stoker_heat_plugins.record import Record
from stoker_heat_plugins.schema import defines

METHODS = ("add_dependencies", "add_explicit_dependencies")


def added_requirements(plugin: object, node: Node, graph: Graph) -> Iterable[str]:
    """Return the names of the resources that a plug-in's class adds. Raises BadValue if its method fails."""
    methods = [method for method in METHODS if defines(plugin, method)]
    if not methods:
        return ()
    stack = Resources({each.name: each for each in graph.resources()})
    resource = stack[node.name]
    edges = _Edges(resource)
    for method in methods:
        try:
            getattr(resource, method)(edges)
        except StokerError:
            raise
        except Exception as error:
            raise BadValue(
                f"{node.type}: {method} of the plug-in fails for the resource {node.name!r}: "
                f"{type(error).__name__}: {error}"
            ) from error
    return sorted(edges.required)


class _Edges:
    """Collects what a resource requires, by `edges += (resource, required)`."""

    def __init__(self, resource: Resource) -> None:
        self._resource = resource
        self.required: set[str] = set()

    def __iadd__(self, edge: tuple[Resource, Resource | None]) -> _Edges:
        dependent, required = edge
        if dependent is not self._resource:
            raise ValueError(f"a plug-in can add dependencies of its own resource only, not of {dependent.name!r}")
        if required is not None and required is not dependent:
            self.required.add(required.name)
        return self

    def __getattr__(self, name: str) -> object:
        raise AttributeError(f"stoker-heat-plugins offers only `deps += (self, other)`, not `deps.{name}` ({MANUAL})")


class _NoServices:
    """Replaces the context: no request is sent for a graph."""

    def __getattr__(self, name: str) -> object:
        raise AttributeError(f"dependencies are determined without services, so there is no context.{name} ({MANUAL})")


class Resources(Mapping[str, Resource]):
    """The resources of a definition by name, made when they are read."""

    name = id = ""
    context = clients = _NoServices()

    def __init__(self, nodes: Mapping[str, Node]) -> None:
        self._nodes = nodes
        self._made: dict[str, Resource] = {}

    def __getitem__(self, name: str) -> Resource:
        if name not in self._made:
            self._made[name] = _made(self._nodes[name], self)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._nodes)

    def __len__(self) -> int:
        return len(self._nodes)

    def iter_resources(self) -> Iterator[Resource]:
        """Return the resources."""
        return iter(self.values())

    def __getattr__(self, name: str) -> object:
        raise AttributeError(f"stoker-heat-plugins does not offer `stack.{name}` for dependencies (see {MANUAL})")


def _made(node: Node, stack: Resources) -> Resource:
    """Return the object of a resource that does not exist yet; its reference ID is a placeholder."""
    kind: type[Resource] = CLASSES.get(node.type, Resource)
    made = kind(node.name, ResourceDefinition(node.name, node.type, node.properties, {}, Record()), stack)
    if kind is Resource:
        made.properties = node.properties  # type: ignore[assignment]  # no schema is known
    for name in ("get_reference_id", "FnGetRefId"):
        setattr(made, name, lambda: Unknown.of(node.name))
    return made
