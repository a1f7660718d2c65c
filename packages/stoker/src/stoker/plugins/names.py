"""Resolution of names in properties to the IDs that services require."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from stoker.cloud.errors import NotNamed
from stoker.cloud.finders import is_uuid
from stoker.schema.property import Property
from stoker.schema.unknown import Unknown

if TYPE_CHECKING:
    from stoker.cloud.session import Cloud

_Name = tuple[str, str]
"""What a property resolves (`Property.resolve`), and the name."""


async def resolve_names(
    schema: Mapping[str, Property], values: Mapping[str, Any], cloud: Cloud, ids: Collection[str] = ()
) -> dict[str, object]:
    """Return finalized `values` in which names in properties that declare `resolve` are replaced by IDs, at any depth.

    Unknown, empty and missing values are not changed, nor are `ids`, which are known to be IDs. Other values in the
    format of an ID are looked up too, since they may be names. All look-ups run concurrently, each name once. Raises
    the CloudError of the first that fails.
    """
    names = dict.fromkeys(_names_in_map(schema, values, ids))
    if not names:
        return dict(values)
    found = await asyncio.gather(*(_id_of(kind, name, cloud) for kind, name in names))
    return _with_ids_in_map(schema, values, dict(zip(names, found, strict=True)))


async def _id_of(kind: str, name: str, cloud: Cloud) -> object:
    try:
        return await cloud.find(kind, name)
    except NotNamed:
        if is_uuid(name):  # the service itself reports an unknown ID
            return name
        raise


def _names_in_map(
    schema: Mapping[str, Property], values: Mapping[str, object], ids: Collection[str]
) -> Iterator[_Name]:
    for name, value in values.items():
        if value is not None and name in schema:
            yield from _names_in(schema[name], value, ids)


def _names_in(prop: Property, value: Any, ids: Collection[str]) -> Iterator[_Name]:
    if isinstance(value, list):
        for item in value:
            yield from _names_in(prop.items or prop, item, ids)
    elif isinstance(value, Mapping):
        yield from _names_in_map(prop.schema or {}, value, ids)
    elif prop.resolve is not None and not isinstance(value, Unknown) and value not in (None, "") and value not in ids:
        yield prop.resolve, str(value)


def _with_ids_in_map(
    schema: Mapping[str, Property], values: Mapping[str, object], found: Mapping[_Name, Any]
) -> dict[str, object]:
    return {name: _with_ids(schema[name], value, found) if name in schema else value for name, value in values.items()}


def _with_ids(prop: Property, value: object, found: Mapping[_Name, object]) -> object:
    if isinstance(value, list):
        return [_with_ids(prop.items or prop, item, found) for item in value]
    if isinstance(value, Mapping):
        return _with_ids_in_map(prop.schema or {}, value, found)
    if prop.resolve is None or isinstance(value, Unknown):
        return value
    return found.get((prop.resolve, str(value)), value)
