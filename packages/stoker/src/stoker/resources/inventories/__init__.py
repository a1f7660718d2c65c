"""How the existing objects of Stoker's own types are listed and described, as data, for generated templates.

A type whose objects cannot be described completely from what lists show has no row: it is not generated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from stoker.cloud.finders import finders
from stoker.plugins.inventory import Fields, Inventory
from stoker.plugins.resource import ResourceType
from stoker.resources.base import RestResource
from stoker.resources.inventories import block_storage, compute, dns, load_balancers, networks, shares
from stoker.resources.inventories.property_values import described

Row = Mapping[str, Any]
"""The fields of an inventory that differ from what the collection of the type tells. `describe` receives the values
that the object itself shows, and the object; it returns the values of the properties."""

ROWS: Mapping[str, Row] = {
    **networks.ROWS,
    **compute.ROWS,
    **block_storage.ROWS,
    **load_balancers.ROWS,
    **dns.ROWS,
    **shares.ROWS,
}


def inventory_of(kind: RestResource, project_id: str) -> Inventory | None:
    """Return the inventory of a type in a project; None if its objects cannot become resources of a template."""
    row = ROWS.get(kind.type_name)
    if row is None:
        return None
    collection = kind.collection
    found = Inventory(
        service=collection.service,
        path=collection.list_path or collection.path,
        members=collection.members,
        member=collection.member,
        params={collection.owner: project_id} if collection.owner is not None and "{" not in collection.path else {},
        id_field=collection.id_field,
        name_field=kind.identity,
        status_field=collection.status_field,
        finder=finder_of(kind),
        describe=partial(described, kind),
    )
    changes = dict(row)
    if (describe := changes.pop("describe", None)) is not None:
        changes["describe"] = partial(_described, kind, describe)
    return replace(found, **changes)


def _described(kind: ResourceType, describe: Callable[[dict[str, object], Fields], Fields], fields: Fields) -> Fields:
    return describe(described(kind, fields), fields)


def finder_of(kind: ResourceType) -> str | None:
    """Return what finds the objects of a type by their names and IDs; None if nothing refers to them."""
    collection = kind.collection if isinstance(kind, RestResource) else None
    named = {(each.service, each.path): name for name, each in finders().items()}
    return named.get((collection.service, collection.path)) if collection is not None else None
