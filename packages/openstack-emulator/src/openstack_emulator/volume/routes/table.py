"""All routes of the block-storage service, in the order of their paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.core.cloud import Handler
from openstack_emulator.core.guards import admin, since
from openstack_emulator.core.http import Request, Response
from openstack_emulator.volume.routes import (
    administration,
    attachments,
    backend,
    backups,
    group_snapshots,
    group_types,
    groups,
    managed,
    messages,
    qos,
    snapshots,
    transfers,
    types,
    volume_actions,
    volumes,
)
from openstack_emulator.volume.rules.composition import BlockStorage

Routes = Mapping[str, Mapping[str, Callable[[BlockStorage, Request], Response]]]

ROUTES: Routes = {
    "/attachments": {"GET": since((3, 27), attachments.index), "POST": since((3, 27), attachments.create)},
    "/attachments/detail": {"GET": since((3, 27), attachments.detail)},
    "/attachments/{attachment_id}": {
        "GET": since((3, 27), attachments.show),
        "PUT": since((3, 27), attachments.update),
        "DELETE": since((3, 27), attachments.delete),
    },
    "/attachments/{attachment_id}/action": {"POST": since((3, 44), attachments.act_on)},
    "/backups": {"GET": backups.index, "POST": backups.create},
    "/backups/detail": {"GET": backups.detail},
    "/backups/import_record": {"POST": backups.import_record},
    "/backups/{backup_id}": {"GET": backups.show, "PUT": backups.update, "DELETE": backups.delete},
    "/backups/{backup_id}/action": {"POST": backups.act_on},
    "/backups/{backup_id}/export_record": {"GET": backups.export_record},
    "/backups/{backup_id}/restore": {"POST": backups.restore},
    "/capabilities/{host}": {"GET": admin(backend.capabilities)},
    "/extensions": {"GET": administration.EXTENSIONS.index},
    "/extensions/{alias}": {"GET": administration.EXTENSIONS.show},
    "/group_snapshots": {"GET": since((3, 14), group_snapshots.index), "POST": since((3, 14), group_snapshots.create)},
    "/group_snapshots/detail": {"GET": since((3, 14), group_snapshots.detail)},
    "/group_snapshots/{group_snapshot_id}": {
        "GET": since((3, 14), group_snapshots.show),
        "DELETE": since((3, 14), group_snapshots.delete),
    },
    "/group_snapshots/{group_snapshot_id}/action": {"POST": since((3, 19), group_snapshots.act_on)},
    "/group_types": {"GET": since((3, 11), group_types.index), "POST": since((3, 11), admin(group_types.create))},
    "/group_types/default": {"GET": since((3, 11), group_types.default)},
    "/group_types/{type_id}": {
        "GET": since((3, 11), group_types.show),
        "PUT": since((3, 11), admin(group_types.update)),
        "DELETE": since((3, 11), admin(group_types.delete)),
    },
    "/group_types/{type_id}/group_specs": {
        "GET": since((3, 11), admin(group_types.list_specs)),
        "POST": since((3, 11), admin(group_types.add_specs)),
    },
    "/group_types/{type_id}/group_specs/{key}": {
        "GET": since((3, 11), admin(group_types.show_spec)),
        "PUT": since((3, 11), admin(group_types.update_spec)),
        "DELETE": since((3, 11), admin(group_types.delete_spec)),
    },
    "/groups": {"GET": since((3, 13), groups.index), "POST": since((3, 13), groups.create)},
    "/groups/action": {"POST": since((3, 14), groups.create_from)},
    "/groups/detail": {"GET": since((3, 13), groups.detail)},
    "/groups/{group_id}": {"GET": since((3, 13), groups.show), "PUT": since((3, 13), groups.update)},
    "/groups/{group_id}/action": {"POST": since((3, 13), groups.act_on)},
    "/limits": {"GET": administration.limits},
    "/manageable_snapshots": {
        "GET": since((3, 8), admin(managed.list_snapshots)),
        "POST": since((3, 8), admin(managed.manage_snapshot)),
    },
    "/manageable_snapshots/detail": {"GET": admin(since((3, 8), managed.list_snapshots_detail))},
    "/manageable_volumes": {
        "GET": since((3, 8), admin(managed.list_volumes)),
        "POST": since((3, 8), admin(managed.manage_volume)),
    },
    "/manageable_volumes/detail": {"GET": admin(since((3, 8), managed.list_volumes_detail))},
    "/messages": {"GET": since((3, 3), messages.index)},
    "/messages/{message_id}": {"GET": since((3, 3), messages.show), "DELETE": since((3, 3), messages.delete)},
    "/os-availability-zone": {"GET": administration.availability_zones},
    "/os-hosts": {"GET": admin(backend.hosts)},
    "/os-hosts/{host}": {"GET": admin(backend.host)},
    "/os-quota-class-sets/{class_name}": {
        "GET": administration.show_quota_class,
        "PUT": administration.update_quota_class,
    },
    "/os-quota-sets/{target_id}": {
        "GET": administration.show_quota,
        "PUT": administration.update_quota,
        "DELETE": administration.delete_quota,
    },
    "/os-quota-sets/{target_id}/defaults": {"GET": administration.default_quota},
    "/os-services": {"GET": admin(backend.services)},
    "/os-services/{change}": {"PUT": admin(backend.change_service)},
    "/os-snapshot-manage": {
        "GET": admin(since((3, 8), managed.list_snapshots)),
        "POST": admin(managed.manage_snapshot),
    },
    "/os-snapshot-manage/detail": {"GET": admin(since((3, 8), managed.list_snapshots_detail))},
    "/os-volume-manage": {"GET": admin(since((3, 8), managed.list_volumes)), "POST": admin(managed.manage_volume)},
    "/os-volume-manage/detail": {"GET": admin(since((3, 8), managed.list_volumes_detail))},
    "/os-volume-transfer": {"GET": transfers.index, "POST": transfers.create},
    "/os-volume-transfer/detail": {"GET": transfers.detail},
    "/os-volume-transfer/{transfer_id}": {"GET": transfers.show, "DELETE": transfers.delete},
    "/os-volume-transfer/{transfer_id}/accept": {"POST": transfers.accept},
    "/qos-specs": {"GET": qos.index, "POST": qos.create},
    "/qos-specs/{qos_id}": {"GET": qos.show, "PUT": qos.update, "DELETE": qos.delete},
    "/qos-specs/{qos_id}/associate": {"GET": qos.associate},
    "/qos-specs/{qos_id}/associations": {"GET": qos.list_associations},
    "/qos-specs/{qos_id}/delete_keys": {"PUT": qos.delete_keys},
    "/qos-specs/{qos_id}/disassociate": {"GET": qos.disassociate},
    "/qos-specs/{qos_id}/disassociate_all": {"GET": qos.disassociate_all},
    "/scheduler-stats/get_pools": {"GET": admin(backend.pools)},
    "/snapshots": {"GET": snapshots.index, "POST": snapshots.create},
    "/snapshots/detail": {"GET": snapshots.detail},
    "/snapshots/{snapshot_id}": {"GET": snapshots.show, "PUT": snapshots.update, "DELETE": snapshots.delete},
    "/snapshots/{snapshot_id}/action": {"POST": snapshots.act_on},
    "/snapshots/{snapshot_id}/metadata": {
        "GET": snapshots.SNAPSHOT_METADATA.show,
        "POST": snapshots.SNAPSHOT_METADATA.merge,
        "PUT": snapshots.SNAPSHOT_METADATA.replace,
    },
    "/snapshots/{snapshot_id}/metadata/{key}": {
        "GET": snapshots.SNAPSHOT_METADATA.show_item,
        "PUT": snapshots.SNAPSHOT_METADATA.set_item,
        "DELETE": snapshots.SNAPSHOT_METADATA.delete_item,
    },
    "/types": {"GET": types.index, "POST": types.create},
    "/types/default": {"GET": types.default},
    "/types/{type_id}": {"GET": types.show, "PUT": types.update, "DELETE": types.delete},
    "/types/{type_id}/action": {"POST": types.type_action},
    "/types/{type_id}/encryption": {"GET": types.show_encryption, "POST": types.create_encryption},
    "/types/{type_id}/encryption/{encryption_id}": {
        "GET": types.show_encryption_item,
        "PUT": types.update_encryption,
        "DELETE": types.delete_encryption,
    },
    "/types/{type_id}/extra_specs": {"GET": types.list_specs, "POST": types.add_specs},
    "/types/{type_id}/extra_specs/{key}": {
        "GET": types.show_spec,
        "PUT": types.update_spec,
        "DELETE": types.delete_spec,
    },
    "/types/{type_id}/os-volume-type-access": {"GET": types.list_access},
    "/volume-transfers": {"GET": transfers.index, "POST": transfers.create},
    "/volume-transfers/detail": {"GET": transfers.detail},
    "/volume-transfers/{transfer_id}": {"GET": transfers.show, "DELETE": transfers.delete},
    "/volume-transfers/{transfer_id}/accept": {"POST": transfers.accept},
    "/volumes": {"GET": volumes.index, "POST": volumes.create},
    "/volumes/detail": {"GET": volumes.detail},
    "/volumes/summary": {"GET": volumes.summary},
    "/volumes/{volume_id}": {"GET": volumes.show, "PUT": volumes.update, "DELETE": volumes.delete},
    "/volumes/{volume_id}/action": {"POST": volume_actions.act_on},
    "/volumes/{volume_id}/encryption": {"GET": volumes.show_encryption},
    "/volumes/{volume_id}/metadata": {
        "GET": volumes.VOLUME_METADATA.show,
        "POST": volumes.VOLUME_METADATA.merge,
        "PUT": volumes.VOLUME_METADATA.replace,
    },
    "/volumes/{volume_id}/metadata/{key}": {
        "GET": volumes.VOLUME_METADATA.show_item,
        "PUT": volumes.VOLUME_METADATA.set_item,
        "DELETE": volumes.VOLUME_METADATA.delete_item,
    },
}
ROOT: Mapping[str, Mapping[str, Handler]] = {
    "/": {"GET": administration.versions},
    "/v3": {"GET": administration.version},
    "/v3/": {"GET": administration.version},
    "/v3/{project_id}": {"GET": administration.version},
}
"""What is directly below the mount: the versions."""
