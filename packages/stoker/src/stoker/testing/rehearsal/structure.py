"""The resources of a template and its nested templates: where each is written, and what it depends on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from stoker.authoring.lint import MAX_NESTED_STACK_DEPTH
from stoker.authoring.sources import resolve_path
from stoker.authoring.workspace import BoundTemplate, Workspace
from stoker.base.diagnostics import Diagnostic, Position
from stoker.base.errors import RequestLimitExceeded, TemplateInvalid
from stoker.plugins import capabilities
from stoker.plugins.registry import Registry
from stoker.plugins.resource import ChildRequest, ResourceType
from stoker.resources.heat.groups.scaling_policy import PolicyResource
from stoker.template.check import requirements
from stoker.template.expressions import UnknownScope
from stoker.template.properties import finalize


@dataclass(frozen=True, slots=True)
class Node:
    """A resource in a template.

    `requires` are the names of the resources that it depends on, in any way, `refers_to` of those that its properties
    refer to. `update_policy` is its policy, `values` are its properties, as far as they are known. `key` is the path of
    the resource in the document `source`.
    """

    name: str
    type: str
    source: str
    position: Position | None
    key: tuple[str, ...]
    requires: frozenset[str]
    refers_to: frozenset[str]
    kind: ResourceType | None
    values: Mapping[str, Any]
    update_policy: Mapping[str, Any]
    inside: Level | None = None


@dataclass(frozen=True, slots=True)
class Level:
    """The resources of one stack by name. `shown` are the names of those that outputs refer to. `own` is whether the
    resources are written in a file, and not made by a group.
    """

    nodes: Mapping[str, Node]
    shown: frozenset[str]
    own: bool

    def after(self, name: str, hidden: Mapping[str, frozenset[str]] = MappingProxyType({})) -> set[str]:
        """Return the resources that depend on one, directly or not; `hidden` are further ones that some depend on."""
        requires = {
            resource: node.requires | hidden.get(resource, frozenset()) for resource, node in self.nodes.items()
        }
        dependents = {name}
        while more := {resource for resource, needed in requires.items() if needed & dependents} - dependents:
            dependents |= more
        return dependents - {name}


@dataclass(frozen=True, slots=True)
class Structure:
    """The resources of a template, at all levels."""

    root: Level
    template: str

    @classmethod
    def of(cls, template: str, environments: Sequence[str], parameters: Mapping[str, Any]) -> Structure:
        """Read a template. Raises TemplateInvalid with its problems."""
        workspace = Workspace(Registry.on_demand(), environments, parameters)
        return cls(_level(workspace.root(template).require_valid()), template)

    def walk(self) -> Iterator[tuple[str, Node, Level]]:
        """Yield all resources with their paths and levels; of equal members of a group only one."""
        yield from _walk(self.root, "")

    def chain(self, path: str) -> list[tuple[Level, Node]]:
        """Return the resource that a path leads to, after those that contain it, as far as they are known."""
        chain: list[tuple[Level, Node]] = []
        level: Level | None = self.root
        for name in path.split("."):
            if level is None:
                break
            node = level.nodes.get(name)
            if node is None and not level.own and level.nodes:
                node = next(iter(level.nodes.values()))  # members of groups are alike
            if node is None:
                break
            chain.append((level, node))
            level = node.inside
        return chain

    def find(self, path: str) -> Node | None:
        """Return the innermost resource that is known of a path."""
        chain = self.chain(path)
        return chain[-1][1] if chain else None

    def diagnostic(self, path: str, rule: str, message: str, hint: str = "") -> Diagnostic:
        """Return what is wrong with a resource, at its place."""
        placed = [node for _, node in self.chain(path) if node.position is not None]
        if not placed:
            return Diagnostic(rule, message, source=self.template, hint=hint)
        node = placed[-1]
        return Diagnostic(rule, message, node.key, node.source, node.position, hint)


def scaling_policies(structure: Structure) -> tuple[str, ...]:
    """Return the paths of the policies that scale groups, but for those of the groups' members."""
    return tuple(
        path
        for path, node, _ in structure.walk()
        if isinstance(node.kind, PolicyResource) and all(level.own for level, _ in structure.chain(path))
    )


def _walk(level: Level, prefix: str) -> Iterator[tuple[str, Node, Level]]:
    for name, node in level.nodes.items():
        yield f"{prefix}{name}", node, level
        if node.inside is not None:
            yield from _walk(node.inside, f"{prefix}{name}.")


def _level(place: BoundTemplate) -> Level:
    definition = place.definition
    kinds = {name: place.kind_of(resource) for name, resource in definition.resources.items()}
    types = {name: kind for name, kind in kinds.items() if kind is not None}
    requires = requirements(definition, types)
    document = definition.template.document
    section = "Resources" if "Resources" in document.data else "resources"
    own = document.text is not None
    nodes = {}
    for name, resource in definition.resources.items():
        kind, key = types.get(name), (section, name)
        values = finalize(definition, resource, kind, UnknownScope()).values if kind is not None else {}
        nodes[name] = Node(
            name,
            resource.type,
            document.source if own else "",
            document.locate(key) if own else None,
            key,
            requires[name],
            frozenset(reference.resource for reference in resource.references),
            kind,
            values,
            definition.resolve(resource.update_policy, UnknownScope()) or {},
            _inside(place, name, kind, values),
        )
    outputs = (reference for output in definition.outputs.values() for reference in _references(definition, output))
    return Level(nodes, frozenset(outputs), own)


def _references(definition: Any, output: Any) -> Iterator[str]:
    for placed in definition.references_in(output.value):
        yield placed.reference.resource


def _inside(place: BoundTemplate, name: str, kind: ResourceType | None, values: Mapping[str, Any]) -> Level | None:
    if kind is None or place.depth >= MAX_NESTED_STACK_DEPTH:
        return None
    remote = capabilities.remote_stack_of(kind, values)
    request = remote or capabilities.sample_of(kind, values)
    if request is None or request.template is None:
        return None
    if remote is not None and (file := _file_of(place, name)) is not None:
        request = ChildRequest(None, file, remote.parameters)
    try:
        level = _level(place.child(place.definition.resources[name], request).require_valid())
    except (TemplateInvalid, RequestLimitExceeded):
        return None
    return level if remote is None else replace(level, own=True)


def _file_of(place: BoundTemplate, name: str) -> str | None:
    """Return the path of the file that a resource has as its property `template`; None if it is not all of a file."""
    document = place.definition.template.document
    location = document.data["resources"][name]["properties"]["template"] if "resources" in document.data else None
    if isinstance(location, Mapping) and list(location) == ["get_file"] and isinstance(location["get_file"], str):
        return resolve_path(place.files.folder, location["get_file"])
    return None
