"""Allocations: requests for a node with a resource class and traits."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.baremetal.http import (
    ADMINISTRATORS,
    TIMESTAMP,
    listed,
    needs,
    new_key,
    observes,
    offered,
    require,
    single,
)
from openstack_emulator.baremetal.kinds import ALLOCATION
from openstack_emulator.baremetal.nodes import Nodes
from openstack_emulator.baremetal.nodes import may_see as may_see_node
from openstack_emulator.baremetal.patching import patched
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component, using
from openstack_emulator.core.error_bodies import CONDUCTOR
from openstack_emulator.core.errors import bad_request, conflict, not_found
from openstack_emulator.core.http import Request, Response, Version
from openstack_emulator.core.store import Record

SINCE: Version = (1, 52)
SECONDS_TO_ALLOCATE = 2.0
_CHANGEABLE = ("name", "extra")


class Allocations(Component):
    """All allocations."""

    def __init__(self, records: Records, nodes: Nodes) -> None:
        super().__init__(records)
        self.nodes = nodes
        self.rows = records.collection(
            "allocations", ("name", "node_uuid"), lambda key: not_found(f"Allocation {key} could not be found.")
        )
        records.deferrable(self.finish_allocation)

    def now(self) -> str:
        return self.records.timestamp(TIMESTAMP)

    def reach(self, request: Request, key: str) -> Record:
        """An allocation, by UUID or name, that the caller may see. Raises ApiError 404."""
        found = self.rows.get(key) or self.rows.first(name=key)
        if found is None or not may_see(request, found):
            raise self.rows.missing(key)
        return found

    def finish_allocation(self, key: str) -> None:
        """Give an allocation a node, or set it to error when there is none."""
        allocation = self.rows.get(key)
        if allocation is None:
            return
        node = self.nodes.free_for(
            allocation["resource_class"], set(allocation["traits"]), allocation["candidate_nodes"]
        )
        self.assign(allocation, node)

    def assign(self, allocation: Record, node: Record | None) -> None:
        """Give an allocation a node, or set it to error when there is none or a fault rule demands it."""
        key = allocation["uuid"]
        fault = allocation.pop("_fault", None)
        if node is None or fault is not None:
            reason = fault or "no available nodes match the resource class and traits"
            self.rows.update(allocation, state="error", updated_at=self.now(),
                             last_error=f"Failed to process allocation {key}: {reason}.")  # fmt: skip
            return
        self.nodes.update(node, {"allocation_uuid": key, "instance_uuid": key})
        self.rows.update(allocation, state="active", node_uuid=node["uuid"], updated_at=self.now())

    def remove(self, allocation: Record) -> None:
        """Remove an allocation and free its node. Raises ApiError 409 while the node is in use or locked."""
        node = self.nodes.rows.get(allocation["node_uuid"] or "")
        if node is not None and node["allocation_uuid"] == allocation["uuid"]:
            if node["reservation"] is not None or (node["provision_state"] == "active" and not node["maintenance"]):
                raise conflict(f"Cannot delete allocation {allocation['uuid']} because its node is in use.")
            self.nodes.update(node, {"allocation_uuid": None, "instance_uuid": None})
        self.rows.remove(allocation)


def _fits(allocation: Record, node: Record) -> bool:
    """Whether a new allocation can be that of a node which has been deployed without one."""
    matches = node["resource_class"] == allocation["resource_class"] and set(allocation["traits"]) <= set(
        node["traits"]
    )
    wanted = not allocation["candidate_nodes"] or node["uuid"] in allocation["candidate_nodes"]
    idle = node["instance_uuid"] is None and node["reservation"] is None
    return matches and wanted and idle and node["provision_state"] == "active"


def may_see(request: Request, allocation: Mapping[str, object]) -> bool:
    """Whether the caller may see an allocation: administrators and observers see all, others their project's."""
    caller = request.context
    if observes(caller):
        return True
    return caller.project_id is not None and allocation["owner"] == caller.project_id


def create(allocations: Allocations, request: Request) -> Response:
    offered(request, SINCE)
    values = ALLOCATION.values(request)
    caller = request.context
    if not caller.is_admin and not caller.roles.intersection(ADMINISTRATORS):
        require(request, "baremetal:allocation:create", "member")
        if values["owner"] not in (None, caller.project_id):
            require(request, "baremetal:allocation:create_restricted", *ADMINISTRATORS)
        values["owner"] = caller.project
    elif values["owner"] is None and not caller.system:
        values["owner"] = caller.project_id
    backfilled = _backfilled(allocations, request, values.pop("node"))
    if values["resource_class"] is None and backfilled is not None:
        values["resource_class"] = backfilled["resource_class"]
    if values["resource_class"] is None:
        raise bad_request("The resource_class field is mandatory when not backfilling")
    if values["name"] is not None and allocations.rows.first(name=values["name"]) is not None:
        raise conflict(f"An allocation with name {values['name']} already exists.", CONDUCTOR)
    values["candidate_nodes"] = [allocations.nodes.reach(request, key)["uuid"] for key in values["candidate_nodes"]]
    if backfilled is not None and not _fits(values, backfilled):
        raise conflict(f"Node {backfilled['uuid']} is not active, has an instance, or does not match the allocation.")
    key = new_key(request, allocations.rows)
    made = allocations.rows.add(
        {
            **values,
            "id": key,
            "uuid": key,
            "node_uuid": None,
            "state": "allocating",
            "last_error": None,
            "created_at": allocations.now(),
            "updated_at": None,
        }
    )
    if backfilled is None:
        allocations.after(SECONDS_TO_ALLOCATE, allocations.finish_allocation, key)
    else:
        allocations.assign(made, backfilled)
    return single(request, ALLOCATION, made, 201)


def _backfilled(allocations: Allocations, request: Request, key: str | None) -> Record | None:
    """The deployed node that an allocation is requested for, if the request names one. Raises ApiError 400."""
    node = allocations.nodes.find(key) if key is not None else None
    if key is not None and (node is None or not may_see_node(request, node)):
        raise bad_request(f"Node {key} could not be found.")
    return node


def index(allocations: Allocations, request: Request) -> Response:
    needs(request, SINCE)
    query = request.query
    rows = [row for row in allocations.rows if may_see(request, row)]
    for name in ("resource_class", "state", "owner"):
        if (wanted := query.get(name)) is not None:
            rows = [row for row in rows if row[name] == wanted]
    if (key := query.get("node")) is not None:
        node = allocations.nodes.reach(request, key)
        rows = [row for row in rows if row["node_uuid"] == node["uuid"]]
    return listed(request, ALLOCATION, rows, detail="fields" not in query)


def show(allocations: Allocations, request: Request) -> Response:
    needs(request, SINCE)
    return single(request, ALLOCATION, allocations.reach(request, request.vars["allocation"]))


def update(allocations: Allocations, request: Request) -> Response:
    needs(request, (1, 57))
    allocation = allocations.reach(request, request.vars["allocation"])
    changes = patched(request, ALLOCATION, allocation)
    if fixed := sorted(changes.keys() - set(_CHANGEABLE)):
        raise bad_request(f"Cannot update {', '.join(fixed)} of an allocation, only {' and '.join(_CHANGEABLE)}.")
    other = allocations.rows.first(name=changes["name"]) if changes.get("name") else None
    if other is not None and other is not allocation:
        raise conflict(f"An allocation with name {changes['name']} already exists.", CONDUCTOR)
    allocations.rows.update(allocation, **changes, updated_at=allocations.now())
    return single(request, ALLOCATION, allocation)


def delete(allocations: Allocations, request: Request) -> Response:
    offered(request, SINCE)
    allocations.remove(allocations.reach(request, request.vars["allocation"]))
    return Response(status=204)


def _of_node(allocations: Allocations, request: Request) -> Record:
    needs(request, SINCE)
    node = allocations.nodes.reach(request, request.vars["node"])
    if node["allocation_uuid"] is None:
        raise not_found(f"Allocation for node {node['uuid']} could not be found.")
    return allocations.reach(request, node["allocation_uuid"])


def show_of_node(allocations: Allocations, request: Request) -> Response:
    return single(request, ALLOCATION, _of_node(allocations, request))


def delete_of_node(allocations: Allocations, request: Request) -> Response:
    allocations.remove(_of_node(allocations, request))
    return Response(status=204)


ALLOCATION_ROUTES = using(
    Allocations,
    {
        "/allocations": {"GET": index, "POST": create},
        "/allocations/{allocation}": {"GET": show, "PATCH": update, "DELETE": delete},
        "/nodes/{node}/allocation": {"GET": show_of_node, "DELETE": delete_of_node},
    },
)
