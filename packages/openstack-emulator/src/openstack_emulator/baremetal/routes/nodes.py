"""Nodes over HTTP: creation, lists, changes, traits, deletion."""

from __future__ import annotations

from collections.abc import Callable

from openstack_emulator.baremetal.records import Node
from openstack_emulator.baremetal.routes.patches import patched
from openstack_emulator.baremetal.routes.requests import LISTED_BY, body_of, list_response, new_key, single
from openstack_emulator.baremetal.rules.access import (
    ADMINISTRATORS,
    may_see_node,
    require,
    require_unlocked,
    require_version_below_node,
)
from openstack_emulator.baremetal.rules.composition import BareMetal
from openstack_emulator.baremetal.rules.drivers import interface_of
from openstack_emulator.baremetal.rules.fields import not_a_trait
from openstack_emulator.baremetal.rules.kinds import INTERFACES, NODE
from openstack_emulator.baremetal.rules.provisioning import AVAILABLE, ENROLL, STATES
from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Request, Response

_EQUAL = ("provision_state", "driver", "resource_class", "conductor_group", "owner", "lessee", "fault", "chassis_uuid",
          "instance_uuid", "conductor")  # fmt: skip
_FLAGS = ("maintenance", "retired")
_FURTHER = ("fault", "associated", "description_contains")
"""Filters of lists of nodes."""
_FAULTS = ("power failure", "clean failure", "rescue abort failure", "service failure")
MOST_TRAITS = 50
"""Traits of one node."""
TRAITS_SINCE = (1, 37)
NodeHandler = Callable[[BareMetal, Request, Node], Response]


def node_of(service: BareMetal, request: Request) -> Node:
    """The node that the path names. Raises ApiError 404."""
    return service.nodes.reach(request, request.vars["node"])


def changing(policy: str, act: NodeHandler) -> Callable[[BareMetal, Request], Response]:
    """A handler of a change of the node in the path."""

    def serve(service: BareMetal, request: Request) -> Response:
        return act(service, request, service.nodes.changeable(request, request.vars["node"], policy))

    return serve


def create(service: BareMetal, request: Request) -> Response:
    require(request, "baremetal:node:create", *ADMINISTRATORS)
    values = NODE.values(request.version, request.json)
    state = ENROLL if request.version >= (1, 11) else AVAILABLE
    node = service.nodes.create(request.context, new_key(request, service.nodes.rows), values, state)
    return single(request, NODE, node, 201)


def _visible(service: BareMetal, request: Request) -> list[Node]:
    """The nodes that the caller may see and that the query selects. Raises ApiError 400 and 406."""
    query = request.query
    known = {*_EQUAL, *_FLAGS, *_FURTHER, *LISTED_BY}
    if unknown := [name for name, _ in query.pairs if name not in known]:
        raise bad_request(f"Unexpected arguments: {', '.join(unknown)}")
    if (state := query.get("provision_state")) is not None and state not in STATES:
        raise bad_request(f'Provision state "{state}" is not valid')
    if newer := [name for name in (*_EQUAL, *_FLAGS) if name in query and NODE.fields[name].since > request.version]:
        raise ApiError(406, f"Request not acceptable. The filter {newer[0]} needs a newer API version.")
    if "fault" in query and query.get("fault") not in _FAULTS:
        raise bad_request(f"Unrecognized fault '{query.get('fault')}' is specified, allowed faults are {_FAULTS}")
    rows = [row for row in service.nodes.rows if may_see_node(request.context, row)]
    for name in _EQUAL:
        if (value := query.get(name)) is not None:
            rows = [row for row in rows if (row.get(name) or "") == value]
    for name in _FLAGS:
        if (flag := query.boolean(name)) is not None:
            rows = [row for row in rows if bool(row.get(name)) == flag]
    if (associated := query.boolean("associated")) is not None:
        rows = [row for row in rows if (row.instance_uuid is not None) == associated]
    if (words := query.get("description_contains")) is not None:
        rows = [row for row in rows if words in (row.description or "")]
    return rows


def index(service: BareMetal, request: Request) -> Response:
    return list_response(request, NODE, _visible(service, request))


def index_in_full(service: BareMetal, request: Request) -> Response:
    return list_response(request, NODE, _visible(service, request), detail=True)


def show(service: BareMetal, request: Request) -> Response:
    return single(request, NODE, node_of(service, request))


def _update(service: BareMetal, request: Request, node: Node) -> Response:
    changes = patched(request, NODE, node)
    if _resets_interfaces(request):
        if "driver" not in changes:
            raise bad_request("The reset_interfaces parameter can only be used when changing the node's driver.")
        changes = {**{f"{name}_interface": None for name in INTERFACES}, **changes}
    if changes.get("owner", node.owner) != node.owner:
        require(request, "baremetal:node:update_owner", *ADMINISTRATORS)
    service.nodes.change(node, changes)
    return single(request, NODE, node)


update = changing("baremetal:node:update", _update)


def _resets_interfaces(request: Request) -> bool:
    """Whether a change of the driver gives the node the defaults of the new one. Raises ApiError 406."""
    if "reset_interfaces" in request.query and request.version < (1, 45):
        raise ApiError(406, "Request not acceptable. reset_interfaces needs a newer API version.")
    return bool(request.query.boolean("reset_interfaces"))


def delete(service: BareMetal, request: Request) -> Response:
    node = node_of(service, request)
    require(request, "baremetal:node:delete", *ADMINISTRATORS)
    require_unlocked(node)
    service.delete_node(node)
    return Response(status=204)


def validate(service: BareMetal, request: Request) -> Response:
    """Which interfaces of a node can be used: all that its driver implements; that of vendors is not checked."""
    node = service.nodes.managed(request, request.vars["node"], "baremetal:node:validate")
    results: dict[str, dict[str, object]] = {}
    for name in INTERFACES.keys() - {"vendor"}:
        missing = (interface_of(node, name) or "no-").startswith("no-")
        reason = f"Driver {node.driver} does not support {name} (disabled or not implemented)."
        results[name] = {"result": None, "reason": reason} if missing else {"result": True}
    return Response(results)


# -- traits -------------------------------------------------------------------------------------------------------


def list_traits(service: BareMetal, request: Request) -> Response:
    require_version_below_node(request, TRAITS_SINCE)
    return Response({"traits": node_of(service, request).traits})


def _trait(value: object) -> str:
    good = isinstance(value, str) and 0 < len(value) <= 255 and value.replace("_", "").isalnum() and value.isupper()
    if not good:
        raise bad_request(not_a_trait("trait", value))
    return str(value)


def _save(service: BareMetal, node: Node, traits: set[str]) -> None:
    """Give a node traits. Raises ApiError 400 for too many."""
    if len(traits) > MOST_TRAITS:
        raise bad_request(f"Traits cannot be set: a node has {MOST_TRAITS} traits at most.")
    node.traits = sorted(traits)
    service.nodes.save(node)


def _set_traits(service: BareMetal, request: Request, node: Node) -> Response:
    require_version_below_node(request, TRAITS_SINCE)
    traits = body_of(request).get("traits")
    if not isinstance(traits, list):
        raise bad_request("The request body must have a list 'traits'.")
    _save(service, node, {_trait(trait) for trait in traits})
    return Response(status=204)


def _add_trait(service: BareMetal, request: Request, node: Node) -> Response:
    require_version_below_node(request, TRAITS_SINCE)
    trait = _trait(request.vars["trait"])
    _save(service, node, {*node.traits, trait})
    return Response(status=204, headers={"Location": f"{request.base}/v1/nodes/{node.uuid}/traits/{trait}"})


def _remove_trait(service: BareMetal, request: Request, node: Node) -> Response:
    require_version_below_node(request, TRAITS_SINCE)
    trait = request.vars["trait"]
    if trait not in node.traits:
        raise not_found(f"Node {node.uuid} doesn't have a trait '{trait}'")
    _save(service, node, set(node.traits) - {trait})
    return Response(status=204)


def _remove_traits(service: BareMetal, request: Request, node: Node) -> Response:
    require_version_below_node(request, TRAITS_SINCE)
    _save(service, node, set())
    return Response(status=204)


set_traits = changing("baremetal:node:traits:set", _set_traits)
add_trait = changing("baremetal:node:traits:set", _add_trait)
remove_trait = changing("baremetal:node:traits:delete", _remove_trait)
remove_traits = changing("baremetal:node:traits:delete", _remove_traits)
