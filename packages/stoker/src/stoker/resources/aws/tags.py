"""Tags and scheduler hints as CloudFormation writes them: a list of maps with Key and Value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.schema.live import managed
from stoker.schema.property import Property, Type


def tags(description: str, **rest: Any) -> Property:
    """Declare a property with tags; `rest` are further arguments of the property."""
    return Property(Type.LIST, description, items=_tag(), **rest)


def unsupported_tags() -> Property:
    """Declare a property with tags, which a service without them cannot store."""
    return Property(Type.LIST, "Not supported.", items=_tag(implemented=False), live=managed("it has no effect"))


def as_map(tags: list[Mapping[str, Any]] | None) -> dict[str, object]:
    """Return the values of tags by their keys; of several with one key, the last."""
    return {tag["Key"]: tag["Value"] for tag in tags or []}


def _tag(**rest: Any) -> Property:
    schema = {
        "Key": Property(description="The name.", required=True),
        "Value": Property(description="The value.", required=True),
    }
    return Property(Type.MAP, "A pair.", schema=schema, **rest)
