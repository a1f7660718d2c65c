"""Virtual interfaces (VIFs) of nodes.

A VIF is attached to a port group, or to a port that is in no group, which then names it in its `internal_info`.
"""

from __future__ import annotations

from openstack_emulator.baremetal.http import needs
from openstack_emulator.baremetal.ports import Ports
from openstack_emulator.core.cloud import Routes
from openstack_emulator.core.component import using
from openstack_emulator.core.errors import bad_request, conflict
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Collection, Record

VIFS_SINCE = (1, 28)
"""The microversion that has the path."""
ATTACHED = "tenant_vif_port_id"
"""The key of `internal_info` with the VIF of a port or port group."""
Holder = tuple[Collection, Record]


def _holders(ports: Ports, node: Record) -> list[Holder]:
    """What VIFs of a node can be attached to, in the order in which they get them: groups that have ports, ports that
    a node boots from, and other ports."""
    rows = ports.rows.select(node_uuid=node["uuid"])
    used = {row["portgroup_uuid"] for row in rows}
    groups = [row for row in ports.groups.select(node_uuid=node["uuid"]) if row["uuid"] in used]
    single = sorted((row for row in rows if row["portgroup_uuid"] is None), key=lambda row: not row["pxe_enabled"])
    return [*((ports.groups, row) for row in groups), *((ports.rows, row) for row in single)]


def _attached(ports: Ports, node: Record) -> dict[str, Holder]:
    """VIF → the port or port group of a node that it is attached to."""
    found = ((collection, row) for collection in (ports.groups, ports.rows)
             for row in collection.select(node_uuid=node["uuid"]))  # fmt: skip
    return {row["internal_info"][ATTACHED]: (collection, row) for collection, row in found
            if ATTACHED in row["internal_info"]}  # fmt: skip


def list_vifs(ports: Ports, request: Request) -> Response:
    needs(request, VIFS_SINCE)
    node = ports.nodes.reach(request, request.vars["node"])
    return Response({"vifs": [{"id": vif} for vif in _attached(ports, node)]})


def attach(ports: Ports, request: Request) -> Response:
    needs(request, VIFS_SINCE)
    node = ports.nodes.changeable(request, request.vars["node"], "baremetal:node:vif:attach")
    vif = request.json.get("id") if isinstance(request.json, dict) else None
    if not isinstance(vif, str) or not vif:
        raise bad_request("The request body must be a JSON object with a string 'id'.")
    if vif in _attached(ports, node):
        raise conflict(f"Unable to attach VIF because VIF {vif} is already attached to node {node['uuid']}.")
    free = [holder for holder in _holders(ports, node) if ATTACHED not in holder[1]["internal_info"]]
    if not free:
        raise bad_request(f"Unable to attach VIF {vif} to node {node['uuid']}: it has no free port or port group.")
    collection, row = free[0]
    collection.update(row, internal_info={**row["internal_info"], ATTACHED: vif}, updated_at=ports.now())
    return Response(status=204)


def detach(ports: Ports, request: Request) -> Response:
    needs(request, VIFS_SINCE)
    node = ports.nodes.changeable(request, request.vars["node"], "baremetal:node:vif:detach")
    vif, attached = request.vars["vif"], _attached(ports, node)
    if vif not in attached:
        raise bad_request(f"Unable to detach VIF {vif} from node {node['uuid']} because it is not attached to it.")
    collection, row = attached[vif]
    rest = {name: value for name, value in row["internal_info"].items() if name != ATTACHED}
    collection.update(row, internal_info=rest, updated_at=ports.now())
    return Response(status=204)


def detach_nothing(ports: Ports, request: Request) -> Response:
    """Refuse to detach without the name of a VIF. Raises ApiError 400."""
    needs(request, VIFS_SINCE)
    ports.nodes.changeable(request, request.vars["node"], "baremetal:node:vif:detach")
    raise bad_request("Missing mandatory parameter: vif_ident")


VIF_ROUTES: Routes = using(
    Ports,
    {
        "/nodes/{node}/vifs": {"GET": list_vifs, "POST": attach, "DELETE": detach_nothing},
        "/nodes/{node}/vifs/{vif}": {"DELETE": detach},
    },
)
