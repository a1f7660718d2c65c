"""The compute service: its table of routes."""

from __future__ import annotations

from openstack_emulator.compute import (
    action_routes,
    admin_routes,
    console_routes,
    device_routes,
    flavor_routes,
    host_routes,
    server_routes,
)
from openstack_emulator.compute.block_devices import BlockDevices
from openstack_emulator.compute.building import Builder
from openstack_emulator.compute.consoles import Consoles
from openstack_emulator.compute.deletion import Deletion
from openstack_emulator.compute.flavors import Flavors
from openstack_emulator.compute.group_proxies import GROUP_PROXIES
from openstack_emulator.compute.hosts import Aggregates, Hosts
from openstack_emulator.compute.image_proxies import IMAGE_METADATA_PROXIES, IMAGE_PROXIES
from openstack_emulator.compute.interfaces import Interfaces
from openstack_emulator.compute.keypairs import Keypairs
from openstack_emulator.compute.migrations import Migrations
from openstack_emulator.compute.moves import Moves
from openstack_emulator.compute.network_proxies import NETWORK_PROXIES
from openstack_emulator.compute.queries import checked
from openstack_emulator.compute.quotas import Quotas
from openstack_emulator.compute.records import ComputeRecords
from openstack_emulator.compute.server_groups import ServerGroups
from openstack_emulator.compute.servers import Servers
from openstack_emulator.compute.service_routes import HOST_ROUTES, SERVICE_ROUTES
from openstack_emulator.compute.usage_routes import USAGE_ROUTES
from openstack_emulator.compute.versions import MAXIMUM, only
from openstack_emulator.compute.views import ServerViews
from openstack_emulator.compute.volume_proxies import VOLUME_PROXIES
from openstack_emulator.core.cloud import READERS, Microversions, Routes, Service
from openstack_emulator.core.component import merged, using
from openstack_emulator.core.errors import fault_body
from openstack_emulator.core.http import Phrases

SERVER_ROUTES = merged(
    {"/servers/{server_id}/action": {"POST": action_routes.server_action}},
    using(Servers, server_routes.SERVER_METADATA.routes("/servers/{server_id}")),
    using(Builder, {"/servers": {"POST": server_routes.create}}),
    using(Deletion, {"/servers/{server_id}": {"DELETE": server_routes.delete}}),
    using(
        ServerViews,
        {
            "/servers": {"GET": server_routes.index},
            "/servers/detail": {"GET": server_routes.detail},
            "/servers/{server_id}": {"GET": server_routes.show, "PUT": server_routes.update},
            "/servers/{server_id}/ips": {"GET": server_routes.list_addresses},
            "/servers/{server_id}/ips/{network}": {"GET": server_routes.show_addresses},
            "/servers/{server_id}/os-security-groups": {"GET": device_routes.list_security_groups},
            "/servers/{server_id}/diagnostics": {"GET": device_routes.diagnostics},
        },
    ),
    using(
        Servers,
        {
            "/servers/{server_id}/tags": {
                "GET": server_routes.list_tags,
                "PUT": server_routes.replace_tags,
                "DELETE": server_routes.delete_tags,
            },
            "/servers/{server_id}/tags/{tag}": {
                "GET": server_routes.has_tag,
                "PUT": server_routes.add_tag,
                "DELETE": server_routes.delete_tag,
            },
            "/servers/{server_id}/os-instance-actions": {"GET": device_routes.list_events},
            "/servers/{server_id}/os-instance-actions/{request_id}": {"GET": device_routes.show_event},
            "/servers/{server_id}/os-server-password": {
                "GET": device_routes.show_password,
                "DELETE": device_routes.clear_password,
            },
        },
    ),
    only(using(ServerViews, {"/servers/{server_id}/topology": {"GET": device_routes.topology}}), first=(2, 78)),
    only(
        using(
            Servers,
            {
                "/servers/{server_id}/shares": {"GET": device_routes.list_shares, "POST": device_routes.no_share},
                "/servers/{server_id}/shares/{share_id}": {
                    "GET": device_routes.no_share,
                    "DELETE": device_routes.no_share,
                },
            },
        ),
        first=(2, 97),
    ),
    using(
        Interfaces,
        {
            "/servers/{server_id}/os-interface": {
                "GET": device_routes.list_interfaces,
                "POST": device_routes.attach_interface,
            },
            "/servers/{server_id}/os-interface/{port_id}": {
                "GET": device_routes.show_interface,
                "DELETE": device_routes.detach_interface,
            },
        },
    ),
    using(
        BlockDevices,
        {
            "/servers/{server_id}/os-volume_attachments": {
                "GET": device_routes.list_volumes,
                "POST": device_routes.attach_volume,
            },
            "/servers/{server_id}/os-volume_attachments/{volume_id}": {
                "GET": device_routes.show_volume,
                "PUT": device_routes.update_volume,
                "DELETE": device_routes.detach_volume,
            },
        },
    ),
    only(
        using(Consoles, {"/servers/{server_id}/remote-consoles": {"POST": console_routes.remote_console}}), first=(2, 6)
    ),
    only(using(Consoles, {"/os-console-auth-tokens/{token}": {"GET": console_routes.show_token}}), first=(2, 31)),
    using(Moves, {"/servers/{server_id}/migrations": {"GET": host_routes.list_server_migrations}}),
    using(Migrations, {"/os-migrations": {"GET": host_routes.list_migrations}}),
)

FLAVOR_ROUTES = using(
    Flavors,
    {
        "/flavors": {"GET": flavor_routes.list_flavors, "POST": flavor_routes.create_flavor},
        "/flavors/detail": {"GET": flavor_routes.list_flavors_detail},
        "/flavors/{flavor_id}": {
            "GET": flavor_routes.show_flavor,
            "PUT": flavor_routes.update_flavor,
            "DELETE": flavor_routes.delete_flavor,
        },
        "/flavors/{flavor_id}/action": {"POST": flavor_routes.flavor_action},
        "/flavors/{flavor_id}/os-flavor-access": {"GET": flavor_routes.list_access},
        "/flavors/{flavor_id}/os-extra_specs": {"GET": flavor_routes.list_specs, "POST": flavor_routes.add_specs},
        "/flavors/{flavor_id}/os-extra_specs/{key}": {
            "GET": flavor_routes.show_spec,
            "PUT": flavor_routes.update_spec,
            "DELETE": flavor_routes.delete_spec,
        },
    },
)
KEYPAIR_ROUTES = using(
    Keypairs,
    {
        "/os-keypairs": {"GET": flavor_routes.list_keypairs, "POST": flavor_routes.create_keypair},
        "/os-keypairs/{name}": {"GET": flavor_routes.show_keypair, "DELETE": flavor_routes.delete_keypair},
    },
)
GROUP_ROUTES = using(
    ServerGroups,
    {
        "/os-server-groups": {"GET": flavor_routes.list_groups, "POST": flavor_routes.create_group},
        "/os-server-groups/{group_id}": {"GET": flavor_routes.show_group, "DELETE": flavor_routes.delete_group},
    },
)
QUOTA_ROUTES = using(
    Quotas,
    {
        "/limits": {"GET": admin_routes.limits},
        "/os-quota-sets/{target_id}": {
            "GET": admin_routes.show_quota,
            "PUT": admin_routes.update_quota,
            "DELETE": admin_routes.delete_quota,
        },
        "/os-quota-sets/{target_id}/detail": {"GET": admin_routes.show_quota_detail},
        "/os-quota-sets/{target_id}/defaults": {"GET": admin_routes.default_quota},
        "/os-quota-class-sets/{class_name}": {
            "GET": admin_routes.show_quota_class,
            "PUT": admin_routes.update_quota_class,
        },
    },
)
AGGREGATE_ROUTES = using(
    Aggregates,
    {
        "/os-availability-zone": {"GET": host_routes.list_zones},
        "/os-availability-zone/detail": {"GET": host_routes.list_zones_detail},
        "/os-services": {"GET": host_routes.list_services},
        "/os-services/{service_id}": {"PUT": host_routes.update_service},
        "/os-aggregates": {"GET": host_routes.list_aggregates, "POST": host_routes.create_aggregate},
        "/os-aggregates/{aggregate_id}": {
            "GET": host_routes.show_aggregate,
            "PUT": host_routes.update_aggregate,
            "DELETE": host_routes.delete_aggregate,
        },
        "/os-aggregates/{aggregate_id}/action": {"POST": host_routes.aggregate_action},
    },
)
HYPERVISOR_ROUTES = using(
    Hosts,
    {
        "/os-hypervisors": {"GET": host_routes.list_hypervisors},
        "/os-hypervisors/detail": {"GET": host_routes.list_hypervisors_detail},
        "/os-hypervisors/statistics": {"GET": host_routes.hypervisor_statistics},
        "/os-hypervisors/{hypervisor_id}": {"GET": host_routes.show_hypervisor},
        "/os-hypervisors/{hypervisor_id}/uptime": {"GET": host_routes.hypervisor_uptime},
        "/os-hypervisors/{hypervisor_id}/search": {"GET": host_routes.search_hypervisors},
        "/os-hypervisors/{hypervisor_id}/servers": {"GET": host_routes.hypervisor_servers},
    },
)
PROXIES: Routes = {
    **only({**GROUP_PROXIES, **NETWORK_PROXIES, **IMAGE_PROXIES, **VOLUME_PROXIES}, last=(2, 35)),
    **only(IMAGE_METADATA_PROXIES, last=(2, 38)),
    **only(HOST_ROUTES, last=(2, 42)),
}
ROUTES = checked(
    {
        **SERVER_ROUTES,
        **PROXIES,
        **USAGE_ROUTES,
        **SERVICE_ROUTES,
        **FLAVOR_ROUTES,
        **KEYPAIR_ROUTES,
        **GROUP_ROUTES,
        **QUOTA_ROUTES,
        **AGGREGATE_ROUTES,
        **HYPERVISOR_ROUTES,
        "/extensions": {"GET": admin_routes.EXTENSIONS.index},
        "/extensions/{alias}": {"GET": admin_routes.EXTENSIONS.show},
    }
)

POLICY_RULES = {
    "DELETE /flavors/{flavor_id}": "os-flavor-manage:delete",
    "DELETE /flavors/{flavor_id}/os-extra_specs/{key}": "os-flavor-extra-specs:delete",
    "DELETE /os-aggregates/{aggregate_id}": "os-aggregates:delete",
    "DELETE /os-quota-sets/{target_id}": "os-quota-sets:delete",
    "DELETE /os-server-groups/{group_id}": "os-server-groups:delete",
    "DELETE /servers/{server_id}": "servers:delete",
    "GET /os-aggregates": "os-aggregates:index",
    "GET /os-aggregates/{aggregate_id}": "os-aggregates:show",
    "GET /os-availability-zone/detail": "os-availability-zone:detail",
    "GET /os-hypervisors": "os-hypervisors:list",
    "GET /os-hypervisors/detail": "os-hypervisors:list-detail",
    "GET /os-instance_usage_audit_log": "os-instance-usage-audit-log:list",
    "GET /os-migrations": "os-migrations:index",
    "GET /os-server-groups": "os-server-groups:index",
    "GET /os-services": "os-services:list",
    "GET /os-simple-tenant-usage": "os-simple-tenant-usage:list",
    "GET /servers": "servers:index",
    "GET /servers/detail": "servers:detail",
    "GET /servers/{server_id}/diagnostics": "os-server-diagnostics",
    "POST /flavors": "os-flavor-manage:create",
    "POST /flavors/{flavor_id}/os-extra_specs": "os-flavor-extra-specs:create",
    "POST /os-aggregates": "os-aggregates:create",
    "POST /os-server-groups": "os-server-groups:create",
    "POST /servers": "servers:create",
    "POST /servers/{server_id}/os-interface": "os-attach-interfaces:create",
    "POST /servers/{server_id}/os-volume_attachments": "os-volumes-attachments:create",
    "PUT /flavors/{flavor_id}": "os-flavor-manage:update",
    "PUT /flavors/{flavor_id}/os-extra_specs/{key}": "os-flavor-extra-specs:update",
    "PUT /os-aggregates/{aggregate_id}": "os-aggregates:update",
    "PUT /os-quota-sets/{target_id}": "os-quota-sets:update",
    "PUT /servers/{server_id}": "servers:update",
}
"""Route → name of the policy rule, as Nova's errors have it after `os_compute_api:`."""

COMPUTE = Service(
    name="nova",
    mount="/compute",
    records=ComputeRecords,
    endpoints={"compute": "/compute/v2.1"},
    prefixes=("/v2.1", "/v2.1/{project_id}", "/v2", "/v2/{project_id}"),
    routes=ROUTES,
    root={
        "/": {"GET": admin_routes.versions},
        **{path: {"GET": admin_routes.old_version} for path in ("/v2", "/v2/")},
        **{path: {"GET": admin_routes.version} for path in ("/v2.1", "/v2.1/")},
    },
    public=frozenset({"GET /", "GET /v2", "GET /v2/", "GET /v2.1", "GET /v2.1/"}),
    exact_paths=True,
    error_body=fault_body,
    microversions=Microversions("compute", (2, 1), MAXIMUM, (2, 1), "X-OpenStack-Nova-API-Version", names_refused=True),
    request_id_header="x-compute-request-id",
    error_type="application/json; charset=UTF-8",
    phrases=Phrases(not_json="Malformed request body", no_object="'{key}' is a required property"),
    rules={route: f"os_compute_api:{rule}" for route, rule in POLICY_RULES.items()},
    refusal="Policy doesn't allow {rule} to be performed.",
    readers=READERS,
    writers=frozenset({"member"}),
    written_by_all=frozenset({"/os-keypairs", "/os-keypairs/{name}"}),
)
