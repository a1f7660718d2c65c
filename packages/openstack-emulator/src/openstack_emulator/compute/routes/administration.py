"""Versions and extensions over HTTP."""

from __future__ import annotations

from dataclasses import replace

from openstack_emulator.compute.routes.versions import MAXIMUM
from openstack_emulator.core.cloud import Handler
from openstack_emulator.core.extensions import Extensions
from openstack_emulator.core.microversions import version_text
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
    details={"version": version_text(MAXIMUM), "min_version": "2.1", "updated": UPDATED},
)

versions = all_versions(_OLD, _VERSION)

version = _described(_VERSION, "2.1")

old_version = _described(_OLD, "2")

EXTENSIONS = Extensions(
    EXTENSION_NAMES, namespace="http://docs.openstack.org/compute/ext/fake_xml", updated="2014-12-03T00:00:00Z"
)
