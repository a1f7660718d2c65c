"""Ports of nodes, and groups of ports."""

from __future__ import annotations

from openstack_emulator.baremetal.http import (
    ADMINISTRATORS,
    TIMESTAMP,
    is_reference,
    listed,
    needs,
    new_key,
    require,
    single,
)
from openstack_emulator.baremetal.kinds import PORT, PORT_GROUP
from openstack_emulator.baremetal.nodes import Nodes, may_see, require_unlocked
from openstack_emulator.baremetal.patching import patched
from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component, using
from openstack_emulator.core.error_bodies import CONDUCTOR
from openstack_emulator.core.errors import ApiError, bad_request, conflict, forbidden, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record

CONNECTIVITY = ("pxe_enabled", "portgroup_uuid", "physical_network", "local_link_connection")
_CHANGEABLE = ("enroll", "inspecting", "inspect wait", "manageable")
"""Provision states of a node in which the connectivity of its ports can be changed; in maintenance it can in all."""


class Ports(Component):
    """All ports and port groups."""

    def __init__(self, records: Records, nodes: Nodes) -> None:
        super().__init__(records)
        self.nodes = nodes
        self.rows = records.collection(
            "ports",
            ("node_uuid", "address", "portgroup_uuid"),
            lambda key: not_found(f"Port {key} could not be found."),
        )
        self.groups = records.collection(
            "portgroups", ("node_uuid", "name"), lambda key: not_found(f"Portgroup {key} could not be found.")
        )

    def now(self) -> str:
        return self.records.timestamp(TIMESTAMP)

    def reach(self, request: Request) -> Record:
        """The port that the path names, if the caller may see its node.

        Raises ApiError 404, and 400 for what is neither a UUID nor a name, such as a MAC address.
        """
        key = request.vars["port"]
        if not is_reference(key):
            raise bad_request(f"Expected a logical name or UUID but received {key}.")
        port = self.rows.require(key)
        if not may_see(request, self.nodes.rows.require(port["node_uuid"])):
            raise self.rows.missing(port["uuid"])
        return port

    def group(self, request: Request, key: str) -> Record:
        """A port group, by UUID or name, if the caller may see its node. Raises ApiError 404."""
        found = self.groups.get(key) or self.groups.first(name=key)
        if found is None or not may_see(request, self.nodes.rows.require(found["node_uuid"])):
            raise self.groups.missing(key)
        return found

    def require_node(self, request: Request, key: str, policy: str) -> None:
        """Refuse a new object of a node that is not there, or is locked. Raises ApiError 400, 403 and 409.

        Outside the system, the policy asks for the owner of the node before anything else.
        """
        node = self.nodes.rows.get(key)
        if node is None and not request.context.system:
            raise forbidden(f"Access was denied to the following resource: {policy}")
        if node is None:
            raise bad_request(f"Node {key} could not be found.")
        require_unlocked(node)

    def require_new_node(self, key: str) -> None:
        """Refuse to move an object to a node that is not there, or is locked. Raises ApiError 400 and 409."""
        node = self.nodes.rows.get(key)
        if node is None:
            raise bad_request(f"Unable to apply the requested node_uuid '{key}'. Requested value was invalid.")
        require_unlocked(node)

    def check(self, port: Record) -> None:
        """Refuse a port that cannot exist, and normalize its values. Raises ApiError 400 and 409."""
        port["address"] = port["address"].lower()
        for name in ("pxe_enabled", "is_smartnic"):
            port[name] = fields.as_boolean(port[name])
        other = self.rows.first(address=port["address"])
        if other is not None and other["uuid"] != port["uuid"]:
            raise conflict(f"A port with MAC address {port['address']} already exists.", CONDUCTOR)
        if port["is_smartnic"] and not {"hostname", "port_id"} <= port["local_link_connection"].keys():
            raise bad_request("A smart NIC port needs hostname and port_id in local_link_connection.")
        if port["portgroup_uuid"] is None:
            return
        group = self.groups.get(port["portgroup_uuid"])
        if group is None:
            raise bad_request(f"Portgroup {port['portgroup_uuid']} could not be found.")
        if group["node_uuid"] != port["node_uuid"]:
            raise bad_request("Port can not be associated with a portgroup on another node.")
        if port["pxe_enabled"] and not group["standalone_ports_supported"]:
            raise conflict(
                f"Port {port['uuid']} can't be PXE-enabled: its portgroup {group['uuid']} doesn't support standalone "
                "ports."
            )
        networks = {one["physical_network"] for one in self.rows.select(portgroup_uuid=group["uuid"])
                    if one["uuid"] != port["uuid"]}  # fmt: skip
        if networks and port["physical_network"] not in networks:
            raise conflict(f"All ports of portgroup {group['uuid']} must have the same physical network.")

    def forget_node(self, node_uuid: str) -> None:
        """Remove the ports and port groups of a node."""
        for collection in (self.rows, self.groups):
            for row in collection.select(node_uuid=node_uuid):
                collection.remove(row)


def _new(ports: Ports, request: Request, values: Record) -> Record:
    key = new_key(request, ports.rows, ports.groups)
    return {**values, "uuid": key, "id": key, "internal_info": {}, "created_at": ports.now(), "updated_at": None}


def create_port(ports: Ports, request: Request) -> Response:
    require(request, "baremetal:port:create", *ADMINISTRATORS)
    values = PORT.values(request)
    ports.require_node(request, values["node_uuid"], "baremetal:port:create")
    port = _new(ports, request, values)
    ports.check(port)
    return single(request, PORT, ports.rows.add(port), 201)


def _require_changeable(port: Record, node: Record, names: set[str]) -> None:
    """Raise ApiError 409 where the connectivity of a node's ports cannot be changed."""
    if node["maintenance"] or node["provision_state"] in _CHANGEABLE:
        return
    changed = ", ".join(sorted(names))
    raise conflict(
        f"Port {port['uuid']} can not have any connectivity attributes ({changed}) updated unless node "
        f"{node['uuid']} is in a {', '.join(_CHANGEABLE)} state or in maintenance mode."
    )


def _selected(ports: Ports, request: Request) -> list[Record]:
    query = request.query
    rows = [row for row in ports.rows if may_see(request, ports.nodes.rows.require(row["node_uuid"]))]
    if (key := query.get("node") or query.get("node_uuid")) is not None:
        node = ports.nodes.reach(request, key)
        rows = [row for row in rows if row["node_uuid"] == node["uuid"]]
    if (address := query.get("address")) is not None:
        rows = [row for row in rows if row["address"] == address.lower()]
    if (key := query.get("portgroup")) is not None:
        if request.version < (1, 24):
            raise ApiError(406, "Request not acceptable. The filter portgroup needs a newer API version.")
        group = ports.group(request, key)
        rows = [row for row in rows if row["portgroup_uuid"] == group["uuid"]]
    return rows


def list_ports(ports: Ports, request: Request) -> Response:
    return listed(request, PORT, _selected(ports, request))


def list_ports_in_full(ports: Ports, request: Request) -> Response:
    return listed(request, PORT, _selected(ports, request), detail=True)


def list_ports_of_node(ports: Ports, request: Request) -> Response:
    node = ports.nodes.reach(request, request.vars["node"])
    return listed(request, PORT, ports.rows.select(node_uuid=node["uuid"]))


def list_ports_of_node_in_full(ports: Ports, request: Request) -> Response:
    node = ports.nodes.reach(request, request.vars["node"])
    return listed(request, PORT, ports.rows.select(node_uuid=node["uuid"]), detail=True)


def list_ports_of_group(ports: Ports, request: Request) -> Response:
    needs(request, (1, 24))
    group = ports.group(request, request.vars["group"])
    return listed(request, PORT, ports.rows.select(portgroup_uuid=group["uuid"]))


def show_port(ports: Ports, request: Request) -> Response:
    return single(request, PORT, ports.reach(request))


def update_port(ports: Ports, request: Request) -> Response:
    require(request, "baremetal:port:update", *ADMINISTRATORS)
    port = ports.reach(request)
    changes = patched(request, PORT, port)
    after = {**port, **changes}
    node = ports.nodes.rows.require(port["node_uuid"])
    require_unlocked(node)
    if after["node_uuid"] != port["node_uuid"]:
        ports.require_new_node(after["node_uuid"])
    ports.check(after)
    if names := {name for name in CONNECTIVITY if after[name] != port[name]}:
        _require_changeable(port, node, names)
    ports.rows.update(port, **{name: after[name] for name in changes}, updated_at=ports.now())
    return single(request, PORT, port)


def delete_port(ports: Ports, request: Request) -> Response:
    require(request, "baremetal:port:delete", *ADMINISTRATORS)
    port = ports.reach(request)
    require_unlocked(ports.nodes.rows.require(port["node_uuid"]))
    ports.rows.remove(port)
    return Response(status=204)


# -- port groups --------------------------------------------------------------------------------------------------


def _check_group(ports: Ports, group: Record) -> None:
    group["standalone_ports_supported"] = fields.as_boolean(group["standalone_ports_supported"])
    if group["address"] is not None:
        group["address"] = group["address"].lower()
    for name in ("name", "address"):
        for other in ports.groups:
            if group[name] is not None and other[name] == group[name] and other["uuid"] != group["uuid"]:
                raise conflict(f"A portgroup with {name} {group[name]} already exists.")


def create_group(ports: Ports, request: Request) -> Response:
    needs(request, (1, 23))
    require(request, "baremetal:portgroup:create", *ADMINISTRATORS)
    values = PORT_GROUP.values(request)
    ports.require_node(request, values["node_uuid"], "baremetal:portgroup:create")
    group = _new(ports, request, values)
    _check_group(ports, group)
    return single(request, PORT_GROUP, ports.groups.add(group), 201)


def _selected_groups(ports: Ports, request: Request) -> list[Record]:
    needs(request, (1, 23))
    rows = [row for row in ports.groups if may_see(request, ports.nodes.rows.require(row["node_uuid"]))]
    if (key := request.query.get("node")) is not None:
        node = ports.nodes.reach(request, key)
        rows = [row for row in rows if row["node_uuid"] == node["uuid"]]
    if (address := request.query.get("address")) is not None:
        rows = [row for row in rows if row["address"] == address.lower()]
    return rows


def list_groups(ports: Ports, request: Request) -> Response:
    return listed(request, PORT_GROUP, _selected_groups(ports, request))


def list_groups_in_full(ports: Ports, request: Request) -> Response:
    return listed(request, PORT_GROUP, _selected_groups(ports, request), detail=True)


def list_groups_of_node(ports: Ports, request: Request) -> Response:
    needs(request, (1, 24))
    node = ports.nodes.reach(request, request.vars["node"])
    return listed(request, PORT_GROUP, ports.groups.select(node_uuid=node["uuid"]))


def list_groups_of_node_in_full(ports: Ports, request: Request) -> Response:
    needs(request, (1, 24))
    node = ports.nodes.reach(request, request.vars["node"])
    return listed(request, PORT_GROUP, ports.groups.select(node_uuid=node["uuid"]), detail=True)


def show_group(ports: Ports, request: Request) -> Response:
    needs(request, (1, 23))
    return single(request, PORT_GROUP, ports.group(request, request.vars["group"]))


def update_group(ports: Ports, request: Request) -> Response:
    needs(request, (1, 23))
    require(request, "baremetal:portgroup:update", *ADMINISTRATORS)
    group = ports.group(request, request.vars["group"])
    changes = patched(request, PORT_GROUP, group)
    require_unlocked(ports.nodes.rows.require(group["node_uuid"]))
    after = {**group, **changes}
    if after["node_uuid"] != group["node_uuid"]:
        ports.require_new_node(after["node_uuid"])
        if ports.rows.select(portgroup_uuid=group["uuid"]):
            raise conflict(f"Portgroup {group['uuid']} has ports and can not get another node.")
    _check_group(ports, after)
    ports.groups.update(group, **{name: after[name] for name in changes}, updated_at=ports.now())
    return single(request, PORT_GROUP, group)


def delete_group(ports: Ports, request: Request) -> Response:
    needs(request, (1, 23))
    require(request, "baremetal:portgroup:delete", *ADMINISTRATORS)
    group = ports.group(request, request.vars["group"])
    require_unlocked(ports.nodes.rows.require(group["node_uuid"]))
    if ports.rows.select(portgroup_uuid=group["uuid"]):
        raise bad_request(
            f"Cannot complete the requested action because portgroup {group['uuid']} contains ports.", CONDUCTOR
        )
    ports.groups.remove(group)
    return Response(status=204)


PORT_ROUTES = using(
    Ports,
    {
        "/ports": {"GET": list_ports, "POST": create_port},
        "/ports/detail": {"GET": list_ports_in_full},
        "/ports/{port}": {"GET": show_port, "PATCH": update_port, "DELETE": delete_port},
        "/nodes/{node}/ports": {"GET": list_ports_of_node},
        "/nodes/{node}/ports/detail": {"GET": list_ports_of_node_in_full},
        "/portgroups": {"GET": list_groups, "POST": create_group},
        "/portgroups/detail": {"GET": list_groups_in_full},
        "/portgroups/{group}": {"GET": show_group, "PATCH": update_group, "DELETE": delete_group},
        "/portgroups/{group}/ports": {"GET": list_ports_of_group},
        "/nodes/{node}/portgroups": {"GET": list_groups_of_node},
        "/nodes/{node}/portgroups/detail": {"GET": list_groups_of_node_in_full},
    },
)
