"""The list in which a service shows the objects of a type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Listing:
    """Where the objects of a type are listed, whatever the properties of a resource are.

    `members` is the key of the list, `member` the key around one object, both "" where the service uses none.
    `id_field` is the field with the physical ID, `name_field` the one with the name that Stoker chooses; None without
    such a name. `owner` is the query parameter that limits the list to one project. A `personal` list shows only the
    objects of the user who asks.
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

    def path_of(self, named: str) -> str:
        """Return the path of the object that `named` names in requests (`IdForm.in_requests`)."""
        return f"{self.path}/{quote(named, safe='')}"
