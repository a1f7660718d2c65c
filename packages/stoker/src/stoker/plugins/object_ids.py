"""How the physical IDs of a type identify its objects, each of which belongs to one resource at most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto


class IdScope(Enum):
    """Within what an ID identifies one object."""

    CLOUD = auto()
    PROJECT = auto()
    USER = auto()


@dataclass(frozen=True, slots=True)
class ObjectIds:
    """An ID identifies one object `within` the cloud, a project, or what belongs to a user.

    `kind` is what the objects are, for types that share them and have no list in common (`ResourceType.listed`); ""
    for others. `user` is the property that names the user of a personal object; where it has no value, that is the
    owner of the stack.
    """

    within: IdScope = IdScope.CLOUD
    kind: str = ""
    user: str | None = None

    def scope(self, project_id: str, user_id: str | None, properties: Mapping[str, object]) -> str:
        """Return what the IDs are unique in, for a resource with these properties in a stack of this owner."""
        match self.within:
            case IdScope.CLOUD:
                return ""
            case IdScope.PROJECT:
                return project_id
            case IdScope.USER:
                return str((properties.get(self.user) if self.user else None) or user_id or "")
