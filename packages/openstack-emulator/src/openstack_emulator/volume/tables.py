"""What the parts of the block-storage service share: the back end's name, times, messages.

The records, by collection:

volumes: `{id, name, description, status, size, project_id, user_id, volume_type_id, availability_zone, created_at,
updated_at, snapshot_id, source_volid, bootable, encrypted, multiattach, metadata, image_metadata, migration_status,
group_id, _previous, _request_id}`; `_previous` is the status to return to.
attachments: `{id, volume_id, project_id, instance, status, attach_mode, device, host_name, connector, attached_at}`.
snapshots: `{id, name, description, status, size, volume_id, volume_type_id, project_id, user_id, metadata, progress,
group_snapshot_id}`.
backups: `{id, name, description, status, size, volume_id, snapshot_id, parent_id, project_id, …}`.
transfers: `{id, name, volume_id, project_id, created_at, _auth_key, …}`.
types: `{id, name, description, is_public, extra_specs, qos_specs_id, _projects, _encryption}`.
qos_specs: `{id, name, consumer, specs}`.
group_types: `{id, name, description, is_public, group_specs}`.
groups: `{id, name, description, status, project_id, user_id, group_type, volume_types, availability_zone,
group_snapshot_id, source_group_id, created_at}`.
group_snapshots: `{id, name, description, status, project_id, user_id, group_id, group_type_id, created_at}`.
messages: see `messages.Messages`.
unmanaged: what exists on the back end and is unknown to Cinder, see `managed.BackendObjects`.
quotas: limits by project id, and the default ones under the id `default`.
services: `{id, binary, host, zone, disabled, disabled_reason, frozen}`.
"""

from __future__ import annotations

HOST = "devstack"
BACKEND = "lvmdriver-1"
BACKEND_HOST = f"{HOST}@{BACKEND}"
POOL = f"{BACKEND_HOST}#{BACKEND}"
ZONE = "nova"

SHORT = 0.05
LONG = 0.15
COPY = 0.2
"""Until it is looked again whether a content has been copied."""

MISSING = {
    "volumes": "Volume {} could not be found.",
    "attachments": "Volume attachment could not be found with filter: attachment_id = {}.",
    "snapshots": "Snapshot {} could not be found.",
    "backups": "Backup {} could not be found.",
    "transfers": "Transfer {} could not be found.",
    "types": "Volume type {} could not be found.",
    "qos_specs": "No such QoS spec {}.",
    "group_types": "Group type {} could not be found.",
    "groups": "Group {} could not be found.",
    "group_snapshots": "GroupSnapshot {} could not be found.",
    "messages": "Message {} could not be found.",
}
