"""All routes of the shared file systems service, in the order of their paths."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from openstack_emulator.core.cloud import Handler
from openstack_emulator.core.guards import admin, since
from openstack_emulator.core.http import Request, Response
from openstack_emulator.share.routes import (
    access,
    administration,
    backend,
    instances,
    messages,
    networks,
    security_services,
    share_actions,
    shares,
    snapshots,
    types,
)
from openstack_emulator.share.rules.composition import SharedFileSystems

Routes = Mapping[str, Mapping[str, Callable[[SharedFileSystems, Request], Response]]]

ROUTES: Routes = {
    "/availability-zones": {"GET": administration.availability_zones},
    "/extensions": {"GET": administration.EXTENSIONS.index},
    "/extensions/{alias}": {"GET": administration.EXTENSIONS.show},
    "/limits": {"GET": administration.limits},
    "/messages": {"GET": since((2, 37), messages.index)},
    "/messages/{message_id}": {"GET": since((2, 37), messages.show), "DELETE": since((2, 37), messages.delete)},
    "/quota-class-sets/{class_name}": {
        "GET": admin(administration.show_quota_class),
        "PUT": admin(administration.update_quota_class),
    },
    "/quota-sets/{target_id}": {
        "GET": administration.show_quota,
        "PUT": admin(administration.update_quota),
        "DELETE": admin(administration.delete_quota),
    },
    "/quota-sets/{target_id}/defaults": {"GET": administration.default_quota},
    "/quota-sets/{target_id}/detail": {"GET": since((2, 25), administration.show_quota_detail)},
    "/scheduler-stats/pools": {"GET": admin(backend.pools)},
    "/scheduler-stats/pools/detail": {"GET": admin(backend.pools_in_detail)},
    "/security-services": {"GET": security_services.index, "POST": security_services.create},
    "/security-services/detail": {"GET": security_services.detail},
    "/security-services/{service_id}": {
        "GET": security_services.show,
        "PUT": security_services.update,
        "DELETE": security_services.delete,
    },
    "/services": {"GET": admin(backend.services)},
    "/share-access-rules": {"GET": since((2, 45), access.index)},
    "/share-access-rules/{access_id}": {"GET": since((2, 45), access.show)},
    "/share-access-rules/{access_id}/metadata": {"PUT": since((2, 45), access.set_metadata)},
    "/share-access-rules/{access_id}/metadata/{key}": {"DELETE": since((2, 45), access.delete_metadata)},
    "/share-networks": {"GET": networks.index, "POST": networks.create},
    "/share-networks/detail": {"GET": networks.detail},
    "/share-networks/{network_id}": {"GET": networks.show, "PUT": networks.update, "DELETE": networks.delete},
    "/share-networks/{network_id}/action": {"POST": networks.act_on},
    "/share-networks/{network_id}/subnets": {
        "GET": since((2, 51), networks.list_subnets),
        "POST": since((2, 51), networks.create_subnet),
    },
    "/share-networks/{network_id}/subnets/{subnet_id}": {
        "GET": since((2, 51), networks.show_subnet),
        "DELETE": since((2, 51), networks.delete_subnet),
    },
    "/share-networks/{network_id}/subnets/{subnet_id}/metadata": {
        "GET": networks.SUBNET_METADATA.show,
        "POST": networks.SUBNET_METADATA.merge,
        "PUT": networks.SUBNET_METADATA.replace,
    },
    "/share-networks/{network_id}/subnets/{subnet_id}/metadata/{key}": {
        "GET": networks.SUBNET_METADATA.show_item,
        "PUT": networks.SUBNET_METADATA.set_item,
        "DELETE": networks.SUBNET_METADATA.delete_item,
    },
    "/share-replicas": {"GET": since((2, 11), shares.list_replicas)},
    "/share-replicas/detail": {"GET": since((2, 11), shares.list_replicas)},
    "/share_instances": {"GET": admin(instances.index)},
    "/share_instances/{instance_id}": {"GET": admin(instances.show)},
    "/share_instances/{instance_id}/action": {"POST": admin(instances.act_on)},
    "/share_instances/{instance_id}/export_locations": {"GET": admin(since((2, 9), instances.list_exports))},
    "/share_instances/{instance_id}/export_locations/{export_id}": {
        "GET": admin(since((2, 9), instances.show_export)),
    },
    "/shares": {"GET": shares.index, "POST": shares.create},
    "/shares/detail": {"GET": shares.detail},
    "/shares/manage": {"POST": admin(shares.manage)},
    "/shares/{share_id}": {"GET": shares.show, "PUT": shares.update, "DELETE": shares.delete},
    "/shares/{share_id}/action": {"POST": share_actions.act_on},
    "/shares/{share_id}/export_locations": {"GET": since((2, 9), shares.list_exports)},
    "/shares/{share_id}/export_locations/{export_id}": {"GET": since((2, 9), shares.show_export)},
    "/shares/{share_id}/instances": {"GET": admin(instances.of_share)},
    "/shares/{share_id}/metadata": {
        "GET": shares.SHARE_METADATA.show,
        "POST": shares.SHARE_METADATA.merge,
        "PUT": shares.SHARE_METADATA.replace,
    },
    "/shares/{share_id}/metadata/{key}": {
        "GET": shares.SHARE_METADATA.show_item,
        "PUT": shares.SHARE_METADATA.set_item,
        "DELETE": shares.SHARE_METADATA.delete_item,
    },
    "/snapshot-instances": {"GET": admin(since((2, 19), instances.list_snapshots))},
    "/snapshot-instances/detail": {"GET": admin(since((2, 19), instances.list_snapshots_in_detail))},
    "/snapshot-instances/{instance_id}": {"GET": admin(since((2, 19), instances.show_snapshot))},
    "/snapshot-instances/{instance_id}/action": {"POST": admin(since((2, 19), instances.act_on_snapshot))},
    "/snapshots": {"GET": snapshots.index, "POST": snapshots.create},
    "/snapshots/detail": {"GET": snapshots.detail},
    "/snapshots/{snapshot_id}": {"GET": snapshots.show, "PUT": snapshots.update, "DELETE": snapshots.delete},
    "/snapshots/{snapshot_id}/action": {"POST": snapshots.act_on},
    "/snapshots/{snapshot_id}/export-locations": {"GET": since((2, 32), snapshots.list_exports)},
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
    "/types": {"GET": types.index, "POST": admin(types.create)},
    "/types/default": {"GET": types.default},
    "/types/{type_id}": {
        "GET": types.show,
        "PUT": admin(since((2, 50), types.update)),
        "DELETE": admin(types.delete),
    },
    "/types/{type_id}/action": {"POST": admin(types.act_on)},
    "/types/{type_id}/extra_specs": {"GET": admin(types.list_specs), "POST": admin(types.add_specs)},
    "/types/{type_id}/extra_specs/{key}": {
        "GET": admin(types.show_spec),
        "PUT": admin(types.set_spec),
        "DELETE": admin(types.delete_spec),
    },
    "/types/{type_id}/share_type_access": {"GET": admin(types.list_access)},
}
ROOT: Mapping[str, Mapping[str, Handler]] = {
    "/": {"GET": administration.versions},
    "/v2": {"GET": administration.version},
    "/v2/": {"GET": administration.version},
}
"""What is directly below the mount: the versions."""
