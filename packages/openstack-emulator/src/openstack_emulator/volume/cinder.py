"""The block-storage service: its table of routes."""

from __future__ import annotations

from openstack_emulator.core.cloud import READERS, Microversions, Routes, Service
from openstack_emulator.core.component import merged, using
from openstack_emulator.core.errors import fault_body
from openstack_emulator.core.http import Phrases
from openstack_emulator.volume import (
    action_routes,
    admin_routes,
    attachment_routes,
    backend_routes,
    group_routes,
    manage_routes,
    message_routes,
    snapshot_routes,
    type_routes,
    volume_routes,
)
from openstack_emulator.volume.attachments import Attachments
from openstack_emulator.volume.backups import Backups
from openstack_emulator.volume.qos import QosSpecs
from openstack_emulator.volume.quotas import Quotas
from openstack_emulator.volume.records import VolumeRecords
from openstack_emulator.volume.snapshots import Snapshots
from openstack_emulator.volume.transfers import Transfers
from openstack_emulator.volume.types import VolumeTypes
from openstack_emulator.volume.views import VolumeViews
from openstack_emulator.volume.volumes import Volumes


def transfer_routes(path: str) -> Routes:
    """The routes of transfers, which are the same below their old and their new path."""
    return using(
        Transfers,
        {
            path: {"GET": volume_routes.list_transfers, "POST": volume_routes.create_transfer},
            f"{path}/detail": {"GET": volume_routes.list_transfers_detail},
            f"{path}/{{transfer_id}}": {"GET": volume_routes.show_transfer, "DELETE": volume_routes.delete_transfer},
            f"{path}/{{transfer_id}}/accept": {"POST": volume_routes.accept_transfer},
        },
    )


ROUTES = merged(
    {
        "/volumes/{volume_id}/action": {"POST": action_routes.volume_action},
        "/attachments/{attachment_id}/action": {"POST": action_routes.attachment_action},
        "/snapshots/{snapshot_id}/action": {"POST": action_routes.snapshot_action},
        "/backups/{backup_id}/action": {"POST": action_routes.backup_action},
        "/os-availability-zone": {"GET": admin_routes.availability_zones},
    },
    admin_routes.EXTENSION_ROUTES,
    volume_routes.VOLUME_METADATA.routes("/volumes/{volume_id}"),
    snapshot_routes.SNAPSHOT_METADATA.routes("/snapshots/{snapshot_id}"),
    using(
        Volumes,
        {
            "/volumes": {"GET": volume_routes.index},
            "/volumes/summary": {"GET": volume_routes.summary},
            "/volumes/{volume_id}": {"DELETE": volume_routes.delete},
            "/volumes/{volume_id}/encryption": {"GET": volume_routes.show_encryption},
        },
    ),
    using(
        VolumeViews,
        {
            "/volumes": {"POST": volume_routes.create},
            "/volumes/detail": {"GET": volume_routes.detail},
            "/volumes/{volume_id}": {"GET": volume_routes.show, "PUT": volume_routes.update},
        },
    ),
    using(
        Attachments,
        {
            "/attachments": {"GET": attachment_routes.index, "POST": attachment_routes.create},
            "/attachments/detail": {"GET": attachment_routes.detail},
            "/attachments/{attachment_id}": {
                "GET": attachment_routes.show,
                "PUT": attachment_routes.update,
                "DELETE": attachment_routes.delete,
            },
        },
    ),
    using(
        Snapshots,
        {
            "/snapshots": {"GET": snapshot_routes.list_snapshots, "POST": snapshot_routes.create_snapshot},
            "/snapshots/detail": {"GET": snapshot_routes.list_snapshots_detail},
            "/snapshots/{snapshot_id}": {
                "GET": snapshot_routes.show_snapshot,
                "PUT": snapshot_routes.update_snapshot,
                "DELETE": snapshot_routes.delete_snapshot,
            },
        },
    ),
    using(
        Backups,
        {
            "/backups": {"GET": snapshot_routes.list_backups, "POST": snapshot_routes.create_backup},
            "/backups/detail": {"GET": snapshot_routes.list_backups_detail},
            "/backups/import_record": {"POST": snapshot_routes.import_backup},
            "/backups/{backup_id}": {
                "GET": snapshot_routes.show_backup,
                "PUT": snapshot_routes.update_backup,
                "DELETE": snapshot_routes.delete_backup,
            },
            "/backups/{backup_id}/restore": {"POST": snapshot_routes.restore_backup},
            "/backups/{backup_id}/export_record": {"GET": snapshot_routes.export_backup},
        },
    ),
    using(
        VolumeTypes,
        {
            "/types": {"GET": type_routes.index, "POST": type_routes.create},
            "/types/default": {"GET": type_routes.default},
            "/types/{type_id}": {"GET": type_routes.show, "PUT": type_routes.update, "DELETE": type_routes.delete},
            "/types/{type_id}/action": {"POST": type_routes.type_action},
            "/types/{type_id}/extra_specs": {"GET": type_routes.list_specs, "POST": type_routes.add_specs},
            "/types/{type_id}/extra_specs/{key}": {
                "GET": type_routes.show_spec,
                "PUT": type_routes.update_spec,
                "DELETE": type_routes.delete_spec,
            },
            "/types/{type_id}/os-volume-type-access": {"GET": type_routes.list_access},
            "/types/{type_id}/encryption": {"GET": type_routes.show_encryption, "POST": type_routes.create_encryption},
            "/types/{type_id}/encryption/{encryption_id}": {
                "GET": type_routes.show_encryption_item,
                "PUT": type_routes.update_encryption,
                "DELETE": type_routes.delete_encryption,
            },
        },
    ),
    using(
        QosSpecs,
        {
            "/qos-specs": {"GET": type_routes.list_qos, "POST": type_routes.create_qos},
            "/qos-specs/{qos_id}": {
                "GET": type_routes.show_qos,
                "PUT": type_routes.update_qos,
                "DELETE": type_routes.delete_qos,
            },
            "/qos-specs/{qos_id}/delete_keys": {"PUT": type_routes.delete_qos_keys},
            "/qos-specs/{qos_id}/associate": {"GET": type_routes.associate_qos},
            "/qos-specs/{qos_id}/disassociate": {"GET": type_routes.disassociate_qos},
            "/qos-specs/{qos_id}/disassociate_all": {"GET": type_routes.disassociate_all},
            "/qos-specs/{qos_id}/associations": {"GET": type_routes.list_associations},
        },
    ),
    using(
        Quotas,
        {
            "/limits": {"GET": admin_routes.limits},
            "/os-quota-sets/{target_id}": {
                "GET": admin_routes.show_quota,
                "PUT": admin_routes.update_quota,
                "DELETE": admin_routes.delete_quota,
            },
            "/os-quota-sets/{target_id}/defaults": {"GET": admin_routes.default_quota},
            "/os-quota-class-sets/{class_name}": {
                "GET": admin_routes.show_quota_class,
                "PUT": admin_routes.update_quota_class,
            },
        },
    ),
    transfer_routes("/os-volume-transfer"),
    transfer_routes("/volume-transfers"),
    backend_routes.ROUTES,
    group_routes.ROUTES,
    manage_routes.ROUTES,
    message_routes.ROUTES,
)

POLICY_RULES = {
    "DELETE /backups/{backup_id}": "backup:delete",
    "DELETE /qos-specs/{qos_id}": "volume_extension:qos_specs_manage:delete",
    "DELETE /snapshots/{snapshot_id}": "volume:delete_snapshot",
    "DELETE /types/{type_id}": "volume_extension:type_delete",
    "DELETE /volumes/{volume_id}": "volume:delete",
    "GET /backups": "backup:get_all",
    "GET /backups/detail": "backup:get_all",
    "GET /group_snapshots": "group:get_all_group_snapshots",
    "GET /group_snapshots/detail": "group:get_all_group_snapshots",
    "GET /groups": "group:get_all",
    "GET /groups/detail": "group:get_all",
    "GET /messages": "message:get_all",
    "GET /os-services": "volume_extension:services:index",
    "GET /os-volume-transfer": "volume:get_all_transfers",
    "GET /os-volume-transfer/detail": "volume:get_all_transfers",
    "GET /qos-specs": "volume_extension:qos_specs_manage:get_all",
    "GET /scheduler-stats/get_pools": "scheduler_extension:scheduler_stats:get_pools",
    "GET /snapshots": "volume:get_all_snapshots",
    "GET /snapshots/detail": "volume:get_all_snapshots",
    "GET /types": "volume_extension:type_get_all",
    "GET /types/default": "volume_extension:type_get",
    "GET /volume-transfers": "volume:get_all_transfers",
    "GET /volume-transfers/detail": "volume:get_all_transfers",
    "GET /volumes": "volume:get_all",
    "GET /volumes/detail": "volume:get_all",
    "GET /volumes/summary": "volume:get_all",
    "POST /backups": "backup:create",
    "POST /qos-specs": "volume_extension:qos_specs_manage:create",
    "POST /snapshots": "volume:create_snapshot",
    "POST /types": "volume_extension:type_create",
    "POST /volumes": "volume:create",
    "PUT /os-quota-sets/{target_id}": "volume_extension:quotas:update",
    "PUT /types/{type_id}": "volume_extension:type_update",
    "PUT /volumes/{volume_id}": "volume:update",
}
"""Route → name of the policy rule, as Cinder's errors have it."""

VOLUME = Service(
    name="cinder",
    mount="/volume",
    records=VolumeRecords,
    endpoints={
        "volumev3": "/volume/v3/%(project_id)s",
        "block-storage": "/volume/v3/%(project_id)s",
    },
    prefixes=("/v3", "/v3/{project_id}"),
    routes=ROUTES,
    root={
        "/": {"GET": admin_routes.versions},
        "/v3": {"GET": admin_routes.version},
        "/v3/": {"GET": admin_routes.version},
        "/v3/{project_id}": {"GET": admin_routes.version},
    },
    public=frozenset({"GET /", "GET /v3", "GET /v3/"}),
    exact_paths=True,
    error_body=fault_body,
    microversions=Microversions("volume", (3, 0), (3, 71), default=(3, 0)),
    request_id_header="x-compute-request-id",
    phrases=Phrases(not_json="Malformed request body", no_object="'{key}' is a required property"),
    rules=POLICY_RULES,
    refusal="Policy doesn't allow {rule} to be performed.",
    readers=READERS,
    writers=frozenset({"member"}),
)
