"""Find the stacks and resources that have an object, from what is recorded; no service is asked."""

from __future__ import annotations

from sqlalchemy import Connection

from stoker.base.context import RequestContext
from stoker.base.errors import BadValue, Forbidden
from stoker.contract.finding import FindResources, FoundPage, FoundResource
from stoker.engine.records.services import EngineServices
from stoker.engine.redaction.object_ids import ObjectIds
from stoker.store import search
from stoker.store.ownership import owns
from stoker.store.records import Resource, Stack

MOST = 500
"""Maximum number of resources on one page."""


async def resource_find(services: EngineServices, context: RequestContext, request: FindResources) -> FoundPage:
    """Return a page of the resources that match. Raises BadValue, Forbidden."""
    if request.global_tenant and not context.is_admin:
        raise Forbidden("Only administrators can find the resources of all projects.")
    query = _search(context, request)
    page, paths, unsearchable = await services.database.read(_read, query)
    ids, found = ObjectIds(services), list[FoundResource]()
    for row, stack in page.found:
        root, above = paths[stack.id]
        identifier = await ids.shown(stack, row.type, row.physical_id)
        found.append(_view(row, identifier, stack, root, ".".join([*above, row.name])))
    return {
        "resources": found,
        "next": page.next,
        "unsearchable": unsearchable,
        "most_counted": search.MOST_COUNTED,
    }


def _search(context: RequestContext, request: FindResources) -> search.Search:
    words = {"text": request.text, "id": request.id, "name": request.name, "address": request.address}
    criteria = [name for name, value in words.items() if value is not None]
    if len(criteria) > 1 or not (criteria or request.type is not None):
        named = f", not {' and '.join(criteria)} together" if criteria else ""
        raise BadValue(f"Look for one of {', '.join(words)}{named}; `type` can be given with it, or alone.")
    address = None if request.address is None else search.plain_address(request.address)
    if request.address is not None and address is None:
        raise BadValue(f"{request.address!r} is not an IP address.")
    return search.Search(
        id=request.id if request.text is None else request.text,
        name=request.name if request.text is None else request.text,
        address=address if request.text is None else search.plain_address(request.text),
        type=request.type,
        project_id=None if request.global_tenant else context.project_id,
        after=request.marker or "",
        limit=MOST if request.limit is None else min(request.limit, MOST),
    )


def _read(
    connection: Connection, query: search.Search
) -> tuple[search.Page, dict[str, tuple[Stack, tuple[str, ...]]], int]:
    page = search.page_of(connection, query)
    paths = search.paths_to(connection, (stack for _, stack in page.found))
    asks_for_terms = query.name is not None or query.address is not None
    return page, paths, search.unsearchable(connection, query.project_id) if asks_for_terms else 0


def _view(row: Resource, physical_id: str | None, stack: Stack, root: Stack, path: str) -> FoundResource:
    return {
        "id": row.uuid,
        "path": path,
        "name": row.name,
        "type": row.type,
        "action": row.action,
        "status": row.status,
        "physical_id": physical_id,
        "owns": owns(row.ownership),
        "stack_id": root.id,
        "stack_name": root.name,
        "nested_stack_id": stack.id,
        "nested_stack_name": stack.name,
        "project_id": stack.project_id,
    }
