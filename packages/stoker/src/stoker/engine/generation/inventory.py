"""What a resource scan keeps of the objects that it has found, and how this is selected."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from stoker.engine.generation.scan import Found
from stoker.engine.generation.template import Reference, references_in, values_of

_AT_ONCE = 100
"""Objects that are described before other requests have their turn."""
_MOST_TAGS = 64


@dataclass(frozen=True, slots=True)
class ScannedObject:
    """An object of a scan. `tags` are keys with values, `related` the numbers of the objects that it refers to or that
    refer to it; `managed` tells whether a stack owns it.
    """

    type_name: str
    id: str
    managed: bool
    tags: Sequence[tuple[str, str]]
    related: Sequence[int]

    def to_data(self) -> list[Any]:
        """Return plain data, which `of_data` reads."""
        return [self.type_name, self.id, self.managed, [list(each) for each in self.tags], list(self.related)]

    @classmethod
    def of_data(cls, data: Sequence[Any]) -> Self:
        """Return the object of `to_data`."""
        type_name, identifier, managed, tags, related = data
        return cls(type_name, identifier, managed, [(key, value) for key, value in tags], related)


async def scanned_objects(found: Iterable[Found], project_id: str) -> list[ScannedObject]:
    """Return the objects that are resources, or can become some, sorted."""
    listed = sorted((each for each in found if each.owner is not None or not each.reason), key=lambda each: each.order)
    numbers = {each: number for number, each in enumerate(listed)}
    by_key = {(str(each.scanned.inventory.finder), each.id): each for each in listed}
    related: dict[Found, set[int]] = {each: set() for each in listed}
    for each in listed:
        if numbers[each] % _AT_ONCE == 0:
            await asyncio.sleep(0)
        others = [by_key.get((reference.kind, reference.value)) for reference in _references(each, project_id)]
        for other in {
            reference
            for reference in (*others, each.inside)
            if reference in numbers and reference is not each and reference is not None
        }:
            related[each].add(numbers[other])
            related[other].add(numbers[each])
    return [
        ScannedObject(each.type_name, each.id, each.owner is not None, _tags(each), sorted(related[each]))
        for each in listed
    ]


def _references(found: Found, project_id: str) -> Iterator[Reference]:
    values = values_of(found, project_id)
    yield from (reference for _, reference in references_in(found.scanned.kind.properties, values))


def _tags(found: Found) -> list[tuple[str, str]]:
    """Return the tags, in which `=` separates keys from values, and the metadata."""
    tags = found.fields.get(found.scanned.inventory.tags_field)
    metadata = found.fields.get("metadata")
    pairs = [str(tag).partition("=") for tag in (tags if isinstance(tags, list) else ())]
    found_tags = [(key, value) for key, _, value in pairs]
    found_tags += [(str(key), str(value)) for key, value in (metadata.items() if isinstance(metadata, dict) else ())]
    return found_tags[:_MOST_TAGS]
