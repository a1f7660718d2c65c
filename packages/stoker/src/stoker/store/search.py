"""Which resources have an ID, a name, an address or a type: the search over all stacks.

IDs, names of resources and types are columns of the resources. What a service calls their objects is recorded in search
terms when a resource's action ends: the name and the IP addresses that the service has shown. Resources of earlier
releases have none before their next change or check (`unsearchable`).

Every search reads from an index, in the order of the resources' UUIDs, so that a page costs as much as its length.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from heapq import merge
from ipaddress import ip_address
from itertools import chain, groupby, islice
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Connection, Select, and_, func, select

from stoker.store import statements
from stoker.store.queries import resource_by_uuid, stacks_by_id
from stoker.store.records import Resource, Stack
from stoker.store.tables import resources, search_terms, stacks

_PAGE = 500
_VALUE = 255
"""Characters of a value at most: no service has longer names."""

MOST_COUNTED = 1000
"""The number up to which resources without search terms are counted."""


class TermKind(StrEnum):
    """What a search term is."""

    NAME = "name"
    ADDRESS = "address"


Terms: TypeAlias = Mapping[TermKind, frozenset[str]]
"""What a service calls an object: all values of the kinds that are known."""


def plain_address(text: str) -> str | None:
    """Return an IP address as it is recorded; None for what is none."""
    try:
        return str(ip_address(text))
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Search:
    """What to look for: resources that have one of the given words, and the type, where it is given.

    `project_id` None looks in all projects. `after` is the UUID of the last resource of the page before.
    """

    id: str | None = None
    name: str | None = None
    address: str | None = None
    type: str | None = None
    project_id: str | None = None
    after: str = ""
    limit: int = _PAGE


def replace_terms(connection: Connection, changes: Iterable[Mapping[str, Terms]]) -> None:
    """Record search terms of resources, by UUID, in place of earlier ones of the same kinds; the last ones remain."""
    named = chain.from_iterable(change.items() for change in changes)
    known = {(uuid, kind): values for uuid, terms in named for kind, values in terms.items()}
    if not known:
        return
    former = [{"resource_uuid": uuid, "kind": kind.value} for uuid, kind in known]
    connection.execute(statements.without(search_terms, "resource_uuid", "kind"), former)
    rows = [
        {"resource_uuid": uuid, "kind": kind.value, "value": value}
        for (uuid, kind), values in known.items()
        for value in sorted(values)
        if len(value) <= _VALUE
    ]
    if rows:
        connection.execute(statements.into(search_terms), rows)


@dataclass(frozen=True, slots=True)
class Page:
    """Resources with their stacks, and the UUID after which the next page begins; None if there is none."""

    found: Sequence[tuple[Resource, Stack]]
    next: str | None


def page_of(connection: Connection, search: Search) -> Page:
    """Return the resources that match, in the order of their UUIDs; none of deleted stacks."""
    found = merge(*(connection.execute(query).scalars() for query in page_queries(search)))
    uuids = list(islice((uuid for uuid, _ in groupby(found)), search.limit))
    rows = chain.from_iterable(
        Resource.all_of(connection.execute(statements.where_among(resources, "uuid"), {"values": page}))
        for page in statements.pages(uuids)
    )
    known = sorted(rows, key=lambda row: row.uuid)
    above = stacks_by_id(connection, {row.stack_id for row in known})
    visible = [(row, above[row.stack_id]) for row in known if row.stack_id in above]
    return Page(visible, uuids[-1] if len(uuids) == search.limit else None)


def page_queries(search: Search) -> Sequence[Select[Any]]:
    """Return the queries for the UUIDs of a page, one for each way in which a resource can match."""
    conditions: list[ColumnElement[bool]] = []
    queries: list[Select[object]] = []
    if search.id is not None:
        conditions.append(resources.c.physical_id == search.id)
    if search.name is not None:
        conditions.append(resources.c.name == search.name)
    if search.id is None and search.name is None and search.address is None and search.type is not None:
        conditions.append(resources.c.type == search.type)
    queries += [_visible(search, resources.c.uuid).where(condition) for condition in conditions]
    for kind, value in ((TermKind.NAME, search.name), (TermKind.ADDRESS, search.address)):
        if value is not None:
            column = search_terms.c.resource_uuid
            query = _visible(search, column).where(search_terms.c.kind == kind.value, search_terms.c.value == value)
            queries.append(query.where(resources.c.uuid == column))
    return queries


def _visible(search: Search, uuid: ColumnElement[str]) -> Select[object]:
    """Select the UUIDs, of a column, of resources of the stacks that the caller may see."""
    query = select(uuid).where(stacks.c.id == resources.c.stack_id, stacks.c.deleted_at.is_(None), uuid > search.after)
    if search.project_id is not None:
        query = query.where(stacks.c.project_id == search.project_id)
    if search.type is not None:
        query = query.where(resources.c.type == search.type)
    return query.order_by(uuid).limit(search.limit)


def unsearchable(connection: Connection, project_id: str | None) -> int:
    """Count the resources with an object whose search terms are not recorded, up to `MOST_COUNTED`."""
    conditions = [
        resources.c.searchable.is_(None),
        resources.c.physical_id.is_not(None),
        stacks.c.id == resources.c.stack_id,
        stacks.c.deleted_at.is_(None),
    ]
    if project_id is not None:
        conditions.append(stacks.c.project_id == project_id)
    some = select(resources.c.uuid).where(and_(*conditions)).limit(MOST_COUNTED).subquery()
    return connection.execute(select(func.count()).select_from(some)).scalar_one()


def paths_to(connection: Connection, below: Iterable[Stack]) -> dict[str, tuple[Stack, tuple[str, ...]]]:
    """Return the root of the tree of each stack, and the names of the resources that lead to the stack, by its ID.

    A nested stack is a root if the record of the stack above it is gone.
    """
    known = {stack.id: stack for stack in below}
    uuids = list(known)
    level = uuids
    while missing := {known[each].parent_id for each in level} - known.keys() - {None}:
        level = list(found := stacks_by_id(connection, {each for each in missing if each}))
        known |= found
    return {identifier: _path_to(connection, known[identifier], known) for identifier in uuids}


def _path_to(connection: Connection, stack: Stack, known: Mapping[str, Stack]) -> tuple[Stack, tuple[str, ...]]:
    names: list[str] = []
    while (above := known.get(stack.parent_id or "")) is not None:
        names.append(stack.parent_resource_name or _name_of(connection, stack.parent_resource))
        stack = above
    return stack, tuple(reversed(names))


def _name_of(connection: Connection, uuid: str | None) -> str:
    """Return the name of a resource, for stacks that the first release has recorded."""
    row = resource_by_uuid(connection, uuid) if uuid is not None else None
    return "?" if row is None else row.name
