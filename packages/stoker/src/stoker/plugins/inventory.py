"""How the existing objects of a type are listed, and described as resources of a generated template."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from stoker.cloud.session import Cloud
from stoker.plugins.resource import ResourceType

Fields = Mapping[str, Any]
"""An object, as its service lists it."""


def _itself(fields: Fields) -> Iterable[Fields]:
    return (fields,)


def _nothing(fields: Fields) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class RelatedList:
    """A list of other objects with details of those of a type: the items with the ID of an object in `field` are
    among its fields under the name `key`.
    """

    service: str
    path: str
    members: str
    field: str
    key: str
    owner: str


@dataclass(frozen=True, kw_only=True)
class Inventory:
    """Where the objects of a type are listed in full, and what a template says of them.

    `path` may name a property in braces, which refers to the object that contains the listed ones. `members` is the key
    of the list, `member` the key around one object, both "" where the service uses none; `params` is the query. The
    `*_field`s are those of an object: its ID, its name (None without one), its tags, its status. `finder` is what other
    properties refer to the objects as (`neutron.network`), None if nothing does.

    An object whose property `follows` refers to another one is scanned with that, as it has no name and tags.
    `describe` returns the values of the properties by name, None for those that the service does not show. Properties
    in `chosen` are not written, as the service chooses them for a new object; nor are `usual` values, which a new
    object has without the property. Those in `varying` become parameters. `objects` returns the objects that one item
    of the list stands for, `complete` reads what the list does not show of one, and `left_out` says why one becomes no
    resource ("" if it does).
    """

    service: str
    path: str
    members: str
    describe: Callable[[Fields], Fields]
    member: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    id_field: str = "id"
    name_field: str | None = "name"
    tags_field: str = "tags"
    status_field: str = "status"
    finder: str | None = None
    follows: str = ""
    related: RelatedList | None = None
    chosen: frozenset[str] = frozenset()
    usual: Mapping[str, object] = field(default_factory=dict)
    varying: frozenset[str] = frozenset()
    objects: Callable[[Fields], Iterable[Fields]] = _itself
    complete: Callable[[Cloud, Fields], Awaitable[Fields]] | None = None
    left_out: Callable[[Fields], str] = _nothing


def inventory_of(kind: ResourceType, project_id: str) -> Inventory | None:
    """Return how existing objects of a project become resources of a generated template; None if they cannot."""
    place = kind.inventory
    if place is None:
        return None
    found: Inventory | None = getattr(import_module(place.module), place.function)(kind, project_id)
    return found
