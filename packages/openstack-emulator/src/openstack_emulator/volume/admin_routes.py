"""Quotas, limits, zones, extensions and versions over HTTP."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import bad_request, forbidden, not_found
from openstack_emulator.core.extensions import extension_routes
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.versions import DESCRIBED, ApiVersion, all_versions, media_type, own
from openstack_emulator.volume.quotas import Quotas
from openstack_emulator.volume.views import zones

UPDATED = "2023-08-31T00:00:00Z"
EXTENSIONS = {
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


EXTENSION_ROUTES = extension_routes(EXTENSIONS, updated=UPDATED)


def limits(quotas: Quotas, request: Request) -> Response:
    project = request.context.project
    if request.context.is_admin:
        project = request.query.get("project_id") or request.query.get("tenant_id") or project
    allowed, used = quotas.limits_of(project), quotas.used_by(project)
    absolute = {
        "maxTotalVolumes": allowed["volumes"],
        "maxTotalVolumeGigabytes": allowed["gigabytes"],
        "maxTotalSnapshots": allowed["snapshots"],
        "maxTotalBackups": allowed["backups"],
        "maxTotalBackupGigabytes": allowed["backup_gigabytes"],
        "totalVolumesUsed": used["volumes"],
        "totalGigabytesUsed": used["gigabytes"],
        "totalSnapshotsUsed": used["snapshots"],
        "totalBackupsUsed": used["backups"],
        "totalBackupGigabytesUsed": used["backup_gigabytes"],
    }
    return Response({"limits": {"rate": [], "absolute": absolute}})


def _quota_project(request: Request) -> str:
    project = request.vars["target_id"]
    if not request.context.is_admin and project != request.context.project_id:
        raise forbidden("Policy doesn't allow volume_extension:quotas:show to be performed.")
    return project


def show_quota(quotas: Quotas, request: Request) -> Response:
    project = _quota_project(request)
    limits_: dict[str, Any] = dict(quotas.limits_of(project))
    if request.query.boolean("usage"):
        used = quotas.used_by(project)
        limits_ = {name: {"limit": limit, "in_use": used[name], "reserved": 0} for name, limit in limits_.items()}
    return Response({"quota_set": {"id": project, **limits_}})


def default_quota(quotas: Quotas, request: Request) -> Response:
    project = _quota_project(request)
    return Response({"quota_set": {"id": project, **quotas.default_limits()}})


def _quota_changes(quotas: Quotas, wanted: dict[str, Any]) -> dict[str, int]:
    given = {key: value for key, value in wanted.items() if key not in ("tenant_id", "id", "force")}
    names = quotas.names()
    if unknown := sorted(set(given) - set(names)):
        raise bad_request(f"Invalid input received: Bad key(s) in quota set: {', '.join(unknown)}")
    for name, value in given.items():
        if fields.as_integer(value) is None:
            raise bad_request(f"{name} must be an integer")
    fields.check_fields(given, dict.fromkeys(names, fields.integer(-1, 2**31 - 1)), where="quota_set")
    return {key: int(value) for key, value in given.items()}


def update_quota(quotas: Quotas, request: Request) -> Response:
    request.context.require()
    project = request.vars["target_id"]
    quotas.set_limits(project, _quota_changes(quotas, request.object("quota_set")))
    return Response({"quota_set": quotas.limits_of(project)})


def delete_quota(quotas: Quotas, request: Request) -> Response:
    request.context.require()
    quotas.reset_limits(request.vars["target_id"])
    return Response(status=200)


def show_quota_class(quotas: Quotas, request: Request) -> Response:
    request.context.require()
    return Response({"quota_class_set": {"id": request.vars["class_name"], **quotas.default_limits()}})


def update_quota_class(quotas: Quotas, request: Request) -> Response:
    request.context.require()
    if request.vars["class_name"] != "default":
        raise not_found(f"Quota class {request.vars['class_name']} could not be found.")
    wanted = {key: value for key, value in request.object("quota_class_set").items() if key != "class_name"}
    quotas.set_limits("default", _quota_changes(quotas, wanted))
    return Response({"quota_class_set": quotas.default_limits()})


def availability_zones(records: Records, request: Request) -> Response:
    return Response({"availabilityZoneInfo": zones()})
