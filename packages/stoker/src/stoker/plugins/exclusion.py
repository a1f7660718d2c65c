"""Objects that their service allows only once: which of them are deleted before their replacement is created."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from stoker.plugins.call import Call

Rule = Callable[[Mapping[str, Any], Mapping[str, Any]], bool]


@dataclass(frozen=True, slots=True)
class Exclusion:
    """When a service refuses the replacement of an object as long as the object exists.

    Then the object is deleted before its replacement is created. A rollback creates it again from its definition. Types
    whose objects cannot be created again from that must not have an exclusion: their objects release what the
    replacement needs (`ResourceType.prepare_for_replacement`).

    `rule` compares the properties of the object with those of the replacement, of which some may be unknown. `ask`
    decides with the help of services, if given: it receives the resource type, and the call for the object with
    `call.resource.replacement`. It raises an error to prevent the replacement.
    """

    rule: Rule
    ask: Callable[[Any, Call], Awaitable[bool]] | None = None

    @classmethod
    def by(cls, *sets: tuple[str, ...]) -> Exclusion:
        """Return the exclusion of objects with the same values of all properties of one of the sets.

        Properties without a value exclude nothing.
        """

        def rule(properties: Mapping[str, object], replacement: Mapping[str, object]) -> bool:
            return any(
                all(properties.get(name) is not None and properties[name] == replacement.get(name) for name in names)
                for names in sets
            )

        return cls(rule)

    async def applies(self, kind: object, call: Call) -> bool:
        """Return whether the object of a call excludes `call.resource.replacement`; `kind` is the resource type."""
        if self.ask is not None:
            return await self.ask(kind, call)
        return call.resource.replacement is not None and self.rule(call.properties, call.resource.replacement)


ALWAYS = Exclusion(lambda properties, replacement: True)
"""No replacement can be created beside the object."""
