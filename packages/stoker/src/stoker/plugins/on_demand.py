"""Resource types that are imported when a template uses them.

A package that offers many types declares them as `TypesOnDemand`. A tool that reads one template then imports the
modules of that template's types alone. An engine imports those of other packages when it starts, to validate them, and
Stoker's own when they are used.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module

from stoker.plugins.resource import ResourceType


@dataclass(frozen=True, slots=True)
class TypeLocation:
    """Where the class of a type is: `module` is relative to `package`."""

    type_name: str
    package: str
    module: str
    name: str

    def load(self) -> type[ResourceType]:
        """Import the module and return the class. Raises ImportError, AttributeError, and TypeError if it is wrong."""
        kind = getattr(import_module(f".{self.module}", self.package), self.name)
        if not (isinstance(kind, type) and issubclass(kind, ResourceType)):
            raise TypeError(f"{kind!r} must be a class derived from ResourceType")
        if getattr(kind, "type_name", "") != self.type_name:
            raise TypeError(f"{kind.__qualname__} is declared as {self.type_name}, but its type_name is another")
        return kind


class TypesOnDemand(Collection[type[ResourceType]]):
    """A collection of classes of resource types, with `places`: where each class is, by the name of the type."""

    def __init__(self, package: str, places: Mapping[str, str]) -> None:
        """`places` has `module:Class` by the name of the type, with the module's name relative to `package`."""
        split = {type_name: place.partition(":") for type_name, place in places.items()}
        self.places: Mapping[str, TypeLocation] = {
            type_name: TypeLocation(type_name, package, module, name) for type_name, (module, _, name) in split.items()
        }

    def __iter__(self) -> Iterator[type[ResourceType]]:
        """Import all types and yield their classes."""
        return (place.load() for place in self.places.values())

    def __len__(self) -> int:
        return len(self.places)

    def __contains__(self, kind: object) -> bool:
        return any(kind is known for known in self)
