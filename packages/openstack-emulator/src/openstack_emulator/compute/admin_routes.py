"""Versions, extensions, limits and quotas over HTTP."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from openstack_emulator.compute.quotas import DEFAULT_LIMITS, Quotas
from openstack_emulator.compute.versions import MAXIMUM
from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Handler
from openstack_emulator.core.errors import bad_request, forbidden, not_found
from openstack_emulator.core.extensions import Extensions
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.microversions import write
from openstack_emulator.core.versions import DESCRIBED, ApiVersion, all_versions, media_type, one_version, own

UPDATED = "2013-07-23T11:33:21Z"
EXTENSION_NAMES = {
    "OS-DCF": "DiskConfig",
    "OS-EXT-AZ": "ExtendedAvailabilityZone",
    "OS-EXT-IPS": "ExtendedIps",
    "OS-EXT-SRV-ATTR": "ExtendedServerAttributes",
    "OS-EXT-STS": "ExtendedStatus",
    "OS-FLV-DISABLED": "FlavorDisabled",
    "OS-FLV-EXT-DATA": "FlavorExtraData",
    "OS-SCH-HNT": "SchedulerHints",
    "OS-SRV-USG": "ServerUsage",
    "os-admin-actions": "AdminActions",
    "os-admin-password": "AdminPassword",
    "os-aggregates": "Aggregates",
    "os-assisted-volume-snapshots": "AssistedVolumeSnapshots",
    "os-attach-interfaces": "AttachInterfaces",
    "os-availability-zone": "AvailabilityZone",
    "os-block-device-mapping": "BlockDeviceMapping",
    "os-config-drive": "ConfigDrive",
    "os-console-output": "ConsoleOutput",
    "os-consoles": "Consoles",
    "os-create-backup": "CreateBackup",
    "os-deferred-delete": "DeferredDelete",
    "os-evacuate": "Evacuate",
    "os-extended-volumes": "ExtendedVolumes",
    "os-flavor-access": "FlavorAccess",
    "os-flavor-extra-specs": "FlavorExtraSpecs",
    "os-flavor-manage": "FlavorManage",
    "os-floating-ip-pools": "FloatingIpPools",
    "os-floating-ips": "FloatingIps",
    "os-hosts": "Hosts",
    "os-hypervisors": "Hypervisors",
    "os-instance-actions": "InstanceActions",
    "os-instance_usage_audit_log": "OSInstanceUsageAuditLog",
    "os-keypairs": "Keypairs",
    "os-lock-server": "LockServer",
    "os-migrate-server": "MigrateServer",
    "os-migrations": "Migrations",
    "os-multinic": "Multinic",
    "os-networks": "Networks",
    "os-pause-server": "PauseServer",
    "os-quota-class-sets": "QuotaClasses",
    "os-quota-sets": "Quotas",
    "os-remote-consoles": "Consoles",
    "os-rescue": "Rescue",
    "os-security-groups": "SecurityGroups",
    "os-server-diagnostics": "ServerDiagnostics",
    "os-server-external-events": "ServerExternalEvents",
    "os-server-groups": "ServerGroups",
    "os-services": "Services",
    "os-shelve": "Shelve",
    "os-simple-tenant-usage": "SimpleTenantUsage",
    "os-suspend-server": "SuspendServer",
    "os-tenant-networks": "OSTenantNetworks",
    "os-user-data": "UserData",
    "os-volumes": "Volumes",
    "flavors": "Flavors",
    "image-metadata": "ImageMetadata",
    "image-size": "ImageSize",
    "images": "Images",
    "ips": "Ips",
    "limits": "Limits",
    "server-metadata": "ServerMetadata",
    "servers": "Servers",
    "versions": "Versions",
}


def _described(version: ApiVersion, number: str) -> Handler:
    """The handler that shows a version with its media type."""
    details = {**version.details, "media-types": [media_type("compute", version=number)]}
    return one_version(replace(version, links=(*version.links, DESCRIBED), details=details))


_OLD = ApiVersion(
    "v2.0",
    (own("/v2/"),),
    "SUPPORTED",
    {"version": "", "min_version": "", "updated": "2011-01-21T11:33:21Z"},
)
"""The API without microversions."""
_VERSION = ApiVersion(
    "v2.1",
    (own("/v2.1/"),),
    details={"version": write(MAXIMUM), "min_version": "2.1", "updated": UPDATED},
)
versions = all_versions(_OLD, _VERSION)
version = _described(_VERSION, "2.1")
old_version = _described(_OLD, "2")


EXTENSIONS = Extensions(
    EXTENSION_NAMES, namespace="http://docs.openstack.org/compute/ext/fake_xml", updated="2014-12-03T00:00:00Z"
)


def limits(quotas: Quotas, request: Request) -> Response:
    project = request.query.get("tenant_id") or request.context.project
    if project != request.context.project_id and not request.context.is_admin:
        raise forbidden("Policy doesn't allow os_compute_api:limits:other_project to be performed.")
    allowed, used = quotas.limits_of(project), quotas.used_by(project)
    absolute = {
        "maxServerMeta": allowed["metadata_items"],
        "maxTotalInstances": allowed["instances"],
        "maxTotalCores": allowed["cores"],
        "maxTotalRAMSize": allowed["ram"],
        "maxTotalKeypairs": allowed["key_pairs"],
        "maxServerGroups": allowed["server_groups"],
        "maxServerGroupMembers": allowed["server_group_members"],
        "totalInstancesUsed": used["instances"],
        "totalCoresUsed": used["cores"],
        "totalRAMUsed": used["ram"],
        "totalServerGroupsUsed": used["server_groups"],
    }
    if request.version < (2, 39):
        absolute["maxImageMeta"] = allowed["metadata_items"]
    if request.version < (2, 36):
        absolute |= {
            "maxSecurityGroups": allowed["security_groups"],
            "maxSecurityGroupRules": allowed["security_group_rules"],
            "maxTotalFloatingIps": allowed["floating_ips"],
            "totalFloatingIpsUsed": 0,
            "totalSecurityGroupsUsed": 0,
        }
    if request.version < (2, 57):
        absolute |= {
            "maxPersonality": allowed["injected_files"],
            "maxPersonalitySize": allowed["injected_file_content_bytes"],
        }
    return Response({"limits": {"rate": [], "absolute": absolute}})


def _quota_names(request: Request) -> list[str]:
    gone: set[str] = set()
    if request.version >= (2, 36):
        gone |= {"fixed_ips", "floating_ips", "security_groups", "security_group_rules"}
    if request.version >= (2, 57):
        gone |= {"injected_files", "injected_file_content_bytes", "injected_file_path_bytes"}
    return [name for name in DEFAULT_LIMITS if name not in gone]


def _quota_project(request: Request) -> str:
    project = request.vars["target_id"]
    if not request.context.is_admin and project != request.context.project_id:
        raise forbidden("Policy doesn't allow os_compute_api:os-quota-sets:show to be performed.")
    return project


def _quota_view(request: Request, limits_: dict[str, int]) -> dict[str, Any]:
    return {name: limits_[name] for name in _quota_names(request)}


def show_quota(quotas: Quotas, request: Request) -> Response:
    project = _quota_project(request)
    return Response({"quota_set": {"id": project, **_quota_view(request, quotas.limits_of(project))}})


def show_quota_detail(quotas: Quotas, request: Request) -> Response:
    project = _quota_project(request)
    used = quotas.used_by(project)
    rows = {
        name: {"limit": limit, "in_use": used[name], "reserved": 0}
        for name, limit in _quota_view(request, quotas.limits_of(project)).items()
    }
    return Response({"quota_set": {"id": project, **rows}})


def default_quota(quotas: Quotas, request: Request) -> Response:
    project = request.vars["target_id"]
    return Response({"quota_set": {"id": project, **_quota_view(request, quotas.default_limits())}})


def _quota_changes(request: Request, wanted: dict[str, Any], ignored: tuple[str, ...]) -> dict[str, int]:
    given = {key: value for key, value in wanted.items() if key not in ignored}
    fields.check_fields(given, dict.fromkeys(_quota_names(request), fields.integer(-1, 2**31 - 1)), where="quota_set")
    return {key: int(value) for key, value in given.items()}


def update_quota(quotas: Quotas, request: Request) -> Response:
    request.context.require()
    project, wanted = request.vars["target_id"], request.object("quota_set")
    changes = _quota_changes(request, wanted, ("tenant_id", "force"))
    used = quotas.used_by(project)
    if not fields.as_boolean(wanted.get("force", False)):
        for name, limit in changes.items():
            if 0 <= limit < used[name]:
                raise bad_request(
                    f"Quota limit {limit} for {name} must be greater than or equal to already used {used[name]}."
                )
    quotas.set_limits(project, changes)
    return Response({"quota_set": _quota_view(request, quotas.limits_of(project))})


def delete_quota(quotas: Quotas, request: Request) -> Response:
    request.context.require()
    quotas.reset_limits(request.vars["target_id"])
    return Response(status=202)


def show_quota_class(quotas: Quotas, request: Request) -> Response:
    request.context.require()
    view = _quota_view(request, quotas.default_limits())
    return Response({"quota_class_set": {"id": request.vars["class_name"], **view}})


def update_quota_class(quotas: Quotas, request: Request) -> Response:
    request.context.require()
    if request.vars["class_name"] != "default":
        raise not_found(f"Quota class {request.vars['class_name']} could not be found.")
    quotas.set_limits("default", _quota_changes(request, request.object("quota_class_set"), ("class_name",)))
    return Response({"quota_class_set": _quota_view(request, quotas.default_limits())})
