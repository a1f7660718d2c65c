"""Shares, snapshots, access rules and share networks as callers see them, in the form of each microversion."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.http import Request, Version
from openstack_emulator.share.records import (
    AccessRule,
    Export,
    Message,
    SecurityService,
    Share,
    ShareNetwork,
    ShareType,
    Snapshot,
    Subnet,
)
from openstack_emulator.share.rules.composition import SharedFileSystems
from openstack_emulator.share.rules.networks import NETWORK_PLACE
from openstack_emulator.share.rules.types import DEFAULT_TYPE, SERVERS, SHOWN_TO_ALL

SUBNET_FIELDS = (*NETWORK_PLACE, "network_type", "segmentation_id", "cidr", "ip_version")
SUBNET_FIELDS_SINCE: tuple[tuple[Version, str], ...] = (((2, 18), "gateway"), ((2, 20), "mtu"))
SINCE_SUBNETS = (2, 51)
SINCE_SUBNETS_IN_ZONE = (2, 70)
"""The first microversion in which a share network may have several subnets in an availability zone."""
SINCE_SOFT_DELETION = (2, 69)
SINCE_PROVIDER_LOCATION = (2, 12)
SINCE_SNAPSHOT_METADATA = (2, 73)
SINCE_SUBNET_METADATA = (2, 78)
SINCE_STATES = (2, 28)
"""The first microversion that shows what happens to an access rule; before, it is new, active or in error."""
SINCE_UNIT = (2, 44)
"""The first microversion with organizational units (`ou`)."""
SINCE_DESCRIPTION = (2, 41)
SINCE_DEFAULT = (2, 46)
ABILITIES_SINCE: tuple[tuple[Version, str], ...] = (
    ((2, 2), "snapshot_support"),
    ((2, 24), "create_share_from_snapshot_support"),
    ((2, 27), "revert_to_snapshot_support"),
    ((2, 32), "mount_snapshot_support"),
)
ACCESS = "share_type_access:is_public"
"""What requests and answers call `is_public` of a share type."""
Named = Share | Snapshot


def summary(request: Request, path: str, record: Named) -> dict[str, object]:
    """An ID, a name and links."""
    return {"id": record.id, "name": record.name, "links": links(request, path, record)}


def links(request: Request, path: str, record: Named | Message) -> list[dict[str, str]]:
    """The links to an object: with the version of the API, and without it."""
    return [
        {"rel": "self", "href": f"{request.base}/v2/{path}/{record.id}"},
        {"rel": "bookmark", "href": f"{request.base}/{path}/{record.id}"},
    ]


def share_view(systems: SharedFileSystems, request: Request, share: Share) -> dict[str, object]:
    """A share; where it is stored is for administrators."""
    version, kind = request.version, systems.types.rows.require(share.share_type_id)
    shown: dict[str, object] = {
        "id": share.id,
        "name": share.name,
        "description": share.description,
        "size": share.size,
        "share_proto": share.share_proto,
        "status": share.status,
        "is_public": share.is_public,
        "metadata": share.metadata,
        "snapshot_id": share.snapshot_id,
        "share_network_id": share.share_network_id,
        "availability_zone": share.availability_zone,
        "project_id": share.project_id,
        "created_at": share.created_at,
        "links": links(request, "shares", share),
        "share_type": kind.id if version >= (2, 6) else kind.name,
        "volume_type": kind.name,
    }
    if version >= (2, 5):
        shown |= {"task_state": share.task_state}
    if version >= (2, 6):
        shown |= {"share_type_name": kind.name}
    shown |= _exports_and_rules(systems, version, share)
    if version >= (2, 11):
        shown |= {"replication_type": None, "has_replicas": False}
    if version >= (2, 16):
        shown |= {"user_id": share.user_id}
    if version >= (2, 31):
        shown |= {"share_group_id": None, "source_share_group_snapshot_member_id": None}
    if version >= (2, 54):
        shown |= {"progress": share.progress}
    if version >= SINCE_SOFT_DELETION:
        shown |= {
            "is_soft_deleted": share.is_soft_deleted,
            "scheduled_to_be_deleted_at": share.scheduled_to_be_deleted_at,
        }
    abilities = share.abilities.to_json()
    shown |= {name: abilities[name] for since, name in ABILITIES_SINCE if version >= since}
    if request.context.is_admin:
        shown |= {"host": share.host, "share_server_id": share.share_server_id}
    return shown


def _exports_and_rules(systems: SharedFileSystems, version: Version, share: Share) -> dict[str, object]:
    """Where a share is exported, as far as that has no path of its own, and the state of its access rules."""
    if version < (2, 9):
        paths = [export.path for export in share.exports]
        return {"export_locations": paths, "export_location": paths[0] if paths else None}
    return {"access_rules_status": systems.access_rules.status_of(share)} if version >= (2, 10) else {}


def instance_view(systems: SharedFileSystems, request: Request, share: Share) -> dict[str, object]:
    """The one instance of a share."""
    version = request.version
    shown: dict[str, object] = {
        "id": share.id,
        "availability_zone": share.availability_zone,
        "host": share.host,
        "share_network_id": share.share_network_id,
        "status": share.status,
        "created_at": share.created_at,
        "share_server_id": share.share_server_id,
        "share_id": share.id,
        **_exports_and_rules(systems, version, share),
    }
    if version >= (2, 11):
        shown |= {"replica_state": None}
    if version >= (2, 22):
        shown |= {"share_type_id": share.share_type_id}
    if version >= (2, 30):
        shown |= {"cast_rules_to_readonly": False}
    if version >= (2, 54):
        shown |= {"progress": share.progress}
    return shown


def export_view(request: Request, share: Share, export: Export, detailed: bool = True) -> dict[str, object]:
    """An export location of a share."""
    shown: dict[str, object] = {"id": export.id, "path": export.path}
    if request.version >= (2, 14):
        shown |= {"preferred": False}
    if detailed:
        shown |= {"created_at": export.created_at, "updated_at": export.updated_at}
    if request.context.is_admin:
        shown |= {"share_instance_id": share.id, "is_admin_only": False}
    return shown


def rule_view(request: Request, rule: AccessRule) -> dict[str, object]:
    """An access rule."""
    version = request.version
    shown: dict[str, object] = {
        "id": rule.id,
        "access_type": rule.access_type,
        "access_to": rule.access_to,
        "access_level": rule.access_level,
        "state": _state(rule, version),
    }
    if version >= (2, 21):
        shown |= {"access_key": rule.access_key}
    if version >= (2, 33):
        shown |= {"created_at": rule.created_at, "updated_at": rule.updated_at}
    if version >= (2, 45):
        shown |= {"metadata": rule.metadata}
    return shown


def _state(rule: AccessRule, version: Version) -> str:
    """The state of a rule as a microversion names it."""
    if version >= SINCE_STATES:
        return rule.state
    return {"queued_to_apply": "new", "queued_to_deny": "active"}.get(rule.state, rule.state)


def snapshot_view(request: Request, snapshot: Snapshot) -> dict[str, object]:
    """A snapshot."""
    shown: dict[str, object] = {
        "id": snapshot.id,
        "share_id": snapshot.share_id,
        "share_size": snapshot.share_size,
        "created_at": snapshot.created_at,
        "status": snapshot.status,
        "name": snapshot.name,
        "description": snapshot.description,
        "size": snapshot.size,
        "share_proto": snapshot.share_proto,
        "links": links(request, "snapshots", snapshot),
    }
    if request.version >= (2, 17):
        shown |= {"user_id": snapshot.user_id, "project_id": snapshot.project_id}
    if request.version >= SINCE_PROVIDER_LOCATION and request.context.is_admin:
        shown |= {"provider_location": None}
    if request.version >= SINCE_SNAPSHOT_METADATA:
        shown |= {"metadata": snapshot.metadata}
    return shown


def snapshot_instance_summary(snapshot: Snapshot) -> dict[str, object]:
    """An instance of a snapshot in a list without details."""
    return {"id": snapshot.id, "snapshot_id": snapshot.id, "status": snapshot.status}


def snapshot_instance_view(snapshot: Snapshot) -> dict[str, object]:
    """The one instance of a snapshot."""
    return {
        **snapshot_instance_summary(snapshot),
        "share_id": snapshot.share_id,
        "share_instance_id": snapshot.share_id,
        "created_at": snapshot.created_at,
        "updated_at": snapshot.updated_at,
        "progress": "100%" if snapshot.status == "available" else "0%",
        "provider_location": None,
    }


def type_view(request: Request, kind: ShareType) -> dict[str, object]:
    """A share type."""
    shown: dict[str, object] = {
        "id": kind.id,
        "name": kind.name,
        "extra_specs": visible_specs(request, kind),
        "required_extra_specs": {SERVERS: kind.extra_specs[SERVERS]},
        ACCESS: kind.is_public,
    }
    if request.version >= SINCE_DESCRIPTION:
        shown |= {"description": kind.description}
    if request.version >= SINCE_DEFAULT:
        shown |= {"is_default": kind.name == DEFAULT_TYPE}
    return shown


def visible_specs(request: Request, kind: ShareType) -> dict[str, str]:
    """The extra specs of a share type that the caller sees.

    Other users than administrators see some of them, and always what can be done with shares of the type, as far as the
    microversion knows it.
    """
    if request.context.is_admin:
        return kind.extra_specs
    abilities = {name: "False" for since, name in ABILITIES_SINCE if request.version >= since}
    return abilities | {name: value for name, value in kind.extra_specs.items() if name in SHOWN_TO_ALL}


def subnet_view(request: Request, subnet: Subnet) -> dict[str, object]:
    """A subnet of a share network."""
    shown: dict[str, object] = {
        "id": subnet.id,
        "availability_zone": subnet.availability_zone,
        "created_at": subnet.created_at,
        "updated_at": subnet.updated_at,
    }
    if request.version >= SINCE_SUBNET_METADATA:
        shown |= {"metadata": subnet.metadata}
    return shown | _place(request.version, subnet)


def network_view(systems: SharedFileSystems, request: Request, network: ShareNetwork) -> dict[str, object]:
    """A share network; before microversion 2.51, with the fields of its default subnet."""
    version, subnets = request.version, systems.networks.subnets_of(network)
    shown: dict[str, object] = {
        "id": network.id,
        "name": network.name,
        "description": network.description,
        "project_id": network.project_id,
        "created_at": network.created_at,
        "updated_at": network.updated_at,
    }
    if version < SINCE_SUBNETS:
        shown |= _place(version, subnets[0] if subnets else None)
    else:
        shown |= {"share_network_subnets": [subnet_view(request, subnet) for subnet in subnets]}
    if version < (2, 26):
        shown |= {"nova_net_id": None}
    if version >= (2, 63):
        shown |= {"status": "active", "security_service_update_support": False}
    if version >= SINCE_SUBNETS_IN_ZONE:
        shown |= {"network_allocation_update_support": False}
    return shown


def _place(version: Version, subnet: Subnet | None) -> dict[str, Any]:
    """Where a subnet is in the network service; without one, the same fields without values."""
    since = [name for first, name in SUBNET_FIELDS_SINCE if version >= first]
    return {name: subnet.get(name) if subnet is not None else None for name in (*SUBNET_FIELDS, *since)}


def security_service_view(request: Request, service: SecurityService) -> dict[str, object]:
    """A security service with its password, which Manila shows."""
    shown = service.to_json()
    if request.version < SINCE_UNIT:
        del shown["ou"]
    return shown


def security_service_summary(service: SecurityService) -> dict[str, object]:
    """A security service in a list without details."""
    return {"id": service.id, "name": service.name, "type": service.type, "status": service.status}


def message_view(request: Request, message: Message) -> dict[str, object]:
    """A message about an operation that has failed."""
    return {**message.to_json(), "links": links(request, "messages", message)}
