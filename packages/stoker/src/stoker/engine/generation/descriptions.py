"""What a template says of the objects that were found, without what refers to objects that do not exist any more."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from stoker.base.errors import CloudError
from stoker.cloud.errors import NotNamed
from stoker.cloud.finders import finders
from stoker.cloud.session import Cloud
from stoker.engine.generation.scan import Found
from stoker.engine.generation.template import (
    Reference,
    missing_properties,
    references_in,
    refusal_of,
    values_of,
)

Described: TypeAlias = "dict[Found, dict[str, Any]]"
"""The values of the properties of objects."""
Dropped: TypeAlias = "Mapping[Found, Mapping[str, str]]"
"""Properties that are left out, each with the reason."""
_GONE = "it refers to what does not exist any more: {} {}"


async def describe(
    cloud: Cloud, objects: Sequence[Found], known: Iterable[Found], project_id: str
) -> tuple[Described, Dropped]:
    """Return the values of the objects that can be resources, and the properties that were left out.

    Those that cannot get the reason. `known` are all objects that were found, which exist.
    """
    values = {each: values_of(each, project_id) for each in objects}
    dropped = await _without_missing_references(cloud, values, known)
    for each in objects:
        if missing := missing_properties(each, values[each]):
            gone = [reason for name, reason in dropped.get(each, {}).items() if name in missing]
            each.reason = gone[0] if gone else f"the service does not show {', '.join(missing)}, which it must have"
        elif refusal := refusal_of(each, values[each]):
            gone = list(dropped.get(each, {}).values())
            each.reason = gone[0] if gone else f"a template with it would be refused: {refusal}"
    return {each: values[each] for each in objects if not each.reason}, dropped


async def _without_missing_references(
    cloud: Cloud, values: Mapping[Found, dict[str, object]], known: Iterable[Found]
) -> Mapping[Found, Mapping[str, str]]:
    """Remove properties that refer to what does not exist any more, and return the reasons: an image, say, that a
    server was made from.
    """
    present = {(str(each.scanned.inventory.finder), each.id) for each in known}
    used: dict[Reference, list[tuple[Found, str]]] = {}
    for found, properties in values.items():
        for name, reference in references_in(found.scanned.kind.properties, properties):
            if (reference.kind, reference.value) not in present and reference.kind in finders():
                used.setdefault(reference, []).append((found, name))
    gone = await asyncio.gather(*(_is_missing(cloud, reference) for reference in used))
    dropped: dict[Found, dict[str, str]] = {}
    for reference, is_gone in zip(used, gone, strict=True):
        for found, name in used[reference] if is_gone else ():
            values[found].pop(name, None)
            noun = reference.kind.rpartition(".")[2].replace("_", " ")
            dropped.setdefault(found, {})[name] = _GONE.format(noun, reference.value)
    return dropped


async def _is_missing(cloud: Cloud, reference: Reference) -> bool:
    try:
        await cloud.find(reference.kind, reference.value)
    except NotNamed:
        return True
    except CloudError:
        return False  # the deployment finds out
    return False
