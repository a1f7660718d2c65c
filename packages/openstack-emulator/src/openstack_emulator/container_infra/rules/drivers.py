"""What clusters can consist of, as Magnum's drivers have it."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.container_infra.records import ClusterTemplate
from openstack_emulator.core.errors import bad_request

KUBERNETES, SWARM, MESOS = "kubernetes", "swarm", "mesos"
COES = (KUBERNETES, SWARM, MESOS)
DRIVERS: Mapping[tuple[str, str, str], str] = {
    ("vm", "fedora-coreos", KUBERNETES): "k8s_fedora_coreos_v1",
    ("vm", "fedora-atomic", KUBERNETES): "k8s_fedora_atomic_v1",
    ("bm", "fedora", KUBERNETES): "k8s_fedora_ironic_v1",
    ("vm", "fedora-atomic", SWARM): "swarm_fedora_atomic_v2",
    ("vm", "ubuntu", MESOS): "mesos_ubuntu_v1",
}
"""Drivers by server type, distribution of the image (its property os_distro), and engine."""
NETWORK_DRIVERS: Mapping[str, tuple[str, ...]] = {
    KUBERNETES: ("flannel", "calico"),
    SWARM: ("docker", "flannel"),
    MESOS: ("docker",),
}
"""The first is the default."""
VOLUME_DRIVERS: Mapping[str, str] = {KUBERNETES: "cinder", SWARM: "rexray", MESOS: "rexray"}
VERSIONS: Mapping[str, tuple[str, str]] = {
    KUBERNETES: ("v1.27.8", "24.0.7"),
    SWARM: ("1.2.5", "1.12.6"),
    MESOS: ("1.0", "1.9.1"),
}
"""The version of an engine, and of the containers' runtime, in a new cluster."""
API_PORTS: Mapping[str, int] = {KUBERNETES: 6443, SWARM: 2376, MESOS: 5050}
MINIMUM_DEVICEMAPPER_SIZE = 3
"""Of a docker volume, in GB."""


def check_drivers(template: ClusterTemplate) -> None:
    """Refuse a cluster template whose drivers do not suit its engine. Raises ApiError 400."""
    coe, network, volume = template.coe, template.network_driver, template.volume_driver
    if network not in NETWORK_DRIVERS[coe]:
        expected = list(NETWORK_DRIVERS[coe])
        raise bad_request(f"Network driver type {network} is not supported, expecting a {expected} network driver.")
    if volume is not None and volume != VOLUME_DRIVERS[coe]:
        raise bad_request(
            f"Volume driver type {volume} is not supported, expecting a ['{VOLUME_DRIVERS[coe]}'] volume driver."
        )
    check_docker_volume(template.docker_storage_driver, template.docker_volume_size)
    cluster_type = (template.server_type, template.cluster_distro, coe)
    if cluster_type not in DRIVERS:
        raise bad_request(f"Cluster type {cluster_type} not supported (No driver of the emulated cloud has it).")
    if template.driver not in (None, DRIVERS[cluster_type]):
        raise bad_request(f"Cluster driver {template.driver} not supported for the cluster type {cluster_type}.")


def check_docker_volume(storage_driver: str | None, size: int | None) -> None:
    """Refuse a docker volume that is too small for its storage driver. Raises ApiError 400."""
    if storage_driver == "devicemapper" and (size or 0) < MINIMUM_DEVICEMAPPER_SIZE:
        raise bad_request(
            f"docker volume size {size} GB is not valid, expecting minimum value {MINIMUM_DEVICEMAPPER_SIZE}GB for "
            "devicemapper storage driver."
        )
