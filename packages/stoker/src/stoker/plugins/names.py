"""Resolution of names in properties to the IDs that services require."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from stoker.cloud.errors import NotNamed
from stoker.cloud.finders import is_uuid
from stoker.schema.property import Property
from stoker.schema.unknown import Unknown

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud


async def resolve_names(
    schema: Mapping[str, Property], values: Mapping[str, Any], cloud: Cloud, ids: Collection[str] = ()
) -> dict[str, Any]:
    """Return finalized `values` in which names in properties that declare `resolve` are replaced by IDs, at any depth.

    Unknown, empty and missing values are not changed, nor are `ids`, which are known to be IDs. Other values in the
    format of an ID are looked up too, since they may be names. All look-ups run concurrently. Raises the CloudError of
    the first that fails.
    """
    resolved = await asyncio.gather(*(_resolve(prop, values.get(name), cloud, ids) for name, prop in schema.items()))
    return {**values, **dict(zip(schema, resolved, strict=True))}


async def _resolve(prop: Property, value: Any, cloud: Cloud, ids: Collection[str]) -> Any:
    if value is None or value == "" or isinstance(value, Unknown):
        return value
    if isinstance(value, list):
        inner = prop.items or (prop if prop.resolve else None)
        return (
            value
            if inner is None
            else list(await asyncio.gather(*(_resolve(inner, item, cloud, ids) for item in value)))
        )
    if isinstance(value, Mapping):
        return value if prop.schema is None else await resolve_names(prop.schema, value, cloud, ids)
    if prop.resolve is None or value in ids:
        return value
    try:
        return await cloud.find(prop.resolve, str(value))
    except NotNamed:
        if is_uuid(str(value)):  # the service itself reports an unknown ID
            return value
        raise
