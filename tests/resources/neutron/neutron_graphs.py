"""Definitions as implicit requirements see them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from stoker.plugins import capabilities
from stoker.plugins.resource import Node, ResourceType
from stoker.resources.neutron import TYPES
from stoker.schema.property import Finalizer
from stoker.schema.unknown import find_unknowns

_KINDS = {kind.type_name: kind() for kind in TYPES}


class Definition:
    """Resources as `name=(type, properties)`, in which an Unknown refers to another resource."""

    def __init__(self, **resources: tuple[str, Mapping[str, Any]]) -> None:
        self.nodes = {
            name: Node(
                name,
                type_name,
                Finalizer().properties(_KINDS[type_name].properties, properties),
                frozenset(other for found in find_unknowns(properties) for other in found.resources()),
            )
            for name, (type_name, properties) in resources.items()
        }

    def of_type(self, *type_names: str) -> Iterator[Node]:
        return (node for node in self.nodes.values() if node.type in type_names)

    def resources(self) -> Iterator[Node]:
        return iter(self.nodes.values())

    def requirements(self, kind: type[ResourceType], name: str) -> set[str]:
        """The implicit requirements of a resource."""
        asked = kind()
        assert isinstance(asked, capabilities.ImplicitlyDependent)
        return set(asked.implicit_requirements(self.nodes[name], self))
