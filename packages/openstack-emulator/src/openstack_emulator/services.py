"""The services of the emulated cloud, as offered: a new one is an entry here. Nothing of them is imported yet."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from openstack_emulator.core.cloud import Cloud, Offer

SERVICES = (
    Offer("keystone", "/identity", {"identity": "/identity"}, "openstack_emulator.identity.service:IDENTITY",
          "identity", always=True),
    Offer("control", "/control", {}, "openstack_emulator.core.control:CONTROL", "control", always=True),
    Offer("glance", "/image", {"image": "/image"}, "openstack_emulator.image.service:IMAGE", "image"),
    Offer("neutron", "/network", {"network": "/network"}, "openstack_emulator.network.service:NETWORK_SERVICE",
          "network"),
    Offer("zaqar", "/messaging", {"messaging": "/messaging"}, "openstack_emulator.messaging.service:MESSAGING",
          "messaging"),
    Offer("swift", "/object-store", {"object-store": "/object-store/v1/AUTH_%(project_id)s"},
          "openstack_emulator.objectstore.service:OBJECT_STORE", "object-store"),
    Offer("swift-info", "/info", {}, "openstack_emulator.objectstore.service:OBJECT_STORE_INFO", "object-store"),
    Offer("placement", "/placement", {"placement": "/placement"}, "openstack_emulator.placement.service:PLACEMENT",
          "placement", needs=("compute",)),
    Offer("barbican", "/key-manager", {"key-manager": "/key-manager"},
          "openstack_emulator.keymanager.service:KEY_MANAGER", "key-manager"),
    Offer("cinder", "/volume",
          {"volumev3": "/volume/v3/%(project_id)s", "block-storage": "/volume/v3/%(project_id)s"},
          "openstack_emulator.volume.service:VOLUME", "volume", needs=("image",)),
    Offer("nova", "/compute", {"compute": "/compute/v2.1"}, "openstack_emulator.compute.service:COMPUTE", "compute",
          needs=("image", "network", "volume")),
    Offer("nova-metadata", "/metadata", {}, "openstack_emulator.compute.service:COMPUTE_METADATA", "compute"),
    Offer("octavia", "/load-balancer", {"load-balancer": "/load-balancer"},
          "openstack_emulator.loadbalancer.service:LOAD_BALANCER", "load-balancer", needs=("network",)),
    Offer("manila", "/share", {"sharev2": "/share/v2", "shared-file-system": "/share/v2"},
          "openstack_emulator.share.service:SHARE", "share", needs=("network",)),
    Offer("trove", "/database", {"database": "/database/v1.0/%(project_id)s"},
          "openstack_emulator.database.service:DATABASE", "database", needs=("compute", "network")),
    Offer("ironic", "/baremetal", {"baremetal": "/baremetal"}, "openstack_emulator.baremetal.service:BARE_METAL",
          "baremetal"),
    Offer("gnocchi", "/metric", {"metric": "/metric"}, "openstack_emulator.metric.service:METRIC", "metric"),
    Offer("aodh", "/alarming", {"alarming": "/alarming"}, "openstack_emulator.alarming.service:ALARMING", "alarming",
          needs=("metric", "messaging")),
    Offer("blazar", "/reservation", {"reservation": "/reservation/v1"},
          "openstack_emulator.reservation.service:RESERVATION", "reservation", needs=("compute", "network")),
    Offer("magnum", "/container-infra", {"container-infra": "/container-infra/v1"},
          "openstack_emulator.container_infra.service:CONTAINER_INFRA", "container-infra",
          needs=("image", "network", "volume", "compute")),
    Offer("designate", "/dns", {"dns": "/dns"}, "openstack_emulator.dns.service:DNS", "dns"),
    Offer("mistral", "/workflow", {"workflowv2": "/workflow/v2"}, "openstack_emulator.workflow.service:WORKFLOW",
          "workflow"),
    Offer("murano", "/application-catalog", {"application-catalog": "/application-catalog"},
          "openstack_emulator.catalog.service:APPLICATION_CATALOG", "application-catalog"),
    Offer("congress", "/policy", {"policy": "/policy"}, "openstack_emulator.policy.service:POLICY", "policy"),
    Offer("zun", "/container", {"container": "/container/v1"}, "openstack_emulator.container.service:CONTAINER",
          "container", needs=("image", "network", "volume")),
)  # fmt: skip
"""In the order in which the catalog of a new cloud lists them."""
CHOICES = tuple(dict.fromkeys(offer.group for offer in SERVICES if not offer.always))
"""The groups of services that a cloud may have or not."""


def chosen(groups: Collection[str]) -> tuple[Offer, ...]:
    """The services of these groups, and those that every cloud has.

    Raises: ValueError for an unknown group, or one without another that it needs.
    """
    for group in groups:
        if group not in CHOICES:
            raise ValueError(f"There is no service {group!r} to choose: the choices are {', '.join(CHOICES)}.")
    found = tuple(offer for offer in SERVICES if offer.always or offer.group in groups)
    for offer in found:
        if lacking := [group for group in offer.needs if group not in groups]:
            raise ValueError(f"The service {offer.group} needs {' and '.join(lacking)}, which must be chosen too.")
    return found


def new_cloud(services: Collection[str] = CHOICES, **options: Any) -> Cloud:
    """A cloud with these groups of services; all by default. For the options see `Cloud`. Raises: see `chosen`."""
    return Cloud(chosen(services), **options)
