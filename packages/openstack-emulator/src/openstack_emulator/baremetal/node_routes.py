"""Nodes over HTTP: creation, lists, changes, states, traits, deletion."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from openstack_emulator.baremetal.http import (
    ADMINISTRATORS,
    LISTED_BY,
    boolean_form,
    listed,
    not_a_trait,
    offered_below_node,
    require,
    require_system,
    single,
)
from openstack_emulator.baremetal.kinds import INTERFACES, NODE
from openstack_emulator.baremetal.nodes import DRIVERS, HOST, Nodes, may_see, require_unlocked
from openstack_emulator.baremetal.patching import patched
from openstack_emulator.baremetal.ports import Ports
from openstack_emulator.baremetal.provisioning import STATES
from openstack_emulator.baremetal.volumes import Volumes
from openstack_emulator.core import fields
from openstack_emulator.core.component import using
from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record

_EQUAL = ("provision_state", "driver", "resource_class", "conductor_group", "owner", "lessee", "fault", "chassis_uuid",
          "instance_uuid", "conductor")  # fmt: skip
_FLAGS = ("maintenance", "retired")
_FURTHER = ("fault", "associated", "description_contains")
"""Filters of lists of nodes."""
_FAULTS = ("power failure", "clean failure", "rescue abort failure", "service failure")
MOST_TRAITS = 50
"""Traits of one node."""
_BOOT_DEVICES = ("pxe", "disk", "cdrom", "bios", "safe")
_PROPERTIES = {
    "fake-hardware": {name: f"{name} of the fake vendor interface. Required." for name in ("B1", "B2")},
    **{
        driver: {f"{driver}_{one}": f"The {one} of the management controller."
                 for one in ("address", "username", "password")}
        for driver in ("ipmi", "redfish")
    },
}  # fmt: skip
"""Driver → name in `driver_info` → what it is for."""
NodeHandler = Callable[[Nodes, Request, Record], Response]


def create(nodes: Nodes, request: Request) -> Response:
    require(request, "baremetal:node:create", *ADMINISTRATORS)
    return single(request, NODE, nodes.create(request), 201)


def visible_nodes(nodes: Nodes, request: Request) -> list[Record]:
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
    rows = [row for row in nodes.rows if may_see(request, row)]
    for name in _EQUAL:
        if (wanted := query.get(name)) is not None:
            rows = [row for row in rows if (row[name] or "") == wanted]
    for name in _FLAGS:
        if (flag := query.boolean(name)) is not None:
            rows = [row for row in rows if bool(row[name]) == flag]
    if (associated := query.boolean("associated")) is not None:
        rows = [row for row in rows if (row["instance_uuid"] is not None) == associated]
    if (words := query.get("description_contains")) is not None:
        rows = [row for row in rows if words in (row["description"] or "")]
    return rows


def index(nodes: Nodes, request: Request) -> Response:
    return listed(request, NODE, visible_nodes(nodes, request))


def index_in_full(nodes: Nodes, request: Request) -> Response:
    return listed(request, NODE, visible_nodes(nodes, request), detail=True)


def show(nodes: Nodes, request: Request) -> Response:
    return single(request, NODE, nodes.reach(request, request.vars["node"]))


def update(nodes: Nodes, request: Request) -> Response:
    node = nodes.changeable(request, request.vars["node"], "baremetal:node:update")
    changes = patched(request, NODE, node)
    if _resets_interfaces(request):
        if "driver" not in changes:
            raise bad_request("The reset_interfaces parameter can only be used when changing the node's driver.")
        changes = {**{f"{name}_interface": None for name in INTERFACES}, **changes}
    if changes.get("owner", node["owner"]) != node["owner"]:
        require(request, "baremetal:node:update_owner", *ADMINISTRATORS)
    nodes.check({**node, **changes}, changes)
    nodes.update(node, changes)
    return single(request, NODE, node)


def _resets_interfaces(request: Request) -> bool:
    """Whether a change of the driver gives the node the defaults of the new one. Raises ApiError 406."""
    if "reset_interfaces" in request.query and request.version < (1, 45):
        raise ApiError(406, "Request not acceptable. reset_interfaces needs a newer API version.")
    return bool(request.query.boolean("reset_interfaces"))


def delete(nodes: Nodes, request: Request) -> Response:
    node = nodes.reach(request, request.vars["node"])
    require(request, "baremetal:node:delete", *ADMINISTRATORS)
    require_unlocked(node)
    nodes.delete(node)
    nodes.records.component(Ports).forget_node(node["uuid"])
    nodes.records.component(Volumes).forget_node(node["uuid"])
    return Response(status=204)


# -- states -------------------------------------------------------------------------------------------------------


def _changing(policy: str, act: NodeHandler) -> Callable[[Nodes, Request], Response]:
    """A handler of a change of the node in the path."""

    def serve(nodes: Nodes, request: Request) -> Response:
        return act(nodes, request, nodes.changeable(request, request.vars["node"], policy))

    return serve


def _body(request: Request) -> dict[str, Any]:
    if not isinstance(request.json, dict):
        raise bad_request("The request body must be a JSON object.")
    return request.json


def show_states(nodes: Nodes, request: Request) -> Response:
    node = nodes.reach(request, request.vars["node"])
    names = ("power_state", "target_power_state", "provision_state", "target_provision_state", "provision_updated_at",
             "last_error", "console_enabled", "raid_config", "target_raid_config", "boot_mode",
             "secure_boot")  # fmt: skip
    known = {name: NODE.fields[name] for name in names if NODE.fields[name].since <= request.version}
    return Response({name: field.visible(request.version, node[name]) for name, field in known.items()})


def show_unknown_state(nodes: Nodes, request: Request) -> Response:
    """Refuse a path below the states that does not exist: 404 for reads; other methods are not allowed (405)."""
    raise not_found("The resource could not be found.")


def _set_power(nodes: Nodes, request: Request, node: Record) -> Response:
    nodes.set_power(request, node, _body(request).get("target"))
    return _states_begin(request, node)


def _states_begin(request: Request, node: Record) -> Response:
    return Response(status=202, headers={"Location": f"{request.base}/v1/nodes/{node['uuid']}/states"})


def _set_provision(nodes: Nodes, request: Request, node: Record) -> Response:
    body = _body(request)
    target = body.get("target")
    if not isinstance(target, str):
        raise bad_request("Missing mandatory parameter: target")
    if target == "clean" and not isinstance(body.get("clean_steps"), list):
        raise bad_request("clean_steps is required when setting target provision state to clean")
    if target == "rescue" and not body.get("rescue_password"):
        raise bad_request('A non-empty "rescue_password" is required when setting target provision state to rescue')
    known = {"target", "configdrive", "clean_steps", "deploy_steps", "rescue_password", "disable_ramdisk"}
    if unknown := sorted(body.keys() - known):
        raise bad_request(f"Unknown fields of the request: {', '.join(unknown)}")
    nodes.provision(request, node, target)
    return _states_begin(request, node)


def show_console(nodes: Nodes, request: Request) -> Response:
    node = nodes.managed(request, request.vars["node"], "baremetal:node:get_console")
    return Response({"console_enabled": node["console_enabled"], "console_info": None})


def _set_console(nodes: Nodes, request: Request, node: Record) -> Response:
    if node["console_interface"] in (None, "no-console"):
        raise bad_request(f"Driver {node['driver']} does not support console (disabled or not implemented).")
    nodes.update(node, {"console_enabled": bool(fields.as_boolean(_body(request).get("enabled", True)))})
    return Response(status=202)


def _set_raid(nodes: Nodes, request: Request, node: Record) -> Response:
    if request.version < (1, 12):
        raise ApiError(406, "Request not acceptable. The RAID configuration needs a newer API version.")
    wanted = _body(request)
    if wanted and not isinstance(wanted.get("logical_disks"), list):
        raise bad_request("The target RAID configuration must have a list 'logical_disks'.")
    nodes.update(node, {"target_raid_config": wanted})
    return Response(status=204)


def _set_maintenance(nodes: Nodes, request: Request, node: Record) -> Response:
    reason = _body(request).get("reason") if request.body.strip() else None
    nodes.update(node, {"maintenance": True, "maintenance_reason": reason})
    return Response(status=202)


def _end_maintenance(nodes: Nodes, request: Request, node: Record) -> Response:
    nodes.update(node, {"maintenance": False, "maintenance_reason": None, "fault": None})
    return Response(status=202)


def validate(nodes: Nodes, request: Request) -> Response:
    """Which interfaces of a node can be used: all that its driver implements; that of vendors is not checked."""
    node = nodes.managed(request, request.vars["node"], "baremetal:node:validate")
    found = {}
    for name in INTERFACES.keys() - {"vendor"}:
        missing = (node[f"{name}_interface"] or "no-").startswith("no-")
        reason = f"Driver {node['driver']} does not support {name} (disabled or not implemented)."
        found[name] = {"result": None, "reason": reason} if missing else {"result": True}
    return Response(found)


def show_boot_device(nodes: Nodes, request: Request) -> Response:
    return Response(nodes.managed(request, request.vars["node"], "baremetal:node:get_boot_device")["_boot_device"])


def _set_boot_device(nodes: Nodes, request: Request, node: Record) -> Response:
    body = _body(request)
    if body.get("boot_device") not in _BOOT_DEVICES:
        raise bad_request(f"Invalid boot device {body.get('boot_device')} specified.")
    if boolean_form(body.get("persistent", False)) is not None:
        raise bad_request("'persistent' must be a boolean.")
    chosen = {"boot_device": body["boot_device"], "persistent": fields.as_boolean(body.get("persistent", False))}
    nodes.update(node, {"_boot_device": chosen})
    return Response(status=204)


def list_boot_devices(nodes: Nodes, request: Request) -> Response:
    nodes.reach(request, request.vars["node"])
    return Response({"supported_boot_devices": list(_BOOT_DEVICES)})


# -- traits -------------------------------------------------------------------------------------------------------


def list_traits(nodes: Nodes, request: Request) -> Response:
    offered_below_node(request, (1, 37))
    return Response({"traits": nodes.reach(request, request.vars["node"])["traits"]})


def _trait(value: Any) -> str:
    good = isinstance(value, str) and 0 < len(value) <= 255 and value.replace("_", "").isalnum() and value.isupper()
    if not good:
        raise bad_request(not_a_trait("trait", value))
    return str(value)


def _few(traits: set[str]) -> list[str]:
    """Return the traits of a node in order. Raises ApiError 400 for too many."""
    if len(traits) > MOST_TRAITS:
        raise bad_request(f"Traits cannot be set: a node has {MOST_TRAITS} traits at most.")
    return sorted(traits)


def _set_traits(nodes: Nodes, request: Request, node: Record) -> Response:
    offered_below_node(request, (1, 37))
    given = _body(request).get("traits")
    if not isinstance(given, list):
        raise bad_request("The request body must have a list 'traits'.")
    nodes.update(node, {"traits": _few({_trait(one) for one in given})})
    return Response(status=204)


def _add_trait(nodes: Nodes, request: Request, node: Record) -> Response:
    offered_below_node(request, (1, 37))
    trait = _trait(request.vars["trait"])
    nodes.update(node, {"traits": _few({*node["traits"], trait})})
    return Response(status=204, headers={"Location": f"{request.base}/v1/nodes/{node['uuid']}/traits/{trait}"})


def _remove_trait(nodes: Nodes, request: Request, node: Record) -> Response:
    offered_below_node(request, (1, 37))
    trait = request.vars["trait"]
    if trait not in node["traits"]:
        raise not_found(f"Node {node['uuid']} doesn't have a trait '{trait}'")
    nodes.update(node, {"traits": [one for one in node["traits"] if one != trait]})
    return Response(status=204)


def _remove_traits(nodes: Nodes, request: Request, node: Record) -> Response:
    offered_below_node(request, (1, 37))
    nodes.update(node, {"traits": []})
    return Response(status=204)


# -- drivers --------------------------------------------------------------------------------------------------------


def _driver(request: Request, name: str) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "name": name,
        "hosts": [HOST],
        "links": [{"href": f"{request.base}/v1/drivers/{name}", "rel": "self"}],
    }
    if request.version >= (1, 30):
        shown["type"] = "dynamic"
    if request.version >= (1, 30) and (request.query.boolean("detail") or "driver" in request.vars):
        for interface, since in INTERFACES.items():
            if request.version >= since:
                enabled = DRIVERS[name][interface]
                shown[f"default_{interface}_interface"] = enabled[0]
                shown[f"enabled_{interface}_interfaces"] = list(enabled)
    return shown


def list_drivers(nodes: Nodes, request: Request) -> Response:
    require_system(request, "baremetal:driver:get", "reader")
    wanted = request.query.get("type")
    names = [] if wanted == "classic" else list(DRIVERS)
    return Response({"drivers": [_driver(request, name) for name in names]})


def show_driver(nodes: Nodes, request: Request) -> Response:
    require_system(request, "baremetal:driver:get", "reader")
    name = request.vars["driver"]
    if name not in DRIVERS:
        raise ApiError(404, f"Failed to load driver {name}.")
    return Response(_driver(request, name))


def driver_properties(nodes: Nodes, request: Request) -> Response:
    require_system(request, "baremetal:driver:get_properties", "reader")
    name = request.vars["driver"]
    if name not in DRIVERS:
        raise ApiError(404, f"Failed to load driver {name}.")
    return Response(dict(_PROPERTIES[name]))


_ONE = "/nodes/{node}"
NODE_ROUTES = using(
    Nodes,
    {
        "/nodes": {"GET": index, "POST": create},
        "/nodes/detail": {"GET": index_in_full},
        _ONE: {"GET": show, "PATCH": update, "DELETE": delete},
        f"{_ONE}/states": {"GET": show_states},
        f"{_ONE}/states/power": {"PUT": _changing("baremetal:node:set_power_state", _set_power)},
        f"{_ONE}/states/provision": {"PUT": _changing("baremetal:node:set_provision_state", _set_provision)},
        f"{_ONE}/states/console": {
            "GET": show_console,
            "PUT": _changing("baremetal:node:set_console_state", _set_console),
        },
        # The path below a collection of states, which the service has beside the one below a node.
        "/nodes/states/console/{node}": {"GET": show_console},
        f"{_ONE}/states/{{state}}": {"GET": show_unknown_state},
        f"{_ONE}/states/raid": {"PUT": _changing("baremetal:node:set_raid_state", _set_raid)},
        f"{_ONE}/maintenance": {
            "PUT": _changing("baremetal:node:set_maintenance", _set_maintenance),
            "DELETE": _changing("baremetal:node:clear_maintenance", _end_maintenance),
        },
        f"{_ONE}/validate": {"GET": validate},
        f"{_ONE}/management/boot_device": {
            "GET": show_boot_device,
            "PUT": _changing("baremetal:node:set_boot_device", _set_boot_device),
        },
        f"{_ONE}/management/boot_device/supported": {"GET": list_boot_devices},
        f"{_ONE}/traits": {
            "GET": list_traits,
            "PUT": _changing("baremetal:node:traits:set", _set_traits),
            "DELETE": _changing("baremetal:node:traits:delete", _remove_traits),
        },
        f"{_ONE}/traits/{{trait}}": {
            "PUT": _changing("baremetal:node:traits:set", _add_trait),
            "DELETE": _changing("baremetal:node:traits:delete", _remove_trait),
        },
        "/drivers": {"GET": list_drivers},
        "/drivers/{driver}": {"GET": show_driver},
        "/drivers/{driver}/properties": {"GET": driver_properties},
    },
)
