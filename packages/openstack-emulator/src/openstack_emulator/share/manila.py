"""The shared file systems service: its table of routes.

The microversions from 2.7 to 2.78 of its API, without share groups, replicas, share servers, migration and transfers,
whose paths do not exist.
"""

from __future__ import annotations

from openstack_emulator.core import error_bodies
from openstack_emulator.core.cloud import Service
from openstack_emulator.core.component import merged, using
from openstack_emulator.core.guards import admin, restricted, since
from openstack_emulator.core.http import Phrases
from openstack_emulator.share import (
    access_routes,
    action_routes,
    admin_routes,
    backend_routes,
    instance_routes,
    message_routes,
    network_routes,
    share_routes,
    snapshot_routes,
    type_routes,
)
from openstack_emulator.share.access import AccessRules
from openstack_emulator.share.action_routes import SINCE_METADATA
from openstack_emulator.share.admin_routes import MICROVERSIONS
from openstack_emulator.share.managed import BackendShares
from openstack_emulator.share.messages import Messages
from openstack_emulator.share.networks import SecurityServices, ShareNetworks
from openstack_emulator.share.quotas import Quotas
from openstack_emulator.share.records import ShareRecords
from openstack_emulator.share.shares import Shares
from openstack_emulator.share.snapshots import ShareSnapshots
from openstack_emulator.share.types import ShareTypes
from openstack_emulator.share.views import SINCE_SUBNETS

SINCE_EXPORTS = (2, 9)
SINCE_SNAPSHOT_EXPORTS = (2, 32)
SINCE_REPLICAS = (2, 11)
SINCE_INSTANCES = (2, 19)
SINCE_MESSAGES = (2, 37)
SINCE_QUOTA_DETAIL = (2, 25)
SINCE_TYPE_UPDATE = (2, 50)

ROUTES = merged(
    {"/availability-zones": {"GET": admin_routes.availability_zones}},
    {
        "/extensions": {"GET": admin_routes.EXTENSIONS.index},
        "/extensions/{alias}": {"GET": admin_routes.EXTENSIONS.show},
    },
    using(Shares, share_routes.SHARE_METADATA.routes("/shares/{share_id}")),
    using(ShareSnapshots, snapshot_routes.SNAPSHOT_METADATA.routes("/snapshots/{snapshot_id}")),
    using(
        ShareNetworks,
        network_routes.SUBNET_METADATA.routes("/share-networks/{network_id}/subnets/{subnet_id}"),
    ),
    using(BackendShares, {"/shares/manage": {"POST": admin(share_routes.manage)}}),
    using(
        Shares,
        {
            "/shares": {"GET": share_routes.index},
            "/shares/{share_id}": {"DELETE": share_routes.delete},
            "/share-replicas": {"GET": since(SINCE_REPLICAS, share_routes.list_replicas)},
            "/share-replicas/detail": {"GET": since(SINCE_REPLICAS, share_routes.list_replicas)},
            "/shares/{share_id}/action": {"POST": action_routes.share_action},
            "/shares/{share_id}/export_locations": {"GET": since(SINCE_EXPORTS, share_routes.list_exports)},
            "/shares/{share_id}/export_locations/{export_id}": {"GET": since(SINCE_EXPORTS, share_routes.show_export)},
        },
    ),
    using(
        AccessRules,
        {
            "/shares": {"POST": share_routes.create},
            "/shares/detail": {"GET": share_routes.detail},
            "/shares/{share_id}": {"GET": share_routes.show, "PUT": share_routes.update},
            "/share-access-rules": {"GET": since(SINCE_METADATA, access_routes.index)},
            "/share-access-rules/{access_id}": {"GET": since(SINCE_METADATA, access_routes.show)},
            "/share-access-rules/{access_id}/metadata": {"PUT": since(SINCE_METADATA, access_routes.set_metadata)},
            "/share-access-rules/{access_id}/metadata/{key}": {
                "DELETE": since(SINCE_METADATA, access_routes.delete_metadata)
            },
        },
    ),
    using(
        ShareSnapshots,
        {
            "/snapshots": {"GET": snapshot_routes.index, "POST": snapshot_routes.create},
            "/snapshots/detail": {"GET": snapshot_routes.detail},
            "/snapshots/{snapshot_id}": {
                "GET": snapshot_routes.show,
                "PUT": snapshot_routes.update,
                "DELETE": snapshot_routes.delete,
            },
            "/snapshots/{snapshot_id}/export-locations": {
                "GET": since(SINCE_SNAPSHOT_EXPORTS, snapshot_routes.list_exports)
            },
            "/snapshots/{snapshot_id}/action": {"POST": action_routes.snapshot_action},
        },
    ),
    using(
        ShareNetworks,
        {
            "/share-networks": {"GET": network_routes.list_networks, "POST": network_routes.create_network},
            "/share-networks/detail": {"GET": network_routes.list_networks_detail},
            "/share-networks/{network_id}": {
                "GET": network_routes.show_network,
                "PUT": network_routes.update_network,
                "DELETE": network_routes.delete_network,
            },
            "/share-networks/{network_id}/action": {"POST": action_routes.network_action},
            "/share-networks/{network_id}/subnets": {
                "GET": since(SINCE_SUBNETS, network_routes.list_subnets),
                "POST": since(SINCE_SUBNETS, network_routes.create_subnet),
            },
            "/share-networks/{network_id}/subnets/{subnet_id}": {
                "GET": since(SINCE_SUBNETS, network_routes.show_subnet),
                "DELETE": since(SINCE_SUBNETS, network_routes.delete_subnet),
            },
        },
    ),
    using(
        SecurityServices,
        {
            "/security-services": {"GET": network_routes.list_services, "POST": network_routes.create_service},
            "/security-services/detail": {"GET": network_routes.list_services_detail},
            "/security-services/{service_id}": {
                "GET": network_routes.show_service,
                "PUT": network_routes.update_service,
                "DELETE": network_routes.delete_service,
            },
        },
    ),
    using(
        ShareTypes,
        {
            "/types": {"GET": type_routes.index, "POST": admin(type_routes.create)},
            "/types/default": {"GET": type_routes.default},
            "/types/{type_id}": {
                "GET": type_routes.show,
                "PUT": admin(since(SINCE_TYPE_UPDATE, type_routes.update)),
                "DELETE": admin(type_routes.delete),
            },
            "/types/{type_id}/action": {"POST": admin(action_routes.type_action)},
            "/types/{type_id}/extra_specs": {
                "GET": admin(type_routes.list_specs),
                "POST": admin(type_routes.add_specs),
            },
            "/types/{type_id}/extra_specs/{key}": {
                "GET": admin(type_routes.show_spec),
                "PUT": admin(type_routes.set_spec),
                "DELETE": admin(type_routes.delete_spec),
            },
            "/types/{type_id}/share_type_access": {"GET": admin(type_routes.list_access)},
        },
    ),
    using(
        Shares,
        {
            "/services": {"GET": admin(backend_routes.services)},
            "/scheduler-stats/pools": {"GET": admin(backend_routes.pools)},
            "/scheduler-stats/pools/detail": {"GET": admin(backend_routes.pools_in_detail)},
            "/share_instances/{instance_id}/action": {"POST": admin(instance_routes.action)},
            "/share_instances/{instance_id}/export_locations": {
                "GET": admin(since(SINCE_EXPORTS, instance_routes.list_exports))
            },
            "/share_instances/{instance_id}/export_locations/{export_id}": {
                "GET": admin(since(SINCE_EXPORTS, instance_routes.show_export))
            },
        },
    ),
    using(
        AccessRules,
        {
            "/share_instances": {"GET": admin(instance_routes.index)},
            "/share_instances/{instance_id}": {"GET": admin(instance_routes.show)},
            "/shares/{share_id}/instances": {"GET": admin(instance_routes.of_share)},
        },
    ),
    using(
        ShareSnapshots,
        {
            "/snapshot-instances": {"GET": admin(since(SINCE_INSTANCES, instance_routes.list_snapshots))},
            "/snapshot-instances/detail": {
                "GET": admin(since(SINCE_INSTANCES, instance_routes.list_snapshots_in_detail))
            },
            "/snapshot-instances/{instance_id}": {"GET": admin(since(SINCE_INSTANCES, instance_routes.show_snapshot))},
            "/snapshot-instances/{instance_id}/action": {
                "POST": admin(since(SINCE_INSTANCES, instance_routes.snapshot_action))
            },
        },
    ),
    using(
        Messages,
        {
            "/messages": {"GET": since(SINCE_MESSAGES, message_routes.index)},
            "/messages/{message_id}": {
                "GET": since(SINCE_MESSAGES, message_routes.show),
                "DELETE": since(SINCE_MESSAGES, message_routes.delete),
            },
        },
    ),
    using(
        Quotas,
        {
            "/limits": {"GET": admin_routes.limits},
            "/quota-sets/{target_id}": {
                "GET": admin_routes.show_quota,
                "PUT": admin(admin_routes.update_quota),
                "DELETE": admin(admin_routes.delete_quota),
            },
            "/quota-sets/{target_id}/detail": {"GET": since(SINCE_QUOTA_DETAIL, admin_routes.show_quota_detail)},
            "/quota-sets/{target_id}/defaults": {"GET": admin_routes.default_quota},
            "/quota-class-sets/{class_name}": {
                "GET": admin(admin_routes.show_quota_class),
                "PUT": admin(admin_routes.update_quota_class),
            },
        },
    ),
)

SHARE = Service(
    name="manila",
    mount="/share",
    records=ShareRecords,
    endpoints={"sharev2": "/share/v2", "shared-file-system": "/share/v2"},
    prefixes=("/v2", "/v2/{project_id}"),
    routes=restricted(ROUTES, ("reader",), ("member",)),
    root={
        "/": {"GET": admin_routes.versions},
        "/v2": {"GET": admin_routes.version},
        "/v2/": {"GET": admin_routes.version},
    },
    public=frozenset({"GET /", "GET /v2", "GET /v2/"}),
    exact_paths=True,
    wrong_method=404,
    error_body=error_bodies.manila,
    phrases=Phrases(not_json="Malformed request body"),
    request_id_header="x-compute-request-id",
    microversions=MICROVERSIONS,
)
