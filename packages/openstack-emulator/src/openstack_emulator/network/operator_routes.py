"""Handlers about the service itself: extensions, agents, zones, quotas, free addresses, the ready-made network."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.cloud import Handler, Routes
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.core.versions import ApiVersion, all_versions, own
from openstack_emulator.network.attributes import address_of, integer, network_of
from openstack_emulator.network.errors import disallowed, invalid_input, missing
from openstack_emulator.network.extensions import EXTENSIONS, PROVIDERS, extension
from openstack_emulator.network.handlers import actor_of, writer_of
from openstack_emulator.network.kinds_security import QOS_RULES
from openstack_emulator.network.lists import paged, trimmed
from openstack_emulator.network.networks import ZONES
from openstack_emulator.network.records import NetworkRecords
from openstack_emulator.network.table import DEFAULT_QUOTA, UNLIMITED

LIMIT = integer(UNLIMITED, 2**31 - 1)


versions = all_versions(ApiVersion("v2.0", (own("/v2.0/"),)))


def resources(network: NetworkRecords, request: Request) -> Response:
    rows = [
        {
            "name": kind.name,
            "collection": kind.plural,
            "links": [{"rel": "self", "href": f"{request.base}/v2.0{kind.path}"}],
        }
        for kind in network.state.kinds.kinds.values()
        if not kind.parent
    ]
    return Response({"resources": rows})


def list_extensions(network: NetworkRecords, request: Request) -> Response:
    return Response({"extensions": [extension(alias) for alias in EXTENSIONS]})


def show_extension(network: NetworkRecords, request: Request) -> Response:
    alias = request.vars["alias"]
    if alias not in EXTENSIONS:
        raise missing("Extension", "Extension with alias", alias)
    return Response({"extension": extension(alias)})


def _listed(name: str, rows: list[Record], request: Request) -> Response:
    """A list of records that have no table: filtered by equal fields, paged, trimmed."""
    known = {key for row in rows for key in row}
    wanted = [(key, value) for key, value in request.query.pairs if key in known]
    kept = [row for row in rows if all(str(row.get(key)).lower() == value.lower() for key, value in wanted)]
    shown, links = paged(lambda key: missing(name, name, key), kept, request)
    fields = request.query.all("fields")
    body: dict[str, Any] = {name: [trimmed(row, fields) for row in shown]}
    return Response({**body, **({f"{name}_links": links} if links else {})})


def list_zones(network: NetworkRecords, request: Request) -> Response:
    rows = [
        {"id": f"{resource}-{zone}", "name": zone, "resource": resource, "state": "available"}
        for zone in ZONES
        for resource in ("network", "router")
    ]
    return Response({"availability_zones": [{k: v for k, v in row.items() if k != "id"} for row in rows]})


def list_providers(network: NetworkRecords, request: Request) -> Response:
    return _listed("service_providers", [dict(provider) for provider in PROVIDERS], request)


def list_rule_types(network: NetworkRecords, request: Request) -> Response:
    return Response({"rule_types": [{"type": kind.name.removesuffix("_rule")} for kind in QOS_RULES]})


def show_rule_type(network: NetworkRecords, request: Request) -> Response:
    name = request.vars["type"]
    if name not in {kind.name.removesuffix("_rule") for kind in QOS_RULES}:
        raise missing("QosRuleType", "QoS rule type", name)
    return Response({"rule_type": {"type": name, "drivers": [{"name": "openvswitch", "supported_parameters": []}]}})


# Agents


def list_agents(network: NetworkRecords, request: Request) -> Response:
    if not actor_of(request).admin:
        return Response({"agents": []})
    return _listed("agents", [network.agents.view(agent) for agent in network.agents.rows], request)


def show_agent(network: NetworkRecords, request: Request) -> Response:
    agent = network.agents.reach(actor_of(request), request.vars["id"], "get_agent")
    return Response({"agent": network.agents.view(agent)})


def update_agent(network: NetworkRecords, request: Request) -> Response:
    agent = network.agents.update(actor_of(request), request.vars["id"], request.object("agent"))
    return Response({"agent": network.agents.view(agent)})


def _hosting(plural: str) -> Handler:
    def handler(network: NetworkRecords, request: Request) -> Response:
        agents = network.agents.hosting(actor_of(request), plural, request.vars["id"])
        return Response({"agents": [network.agents.view(agent) for agent in agents]})

    return handler


def _hosted(plural: str) -> Handler:
    def handler(network: NetworkRecords, request: Request) -> Response:
        return Response({plural: network.agents.hosted_by(actor_of(request), plural, request.vars["id"])})

    return handler


def _host(plural: str, key: str) -> Handler:
    def handler(network: NetworkRecords, request: Request) -> Response:
        body = request.json
        if not isinstance(body, dict) or not isinstance(body.get(key), str):
            raise bad_request(f"Failed to parse request. Required attribute '{key}' not specified")
        network.agents.host(actor_of(request), plural, request.vars["id"], body[key])
        return Response(status=201)

    return handler


def _unhost(plural: str) -> Handler:
    def handler(network: NetworkRecords, request: Request) -> Response:
        network.agents.unhost(actor_of(request), plural, request.vars["id"], request.vars["hosted_id"])
        return Response(status=204)

    return handler


# Quotas


def _quota_project(request: Request, rule: str) -> str:
    project_id = request.vars["project_id"]
    actor = actor_of(request)
    if not actor.admin and (rule != "get_quota" or project_id != actor.project_id):
        raise disallowed(rule)
    return project_id


def list_quotas(network: NetworkRecords, request: Request) -> Response:
    if not actor_of(request).admin:
        raise disallowed("get_quota")
    rows = network.state.quotas
    shown = [{**network.state.quota(r["id"]), "project_id": r["id"], "tenant_id": r["id"]} for r in rows]
    return Response({"quotas": shown})


def show_quota(network: NetworkRecords, request: Request) -> Response:
    return Response({"quota": network.state.quota(_quota_project(request, "get_quota"))})


def show_default_quota(network: NetworkRecords, request: Request) -> Response:
    _quota_project(request, "get_quota")
    return Response({"quota": dict(DEFAULT_QUOTA)})


def show_quota_details(network: NetworkRecords, request: Request) -> Response:
    project_id = _quota_project(request, "get_quota")
    limits = network.state.quota(project_id)
    used = network.state.usage
    details = {name: {"limit": limit, "used": used[project_id, name], "reserved": 0} for name, limit in limits.items()}
    return Response({"quota": details})


def update_quota(network: NetworkRecords, request: Request) -> Response:
    project_id = _quota_project(request, "update_quota")
    limits: dict[str, int] = {}
    for name, value in request.object("quota").items():
        if name in ("tenant_id", "project_id", "force", "check_limit"):
            continue
        if name not in DEFAULT_QUOTA:
            raise bad_request(f"Unrecognized attribute(s) '{name}'")
        try:
            limits[name] = LIMIT(value)
        except ValueError as error:
            raise invalid_input(str(error)) from None
    row = network.state.quotas.get(project_id) or network.state.quotas.add({"id": project_id, "limits": {}})
    network.state.quotas.update(row, limits={**row["limits"], **limits})
    return Response({"quota": network.state.quota(project_id)})


def delete_quota(network: NetworkRecords, request: Request) -> Response:
    project_id = _quota_project(request, "delete_quota")
    row = network.state.quotas.get(project_id)
    if row is None:
        raise missing("TenantQuota", "Quota for tenant", project_id)
    network.state.quotas.remove(row)
    return Response(status=204)


def project_of_token(network: NetworkRecords, request: Request) -> Response:
    return Response({"tenant": {"tenant_id": request.context.project}})


# Addresses


def _availability(network: NetworkRecords, record: Record, version: str | None) -> Record:
    subnets = network.state.rows["subnets"].select(network_id=record["id"])
    rows = []
    for subnet in subnets:
        if version not in (None, str(subnet["ip_version"])):
            continue
        pools = [(int(address_of(p["start"])), int(address_of(p["end"]))) for p in subnet["allocation_pools"]]
        rows.append(
            {
                "subnet_id": subnet["id"],
                "subnet_name": subnet["name"],
                "cidr": subnet["cidr"],
                "ip_version": network_of(subnet["cidr"]).version,
                "total_ips": sum(last - first + 1 for first, last in pools),
                "used_ips": len(network.state.ports.taken(subnet["id"])),
            }
        )
    return {
        "network_id": record["id"],
        "network_name": record["name"],
        "project_id": record["project_id"],
        "tenant_id": record["project_id"],
        "total_ips": sum(row["total_ips"] for row in rows),
        "used_ips": sum(row["used_ips"] for row in rows),
        "subnet_ip_availability": rows,
    }


def list_availabilities(network: NetworkRecords, request: Request) -> Response:
    if not actor_of(request).admin:
        return Response({"network_ip_availabilities": []})
    version = request.query.get("ip_version")
    rows = [_availability(network, record, version) for record in network.networks.rows]
    for name in ("network_id", "network_name", "tenant_id", "project_id"):
        if wanted := request.query.all(name):
            rows = [row for row in rows if row[name] in wanted]
    return Response({"network_ip_availabilities": rows})


def show_availability(network: NetworkRecords, request: Request) -> Response:
    actor = actor_of(request)
    if not actor.admin:
        raise disallowed("get_network_ip_availability")
    record = network.networks.reach(actor, request.vars["id"])
    return Response({"network_ip_availability": _availability(network, record, None)})


def show_topology(network: NetworkRecords, request: Request) -> Response:
    """The network a project may use without making one: found by its name, or made with subnet and router."""
    actor = writer_of(request, "get_auto_allocated_topology")
    project_id = request.vars["project_id"]
    if not actor.admin and project_id != actor.project_id:
        raise disallowed("get_auto_allocated_topology")
    if request.query.get("fields") == "dry-run":
        network.topology.check(project_id)
        return Response({"auto_allocated_topology": {"id": "dry-run=pass", "tenant_id": project_id}})
    allocated = network.topology.get(project_id)
    return Response({"auto_allocated_topology": {"id": allocated, "tenant_id": project_id, "project_id": project_id}})


def delete_topology(network: NetworkRecords, request: Request) -> Response:
    actor = writer_of(request, "delete_auto_allocated_topology")
    project_id = request.vars["project_id"]
    if not actor.admin and project_id != actor.project_id:
        raise disallowed("delete_auto_allocated_topology")
    network.topology.delete(project_id)
    return Response(status=204)


OPERATOR: Routes = {
    "/extensions": {"GET": list_extensions},
    "/extensions/{alias}": {"GET": show_extension},
    "/availability_zones": {"GET": list_zones},
    "/service-providers": {"GET": list_providers},
    "/qos/rule-types": {"GET": list_rule_types},
    "/qos/rule-types/{type}": {"GET": show_rule_type},
    "/agents": {"GET": list_agents},
    "/agents/{id}": {"GET": show_agent, "PUT": update_agent},
    "/agents/{id}/dhcp-networks": {"GET": _hosted("networks"), "POST": _host("networks", "network_id")},
    "/agents/{id}/dhcp-networks/{hosted_id}": {"DELETE": _unhost("networks")},
    "/agents/{id}/l3-routers": {"GET": _hosted("routers"), "POST": _host("routers", "router_id")},
    "/agents/{id}/l3-routers/{hosted_id}": {"DELETE": _unhost("routers")},
    "/networks/{id}/dhcp-agents": {"GET": _hosting("networks")},
    "/routers/{id}/l3-agents": {"GET": _hosting("routers")},
    "/quotas": {"GET": list_quotas},
    "/quotas/tenant": {"GET": project_of_token},
    "/quotas/project": {"GET": project_of_token},
    "/quotas/{project_id}": {"GET": show_quota, "PUT": update_quota, "DELETE": delete_quota},
    "/quotas/{project_id}/default": {"GET": show_default_quota},
    "/quotas/{project_id}/details": {"GET": show_quota_details},
    "/quotas/{project_id}/details.json": {"GET": show_quota_details},
    "/network-ip-availabilities": {"GET": list_availabilities},
    "/network-ip-availabilities/{id}": {"GET": show_availability},
    "/auto-allocated-topology/{project_id}": {"GET": show_topology, "DELETE": delete_topology},
}
