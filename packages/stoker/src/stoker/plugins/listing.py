"""The list in which a service shows the objects of a type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from stoker.plugins.former_names import former_name


@dataclass(frozen=True, slots=True)
class CollectionLocation:
    """Where the objects of a type are listed, whatever the properties of a resource are.

    `members` is the key of the list, `member` the key around one object, both "" where the service uses none.
    `id_field` is the field with the physical ID, `name_field` the one with the name that Stoker chooses; None without
    such a name. `owner` is the query parameter that limits the list to one project. A `personal` list shows only the
    objects of the user who sends the request.
    """

    service: str
    path: str
    members: str
    id_field: str = "id"
    name_field: str | None = "name"
    owner: str | None = None
    member: str = ""
    personal: bool = False

    def parts(self, item: Any) -> tuple[str, str] | None:
        """Return the ID and the name of a listed object, "" for no name; None for something that is no object."""
        if isinstance(item, Mapping) and self.member and self.id_field not in item:
            item = item.get(self.member)
        if not isinstance(item, Mapping) or item.get(self.id_field) is None:
            return None
        return str(item[self.id_field]), str((item.get(self.name_field) if self.name_field else None) or "")

    def path_of(self, identifier: str) -> str:
        """Return the path of the object that `identifier` denotes in requests (`IdForm.in_requests`)."""
        return f"{self.path}/{quote(identifier, safe='')}"


@dataclass(frozen=True, slots=True)
class SharedList:
    """A list with the fields that requests for single objects return, so that one read serves many resources.

    `path` is that of the collection, to which the ID of an object is appended, `list_path` where it is listed in full.
    `field` has the physical ID of a resource: that of the objects, or another field if the list is read for what
    belongs to the resource (`of_others`: the ports of a server). The service `selects` if the list can be limited to
    several values of it. For the other fields see `CollectionLocation`.
    """

    service: str
    path: str
    list_path: str
    members: str
    member: str = ""
    field: str = "id"
    of_others: bool = False
    selects: bool = False


@dataclass(frozen=True, slots=True)
class InventoryLocation:
    """The function that returns the inventory of a type (`stoker.plugins.inventory`), which is imported when it is
    needed: `(resource type, ID of the project)`. It returns None for types whose objects it does not describe.
    """

    module: str
    function: str


def __getattr__(name: str) -> object:
    return former_name(__name__, name, {"Listing": CollectionLocation})
