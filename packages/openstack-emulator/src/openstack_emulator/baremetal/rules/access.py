"""Who may do what, and the microversions that have a path."""

from __future__ import annotations

from openstack_emulator.baremetal.records import Allocation, Node
from openstack_emulator.core.errors import ApiError, conflict, forbidden
from openstack_emulator.core.http import Context, Request, Version

ADMINISTRATORS = ("baremetal_admin",)
OBSERVERS = (*ADMINISTRATORS, "baremetal_observer")


def require_path_version(request: Request, version: Version) -> None:
    """Raise ApiError 404 in a version that does not have the path yet."""
    if request.version < version:
        raise ApiError(404, "The resource could not be found.")


def require_collection_version(request: Request, version: Version) -> None:
    """Raise ApiError in a version that does not have the collection yet: 404 for reads, 405 for changes."""
    if request.version < version and request.method != "GET":
        raise ApiError(405, "The API version does not allow this method.")
    require_path_version(request, version)


def require_version_below_node(request: Request, version: Version) -> None:
    """Raise ApiError in a version that does not know a path below a node yet: 406 for reads, since it takes the last
    part for a field, 404 for deletions, and 405 for other changes."""
    if request.version < version and request.method == "GET":
        raise ApiError(406, "Request not acceptable. The path needs a newer API version.")
    if request.method == "DELETE":
        require_path_version(request, version)
    require_collection_version(request, version)


def observes(caller: Context) -> bool:
    """Whether the caller sees everything: administrators, observers, and readers of the system."""
    return caller.is_admin or bool(caller.roles.intersection(OBSERVERS)) or (caller.system and "reader" in caller.roles)


def require(request: Request, policy: str, *roles: str) -> None:
    """Raise ApiError 403 for a caller without one of the roles (an administrator has all)."""
    if roles == OBSERVERS and observes(request.context):
        return
    if not request.context.is_admin and not request.context.roles.intersection(roles):
        raise forbidden(f"Access was denied to the following resource: {policy}")


def require_system(request: Request, policy: str, role: str) -> None:
    """Raise ApiError 403 for a caller without a role on the whole system: Ironic's policy of what no project owns."""
    caller = request.context
    if not caller.system or not (caller.is_admin or role in caller.roles):
        raise forbidden(f"Access was denied to the following resource: {policy}")


def may_see_node(caller: Context, node: Node) -> bool:
    """Whether the caller may see a node: administrators and observers see all, others those that they own or lease."""
    if observes(caller):
        return True
    return caller.project_id is not None and caller.project_id in (node.owner, node.lessee)


def may_see_allocation(caller: Context, allocation: Allocation) -> bool:
    """Whether the caller may see an allocation: administrators and observers see all, others their project's."""
    if observes(caller):
        return True
    return caller.project_id is not None and allocation.owner == caller.project_id


def require_unlocked(node: Node) -> None:
    """Raise ApiError 409 for a node that something is being done to."""
    if node.reservation is not None:
        raise conflict(
            f"Node {node.uuid} is locked by host {node.reservation}, please retry after the current operation "
            "is completed."
        )
