"""Quotas, limits, zones, extensions and versions over HTTP."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.errors import bad_request, forbidden, not_found
from openstack_emulator.core.extensions import Extensions
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.limits import usage
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_integer
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.core.versions import DESCRIBED, ApiVersion, all_versions, media_type, own
from openstack_emulator.volume.rules.composition import BlockStorage
from openstack_emulator.volume.rules.constants import ZONE

UPDATED = "2023-08-31T00:00:00Z"
NAMES = {
    "OS-SCH-HNT": "SchedulerHints",
    "backups": "Backups",
    "capabilities": "Capabilities",
    "encryption": "VolumeTypeEncryption",
    "os-admin-actions": "AdminActions",
    "os-availability-zone": "AvailabilityZones",
    "os-extended-snapshot-attributes": "ExtendedSnapshotAttributes",
    "os-hosts": "Hosts",
    "os-quota-class-sets": "QuotaClasses",
    "os-quota-sets": "Quotas",
    "os-services": "Services",
    "os-snapshot-manage": "SnapshotManage",
    "os-snapshot-unmanage": "SnapshotUnmanage",
    "os-snapshot-actions": "SnapshotActions",
    "os-types-extra-specs": "TypesExtraSpecs",
    "os-types-manage": "TypesManage",
    "os-used-limits": "UsedLimits",
    "os-vol-host-attr": "VolumeHostAttribute",
    "os-vol-image-meta": "VolumeImageMetadata",
    "os-vol-mig-status-attr": "VolumeMigStatusAttribute",
    "os-vol-tenant-attr": "VolumeTenantAttribute",
    "os-volume-actions": "VolumeActions",
    "os-volume-encryption-metadata": "VolumeEncryptionMetadata",
    "os-volume-manage": "VolumeManage",
    "os-volume-transfer": "VolumeTransfer",
    "os-volume-unmanage": "VolumeUnmanage",
    "os-volume-type-access": "VolumeTypeAccess",
    "qos-specs": "Qos_specs_manage",
    "scheduler-stats": "Scheduler_stats",
}


_VERSION = ApiVersion(
    "v3.0",
    (DESCRIBED, own("/v3/")),
    details={
        "version": "3.71",
        "min_version": "3.0",
        "updated": UPDATED,
        "media-types": [media_type("volume", version="3")],
    },
)
versions = all_versions(_VERSION, status=300)
version = all_versions(_VERSION)


EXTENSIONS = Extensions(NAMES, updated=UPDATED)


MAXIMA = {
    "maxTotalVolumes": "volumes",
    "maxTotalVolumeGigabytes": "gigabytes",
    "maxTotalSnapshots": "snapshots",
    "maxTotalBackups": "backups",
    "maxTotalBackupGigabytes": "backup_gigabytes",
}
TOTALS = {
    "totalVolumesUsed": "volumes",
    "totalGigabytesUsed": "gigabytes",
    "totalSnapshotsUsed": "snapshots",
    "totalBackupsUsed": "backups",
    "totalBackupGigabytesUsed": "backup_gigabytes",
}
"""The names of limits, and of what is used of them, in the absolute limits of a project."""


def limits(storage: BlockStorage, request: Request) -> Response:
    project = request.context.project
    if request.context.is_admin:
        project = request.query.get("project_id") or request.query.get("tenant_id") or project
    allowed, used = storage.quotas.limits_of(project), storage.quotas.used_by(project)
    absolute = {maximum: allowed[name] for maximum, name in MAXIMA.items()}
    absolute |= {total: used[name] for total, name in TOTALS.items()}
    return Response({"limits": {"rate": [], "absolute": absolute}})


def _quota_project(request: Request) -> str:
    project = request.vars["target_id"]
    if not request.context.is_admin and project != request.context.project_id:
        raise forbidden("Policy doesn't allow volume_extension:quotas:show to be performed.")
    return project


def show_quota(storage: BlockStorage, request: Request) -> Response:
    project = _quota_project(request)
    limits_ = storage.quotas.limits_of(project)
    shown = usage(limits_, storage.quotas.used_by(project)) if request.query.boolean("usage") else limits_
    return Response({"quota_set": {"id": project, **shown}})


def default_quota(storage: BlockStorage, request: Request) -> Response:
    project = _quota_project(request)
    return Response({"quota_set": {"id": project, **storage.quotas.default_limits()}})


def _quota_changes(storage: BlockStorage, body: dict[str, Any]) -> dict[str, int]:
    limits = {key: value for key, value in body.items() if key not in ("tenant_id", "id", "force")}
    names = storage.quotas.names()
    if unknown := sorted(set(limits) - set(names)):
        raise bad_request(f"Invalid input received: Bad key(s) in quota set: {', '.join(unknown)}")
    for name, value in limits.items():
        if as_integer(value) is None:
            raise bad_request(f"{name} must be an integer")
    check_fields(limits, dict.fromkeys(names, fields.integer(-1, 2**31 - 1)), where="quota_set")
    return {key: int(value) for key, value in limits.items()}


def update_quota(storage: BlockStorage, request: Request) -> Response:
    request.context.require()
    project = request.vars["target_id"]
    storage.quotas.set_limits(project, _quota_changes(storage, request.object("quota_set")))
    return Response({"quota_set": storage.quotas.limits_of(project)})


def delete_quota(storage: BlockStorage, request: Request) -> Response:
    request.context.require()
    storage.quotas.reset_limits(request.vars["target_id"])
    return Response(status=200)


def show_quota_class(storage: BlockStorage, request: Request) -> Response:
    request.context.require()
    return Response({"quota_class_set": {"id": request.vars["class_name"], **storage.quotas.default_limits()}})


def update_quota_class(storage: BlockStorage, request: Request) -> Response:
    request.context.require()
    if request.vars["class_name"] != "default":
        raise not_found(f"Quota class {request.vars['class_name']} could not be found.")
    body = {key: value for key, value in request.object("quota_class_set").items() if key != "class_name"}
    storage.quotas.set_limits("default", _quota_changes(storage, body))
    return Response({"quota_class_set": storage.quotas.default_limits()})


def availability_zones(storage: BlockStorage, request: Request) -> Response:
    return Response({"availabilityZoneInfo": [{"zoneName": ZONE, "zoneState": {"available": True}}]})
