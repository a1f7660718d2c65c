"""Shares, snapshots, access rules and share networks as callers see them, in the form of each microversion."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.http import Request, Version
from openstack_emulator.core.store import Record
from openstack_emulator.share.access import AccessRules, shown_state
from openstack_emulator.share.networks import NETWORK_PLACE, ShareNetworks

SUBNET_FIELDS = (*NETWORK_PLACE, "network_type", "segmentation_id", "cidr", "ip_version")
SUBNET_FIELDS_SINCE: tuple[tuple[Version, str], ...] = (((2, 18), "gateway"), ((2, 20), "mtu"))
SINCE_SUBNETS = (2, 51)
SINCE_SUBNETS_IN_ZONE = (2, 70)
"""The first microversion in which a share network may have several subnets in an availability zone."""
SINCE_SOFT_DELETION = (2, 69)
SINCE_PROVIDER_LOCATION = (2, 12)
SINCE_SNAPSHOT_METADATA = (2, 73)
SINCE_SUBNET_METADATA = (2, 78)
ABILITIES_SINCE: tuple[tuple[Version, str], ...] = (
    ((2, 2), "snapshot_support"),
    ((2, 24), "create_share_from_snapshot_support"),
    ((2, 27), "revert_to_snapshot_support"),
    ((2, 32), "mount_snapshot_support"),
)


def brief(request: Request, path: str, record: Record) -> dict[str, Any]:
    """An ID, a name and links."""
    return {"id": record["id"], "name": record["name"], "links": links(request, path, record)}


def links(request: Request, path: str, record: Record) -> list[dict[str, str]]:
    return [
        {"rel": "self", "href": f"{request.base}/v2/{path}/{record['id']}"},
        {"rel": "bookmark", "href": f"{request.base}/{path}/{record['id']}"},
    ]


def share_view(rules: AccessRules, request: Request, share: Record) -> dict[str, Any]:
    """A share; where it is stored is for administrators."""
    version, kind = request.version, rules.shares.types.rows.require(share["share_type_id"])
    found = {key: share[key] for key in ("id", "name", "description", "size", "share_proto", "status", "is_public",
                                         "metadata", "snapshot_id", "share_network_id", "availability_zone",
                                         "project_id", "created_at")}  # fmt: skip
    found |= {
        "links": links(request, "shares", share),
        "share_type": kind["id"] if version >= (2, 6) else kind["name"],
        "volume_type": kind["name"],
    }
    if version >= (2, 5):
        found["task_state"] = share["task_state"]
    if version >= (2, 6):
        found["share_type_name"] = kind["name"]
    if version < (2, 9):
        paths = [export["path"] for export in share["_exports"]]
        found |= {"export_locations": paths, "export_location": paths[0] if paths else None}
    if version >= (2, 10):
        found["access_rules_status"] = rules.status_of(share)
    if version >= (2, 11):
        found |= {"replication_type": None, "has_replicas": False}
    if version >= (2, 16):
        found["user_id"] = share["user_id"]
    if version >= (2, 31):
        found |= {"share_group_id": None, "source_share_group_snapshot_member_id": None}
    if version >= (2, 54):
        found["progress"] = share["progress"]
    if version >= SINCE_SOFT_DELETION:
        found |= {key: share[key] for key in ("is_soft_deleted", "scheduled_to_be_deleted_at")}
    found |= {name: share["_abilities"][name] for since, name in ABILITIES_SINCE if version >= since}
    if request.context.is_admin:
        found |= {"host": share["host"], "share_server_id": share["share_server_id"]}
    return found


def export_view(request: Request, share: Record, export: Record, detailed: bool = True) -> dict[str, Any]:
    """An export location of a share."""
    found: dict[str, Any] = {"id": export["id"], "path": export["path"]}
    if request.version >= (2, 14):
        found["preferred"] = False
    if detailed:
        found |= {"created_at": export["created_at"], "updated_at": export["updated_at"]}
    if request.context.is_admin:
        found |= {"share_instance_id": share["id"], "is_admin_only": False}
    return found


def rule_view(request: Request, rule: Record) -> dict[str, Any]:
    """An access rule."""
    version = request.version
    found = {key: rule[key] for key in ("id", "access_type", "access_to", "access_level")}
    found["state"] = shown_state(rule, version)
    if version >= (2, 21):
        found["access_key"] = rule["access_key"]
    if version >= (2, 33):
        found |= {"created_at": rule["created_at"], "updated_at": rule["updated_at"]}
    if version >= (2, 45):
        found["metadata"] = rule["metadata"]
    return found


def snapshot_view(request: Request, snapshot: Record) -> dict[str, Any]:
    """A snapshot."""
    found = {key: snapshot[key] for key in ("id", "share_id", "share_size", "created_at", "status", "name",
                                            "description", "size", "share_proto")}  # fmt: skip
    found["links"] = links(request, "snapshots", snapshot)
    if request.version >= (2, 17):
        found |= {"user_id": snapshot["user_id"], "project_id": snapshot["project_id"]}
    if request.version >= SINCE_PROVIDER_LOCATION and request.context.is_admin:
        found["provider_location"] = None
    if request.version >= SINCE_SNAPSHOT_METADATA:
        found["metadata"] = snapshot["metadata"]
    return found


def subnet_view(request: Request, subnet: Record) -> dict[str, Any]:
    """A subnet of a share network."""
    further = ["id", "availability_zone", "created_at", "updated_at"]
    if request.version >= SINCE_SUBNET_METADATA:
        further.append("metadata")
    return {**{key: subnet[key] for key in further}, **_place(request.version, subnet)}


def network_view(networks: ShareNetworks, request: Request, network: Record) -> dict[str, Any]:
    """A share network; before microversion 2.51, with the fields of its default subnet."""
    version, subnets = request.version, networks.subnets_of(network)
    found = {key: network[key] for key in ("id", "name", "description", "project_id", "created_at", "updated_at")}
    if version < SINCE_SUBNETS:
        found |= _place(version, subnets[0] if subnets else {})
    else:
        found["share_network_subnets"] = [subnet_view(request, one) for one in subnets]
    if version < (2, 26):
        found["nova_net_id"] = None
    if version >= (2, 63):
        found |= {"status": "active", "security_service_update_support": False}
    if version >= SINCE_SUBNETS_IN_ZONE:
        found["network_allocation_update_support"] = False
    return found


def _place(version: Version, subnet: Record) -> dict[str, Any]:
    since = [name for first, name in SUBNET_FIELDS_SINCE if version >= first]
    return {name: subnet.get(name) for name in (*SUBNET_FIELDS, *since)}
