"""The services of the emulated cloud; each is imported when it is first needed. A new one is an entry here."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from openstack_emulator.core.cloud import Cloud, LazyService

SERVICES = (
    LazyService(
        "keystone",
        "/identity",
        {"identity": "/identity"},
        "openstack_emulator.identity.service:IDENTITY",
        "identity",
        always=True,
    ),
    LazyService("control", "/control", {}, "openstack_emulator.core.control:CONTROL", "control", always=True),
    LazyService("glance", "/image", {"image": "/image"}, "openstack_emulator.image.service:IMAGE", "image"),
    LazyService(
        "neutron", "/network", {"network": "/network"}, "openstack_emulator.network.service:NETWORK_SERVICE", "network"
    ),
    LazyService(
        "zaqar",
        "/messaging",
        {"messaging": "/messaging"},
        "openstack_emulator.messaging.service:MESSAGING",
        "messaging",
    ),
    LazyService(
        "swift",
        "/object-store",
        {"object-store": "/object-store/v1/AUTH_%(project_id)s"},
        "openstack_emulator.objectstore.service:OBJECT_STORE",
        "object-store",
    ),
    LazyService("swift-info", "/info", {}, "openstack_emulator.objectstore.service:OBJECT_STORE_INFO", "object-store"),
    LazyService(
        "placement",
        "/placement",
        {"placement": "/placement"},
        "openstack_emulator.placement.service:PLACEMENT",
        "placement",
        needs=("compute",),
    ),
    LazyService(
        "barbican",
        "/key-manager",
        {"key-manager": "/key-manager"},
        "openstack_emulator.keymanager.service:KEY_MANAGER",
        "key-manager",
    ),
    LazyService(
        "cinder",
        "/volume",
        {"volumev3": "/volume/v3/%(project_id)s", "block-storage": "/volume/v3/%(project_id)s"},
        "openstack_emulator.volume.service:VOLUME",
        "volume",
        needs=("image",),
    ),
    LazyService(
        "nova",
        "/compute",
        {"compute": "/compute/v2.1"},
        "openstack_emulator.compute.service:COMPUTE",
        "compute",
        needs=("image", "network", "volume"),
    ),
    LazyService("nova-metadata", "/metadata", {}, "openstack_emulator.compute.service:COMPUTE_METADATA", "compute"),
    LazyService(
        "octavia",
        "/load-balancer",
        {"load-balancer": "/load-balancer"},
        "openstack_emulator.loadbalancer.service:LOAD_BALANCER",
        "load-balancer",
        needs=("network",),
    ),
    LazyService(
        "manila",
        "/share",
        {"sharev2": "/share/v2", "shared-file-system": "/share/v2"},
        "openstack_emulator.share.service:SHARE",
        "share",
        needs=("network",),
    ),
    LazyService(
        "trove",
        "/database",
        {"database": "/database/v1.0/%(project_id)s"},
        "openstack_emulator.database.service:DATABASE",
        "database",
        needs=("compute", "network"),
    ),
    LazyService(
        "ironic",
        "/baremetal",
        {"baremetal": "/baremetal"},
        "openstack_emulator.baremetal.service:BARE_METAL",
        "baremetal",
    ),
    LazyService("gnocchi", "/metric", {"metric": "/metric"}, "openstack_emulator.metric.service:METRIC", "metric"),
    LazyService(
        "aodh",
        "/alarming",
        {"alarming": "/alarming"},
        "openstack_emulator.alarming.service:ALARMING",
        "alarming",
        needs=("metric", "messaging"),
    ),
    LazyService(
        "blazar",
        "/reservation",
        {"reservation": "/reservation/v1"},
        "openstack_emulator.reservation.service:RESERVATION",
        "reservation",
        needs=("compute", "network"),
    ),
    LazyService(
        "magnum",
        "/container-infra",
        {"container-infra": "/container-infra/v1"},
        "openstack_emulator.container_infra.service:CONTAINER_INFRA",
        "container-infra",
        needs=("image", "network", "volume", "compute"),
    ),
    LazyService("designate", "/dns", {"dns": "/dns"}, "openstack_emulator.dns.service:DNS", "dns"),
    LazyService(
        "mistral",
        "/workflow",
        {"workflowv2": "/workflow/v2"},
        "openstack_emulator.workflow.service:WORKFLOW",
        "workflow",
    ),
    LazyService(
        "murano",
        "/application-catalog",
        {"application-catalog": "/application-catalog"},
        "openstack_emulator.catalog.service:APPLICATION_CATALOG",
        "application-catalog",
    ),
    LazyService("congress", "/policy", {"policy": "/policy"}, "openstack_emulator.policy.service:POLICY", "policy"),
    LazyService(
        "zun",
        "/container",
        {"container": "/container/v1"},
        "openstack_emulator.container.service:CONTAINER",
        "container",
        needs=("image", "network", "volume"),
    ),
)
"""In the order in which the catalog of a new cloud lists them."""
CHOICES = tuple(dict.fromkeys(service.group for service in SERVICES if not service.always))
"""The groups of services that a cloud may have or not."""


def chosen(groups: Collection[str]) -> tuple[LazyService, ...]:
    """The services of these groups, and those that every cloud has.

    Raises: ValueError for an unknown group, or one without another that it needs.
    """
    for group in groups:
        if group not in CHOICES:
            raise ValueError(f"There is no service {group!r} to choose: the choices are {', '.join(CHOICES)}.")
    found = tuple(service for service in SERVICES if service.always or service.group in groups)
    for service in found:
        if lacking := [group for group in service.needs if group not in groups]:
            raise ValueError(f"The service {service.group} needs {' and '.join(lacking)}, which must be chosen too.")
    return found


def new_cloud(services: Collection[str] = CHOICES, **options: Any) -> Cloud:
    """A cloud with these groups of services; all by default. For the options see `Cloud`. Raises: see `chosen`."""
    return Cloud(chosen(services), **options)
