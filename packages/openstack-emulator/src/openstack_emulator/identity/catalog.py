"""Where services are: regions, services, endpoints, and the catalog a token carries."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.cloud import new_hex_id
from openstack_emulator.core.store import Record, public
from openstack_emulator.identity.records import IdentityRecords

REGION = "RegionOne"
INTERFACES = ("admin", "internal", "public")
CLOUD_URL = "%(cloud)s"
"""Stands in a stored URL for the root of this cloud, which may have another port after a restart."""
OUTSIDE_NAMES = {"orchestration": "heat", "cloudformation": "heat-cfn"}


def open_catalog(identity: IdentityRecords) -> None:
    """Give every service of the cloud, and every one that runs elsewhere, its endpoints."""
    if REGION not in identity.regions:
        identity.regions.add({"id": REGION, "description": "", "parent_region_id": None})
    for service in identity.cloud.services:
        for kind, path in service.endpoints.items():
            register(identity, service.name, kind, CLOUD_URL + path)
    for kind, url in identity.cloud.extra_endpoints.items():
        register(identity, OUTSIDE_NAMES.get(kind, kind), kind, url)


def register(identity: IdentityRecords, name: str, kind: str, url: str) -> None:
    """Create the service and its three endpoints, or point existing ones to the URL."""
    service = identity.services.first(type=kind) or identity.services.add(
        {"id": new_hex_id(), "name": name, "type": kind, "description": "", "enabled": True}
    )
    for interface in INTERFACES:
        endpoint = identity.endpoints.first(service_id=service["id"], interface=interface)
        if endpoint is None:
            identity.endpoints.add(
                {
                    "id": new_hex_id(),
                    "service_id": service["id"],
                    "interface": interface,
                    "region": REGION,
                    "region_id": REGION,
                    "url": url,
                    "enabled": True,
                }
            )
        elif endpoint["url"] != url:
            identity.endpoints.update(endpoint, url=url)


def not_served(identity: IdentityRecords) -> list[Record]:
    """The services in the catalog whose endpoints are on this cloud, which was started without them."""
    served = {kind for service in identity.cloud.services for kind in service.endpoints}
    here = {row["service_id"] for row in identity.endpoints if str(row["url"]).startswith(CLOUD_URL)}
    return [row for row in identity.services if row["id"] in here and row["type"] not in served]


def endpoint_url(identity: IdentityRecords, endpoint: Record) -> str:
    """The URL as shown; project and user are still to be filled in."""
    return str(endpoint["url"]).replace(CLOUD_URL, identity.cloud.endpoint)


def catalog(identity: IdentityRecords, user_id: str, project_id: str | None) -> list[dict[str, Any]]:
    """The catalog for a token; endpoints that need a project are left out of tokens without one."""
    chosen = endpoints_for(identity, project_id)
    return [
        {
            "id": service["id"],
            "type": service["type"],
            "name": service["name"],
            "endpoints": _endpoints(identity, service["id"], user_id, project_id, chosen),
        }
        for service in identity.services
        if service["enabled"]
    ]


def endpoints_for(identity: IdentityRecords, project_id: str | None) -> set[str] | None:
    """The ids of the endpoints that were chosen for a project, singly or by groups; None, for all, without a choice."""
    if project_id is None:
        return None
    rows = identity.endpoint_filters.select(project_id=project_id)
    if not rows:
        return None
    groups = [identity.endpoint_groups.require(row["endpoint_group_id"]) for row in rows if "endpoint_group_id" in row]
    chosen = {row["endpoint_id"] for row in rows if "endpoint_id" in row}
    return chosen.union(*({one["id"] for one in members(identity, group)} for group in groups))


def members(identity: IdentityRecords, group: Record) -> list[Record]:
    """The endpoints that have what a group asks for."""
    return identity.endpoints.select(**group["filters"])


def _endpoints(
    identity: IdentityRecords, service_id: str, user_id: str, project_id: str | None, chosen: set[str] | None
) -> list[dict[str, Any]]:
    shown = []
    for endpoint in identity.endpoints.select(service_id=service_id, enabled=True):
        if chosen is not None and endpoint["id"] not in chosen:
            continue
        url = endpoint_url(identity, endpoint).replace("$(", "%(")
        if project_id is None and ("%(project_id)s" in url or "%(tenant_id)s" in url):
            continue
        for name, value in (("project_id", project_id), ("tenant_id", project_id), ("user_id", user_id)):
            url = url.replace(f"%({name})s", value or "")
        entry = {key: endpoint[key] for key in ("id", "interface", "region_id", "region")}
        shown.append({**entry, "url": url})
    return shown


def endpoint_view(identity: IdentityRecords, endpoint: Record) -> Record:
    """An endpoint as `GET /v3/endpoints` shows it."""
    return {**public(endpoint), "url": endpoint_url(identity, endpoint)}
