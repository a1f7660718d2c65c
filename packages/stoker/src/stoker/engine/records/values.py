"""Property values in the form that a resource type's methods receive."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stoker.plugins.resource import ResourceType
from stoker.schema.property import Finalizer


def finalized(type_: ResourceType, values: Mapping[str, Any]) -> Mapping[str, object]:
    """Return values in the form that the type's methods receive: converted, with defaults."""
    return values if type_.any_properties else Finalizer().properties(type_.properties, values)
