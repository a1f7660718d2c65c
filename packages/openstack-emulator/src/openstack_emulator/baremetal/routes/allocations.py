"""Allocations over HTTP."""

from __future__ import annotations

from openstack_emulator.baremetal.records import Allocation, Node
from openstack_emulator.baremetal.routes.nodes import node_of
from openstack_emulator.baremetal.routes.patches import patched
from openstack_emulator.baremetal.routes.requests import list_response, new_key, single
from openstack_emulator.baremetal.rules.access import (
    ADMINISTRATORS,
    may_see_allocation,
    may_see_node,
    require,
    require_collection_version,
    require_path_version,
)
from openstack_emulator.baremetal.rules.allocations import require_fit
from openstack_emulator.baremetal.rules.composition import BareMetal
from openstack_emulator.baremetal.rules.kinds import ALLOCATION
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Request, Response, Version

SINCE: Version = (1, 52)
_CHANGEABLE = ("name", "extra")


def create(service: BareMetal, request: Request) -> Response:
    require_collection_version(request, SINCE)
    values = ALLOCATION.values(request.version, request.json)
    owner = _owner(request, values.pop("owner"))
    node = _backfilled(service, request, values.pop("node"))
    resource_class = values.pop("resource_class")
    if resource_class is None and node is not None:
        resource_class = node.resource_class
    if resource_class is None:
        raise bad_request("The resource_class field is mandatory when not backfilling")
    service.allocations.require_free_name(values["name"])
    candidates = [service.nodes.reach(request, key).uuid for key in values.pop("candidate_nodes")]
    if node is not None:
        require_fit(node, resource_class, values["traits"], candidates)
    key = new_key(request, service.allocations.rows)
    allocation = Allocation(
        **values,
        id=key,
        uuid=key,
        owner=owner,
        resource_class=resource_class,
        candidate_nodes=candidates,
        node_uuid=None,
        state="allocating",
        last_error=None,
        created_at=service.nodes.now(),
        updated_at=None,
    )
    return single(request, ALLOCATION, service.allocations.create(allocation, node), 201)


def _owner(request: Request, owner: str | None) -> str | None:
    """The project that a new allocation belongs to. Raises ApiError 403."""
    caller = request.context
    if not caller.is_admin and not caller.roles.intersection(ADMINISTRATORS):
        require(request, "baremetal:allocation:create", "member")
        if owner not in (None, caller.project_id):
            require(request, "baremetal:allocation:create_restricted", *ADMINISTRATORS)
        return caller.project
    return caller.project_id if owner is None and not caller.system else owner


def _backfilled(service: BareMetal, request: Request, key: str | None) -> Node | None:
    """The deployed node that an allocation is requested for, if the request names one. Raises ApiError 400."""
    node = service.nodes.find(key) if key is not None else None
    if key is not None and (node is None or not may_see_node(request.context, node)):
        raise bad_request(f"Node {key} could not be found.")
    return node


def index(service: BareMetal, request: Request) -> Response:
    require_path_version(request, SINCE)
    query = request.query
    rows = [row for row in service.allocations.rows if may_see_allocation(request.context, row)]
    for name in ("resource_class", "state", "owner"):
        if (value := query.get(name)) is not None:
            rows = [row for row in rows if row.get(name) == value]
    if (key := query.get("node")) is not None:
        node = service.nodes.reach(request, key)
        rows = [row for row in rows if row.node_uuid == node.uuid]
    return list_response(request, ALLOCATION, rows, detail="fields" not in query)


def _found(service: BareMetal, request: Request) -> Allocation:
    return service.allocations.reach(request.context, request.vars["allocation"])


def show(service: BareMetal, request: Request) -> Response:
    require_path_version(request, SINCE)
    return single(request, ALLOCATION, _found(service, request))


def update(service: BareMetal, request: Request) -> Response:
    require_path_version(request, (1, 57))
    allocation = _found(service, request)
    changes = patched(request, ALLOCATION, allocation)
    if fixed := sorted(changes.keys() - set(_CHANGEABLE)):
        raise bad_request(f"Cannot update {', '.join(fixed)} of an allocation, only {' and '.join(_CHANGEABLE)}.")
    service.allocations.require_free_name(changes.get("name"), allocation)
    service.allocations.rows.update(allocation, **changes, updated_at=service.nodes.now())
    return single(request, ALLOCATION, allocation)


def delete(service: BareMetal, request: Request) -> Response:
    require_collection_version(request, SINCE)
    service.allocations.remove(_found(service, request))
    return Response(status=204)


def _of_node(service: BareMetal, request: Request) -> Allocation:
    require_path_version(request, SINCE)
    node = node_of(service, request)
    if node.allocation_uuid is None:
        raise not_found(f"Allocation for node {node.uuid} could not be found.")
    return service.allocations.reach(request.context, node.allocation_uuid)


def show_of_node(service: BareMetal, request: Request) -> Response:
    return single(request, ALLOCATION, _of_node(service, request))


def delete_of_node(service: BareMetal, request: Request) -> Response:
    service.allocations.remove(_of_node(service, request))
    return Response(status=204)
