"""The IDs of resources' objects as users see them.

The ID of a queue, a container or a key pair is its name, which a template can take from a hidden parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypedDict, TypeVar, cast

from stoker.base.redaction import redact
from stoker.engine.records.services import EngineServices
from stoker.engine.redaction.stacks import secrets_ever
from stoker.plugins.registry import Registry
from stoker.store.records import Stack
from stoker.template.registry import is_template_name


class _WithId(TypedDict):
    physical_id: str | None


View = TypeVar("View", bound=_WithId)


class ObjectIds:
    """Redacts IDs; the secrets of each stack are looked up once, and only if an ID of its objects may be hidden."""

    def __init__(self, services: EngineServices) -> None:
        self._services = services
        self._secrets: dict[str, set[str]] = {}
        self._chosen: dict[str, bool] = {}

    def may_hide(self, type_name: str) -> bool:
        """Return whether IDs of objects of a type may have to be redacted."""
        chosen = self._chosen.get(type_name)
        if chosen is None:
            chosen = self._chosen[type_name] = is_chosen(self._services.types.registry, type_name)
        return chosen

    async def shown(self, stack: Stack, type_name: str, physical_id: str | None) -> str | None:
        """Return the ID of an object of a resource, hidden values of the stack redacted."""
        if physical_id is None or physical_id == stack.id or not self.may_hide(type_name):
            return physical_id
        if stack.id not in self._secrets:
            self._secrets[stack.id] = await secrets_ever(self._services, stack)
        shown: str = redact(physical_id, self._secrets[stack.id])
        return shown

    async def views(self, items: Iterable[tuple[Stack, str, View]]) -> Sequence[View]:
        """Return views of resources or events with the IDs shown; each is given with its stack and type."""
        found = []
        for stack, type_name, view in items:
            identifier = await self.shown(stack, type_name, view["physical_id"])
            found.append(view if identifier == view["physical_id"] else cast(View, {**view, "physical_id": identifier}))
        return found


def is_chosen(registry: Registry, type_name: str) -> bool:
    """Return whether users can choose the IDs of a type's objects; services make those of most types."""
    kind = registry.types.get(type_name)
    if kind is None:
        return not is_template_name(type_name)
    return not (kind.id_is_new or kind.local or kind.nested)
