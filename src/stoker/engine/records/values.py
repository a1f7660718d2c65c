"""Property values as a resource type's methods see them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.plugins.resource import ResourceType
from stoker.schema.property import Finalizer


def finalized(type_: ResourceType, values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Values as the type's methods see them: coerced, defaults filled in."""
    return values if type_.any_properties else Finalizer().properties(type_.properties, values)
