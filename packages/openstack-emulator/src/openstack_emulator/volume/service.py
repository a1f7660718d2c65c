"""The block-storage service."""

from __future__ import annotations

from openstack_emulator.core.cloud import READERS, Microversions, Service
from openstack_emulator.core.errors import fault_body
from openstack_emulator.core.http import BodyMessages
from openstack_emulator.volume.routes.table import ROOT, ROUTES
from openstack_emulator.volume.rules.composition import BlockStorage

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
    records=BlockStorage,
    endpoints={
        "volumev3": "/volume/v3/%(project_id)s",
        "block-storage": "/volume/v3/%(project_id)s",
    },
    prefixes=("/v3", "/v3/{project_id}"),
    routes=ROUTES,
    root=ROOT,
    public=frozenset({"GET /", "GET /v3", "GET /v3/"}),
    exact_paths=True,
    error_body=fault_body,
    microversions=Microversions("volume", (3, 0), (3, 71), default=(3, 0)),
    request_id_header="x-compute-request-id",
    body_messages=BodyMessages(not_json="Malformed request body", no_object="'{key}' is a required property"),
    rules=POLICY_RULES,
    refusal="Policy doesn't allow {rule} to be performed.",
    readers=READERS,
    writers=frozenset({"member"}),
)
