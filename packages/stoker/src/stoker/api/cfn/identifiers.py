"""How the Query API identifies objects: by a map of strings, whose key `Id` is the ID."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.api.cfn.faults import QueryError
from stoker.api.cfn.rendering import Entries

IDENTIFIER = "Id"
"""The key of the ID of an object."""


def identifier(physical_id: str) -> Entries:
    """Return the ResourceIdentifier of an object."""
    return Entries({IDENTIFIER: physical_id})


def one_identifier(item: Mapping[str, Any]) -> str:
    """Return the ID in the ResourceIdentifier of an item. Raises QueryError for other keys."""
    entries = item["ResourceIdentifier"]
    if entries.keys() != {IDENTIFIER}:
        raise QueryError(
            "ValidationError",
            f"The ResourceIdentifier of a {item['ResourceType']} must have the key {IDENTIFIER} alone.",
        )
    return str(entries[IDENTIFIER])
