"""OS::Magnum::ClusterTemplate, and OS::Magnum::BayModel as it was called before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from stoker.resources.declare import between, custom, one_of
from stoker.resources.magnum.base import MagnumResource, collection
from stoker.schema.property import Change, Property, Support, Type
from stoker.schema.unknown import has_unknown

VOLUME_DRIVERS = {"kubernetes": "cinder", "swarm": "rexray", "mesos": "rexray"}


_NODES = {
    "name": Property(description="Name of the template."),
    "image": Property(
        description="Image of the nodes, by name or ID; its property os_distro selects Magnum's driver.",
        required=True,
        constraints=custom("glance.image"),
        wire="image_id",
    ),
    "flavor": Property(
        description="Flavor of the nodes, by name or ID.", constraints=custom("nova.flavor"), wire="flavor_id"
    ),
    "master_flavor": Property(
        description="Flavor of the masters, by name or ID.",
        constraints=custom("nova.flavor"),
        wire="master_flavor_id",
    ),
    "keypair": Property(
        description="SSH key pair of the nodes.", constraints=custom("nova.keypair"), wire="keypair_id"
    ),
}

_CLUSTERS = {
    "dns_nameserver": Property(description="IP address of the nodes' DNS server.", constraints=custom("ip_addr")),
    "docker_volume_size": Property(
        Type.INTEGER, "Size in GB of the volume of each node's containers.", constraints=between(1)
    ),
    "docker_storage_driver": Property(
        description="Storage driver of the containers.",
        default="devicemapper",
        constraints=one_of("devicemapper", "overlay"),
    ),
    "coe": Property(
        description="The container orchestration engine.",
        required=True,
        constraints=one_of("kubernetes", "swarm", "mesos"),
    ),
    "network_driver": Property(description="Network driver of the containers, by default the engine's."),
    "volume_driver": Property(
        description="Volume driver of the containers: cinder for kubernetes, rexray for other engines.",
        constraints=one_of("cinder", "rexray"),
    ),
    "http_proxy": Property(description="Proxy of the nodes for HTTP."),
    "https_proxy": Property(description="Proxy of the nodes for HTTPS."),
    "no_proxy": Property(description="Comma-separated hosts that the nodes reach without a proxy."),
    "labels": Property(Type.MAP, "Parameters of Magnum's driver, as strings by name."),
    "tls_disabled": Property(Type.BOOLEAN, "Whether clusters are used without TLS.", default=False),
    "public": Property(
        Type.BOOLEAN,
        "Whether other projects can use the template; for administrators.",
        default=False,
        change=Change.UPDATE,
    ),
    "registry_enabled": Property(Type.BOOLEAN, "Whether clusters have a registry of container images.", default=False),
    "server_type": Property(
        description="Whether nodes are virtual machines (vm) or physical servers (bm).",
        default="vm",
        constraints=one_of("vm", "bm"),
    ),
    "master_lb_enabled": Property(Type.BOOLEAN, "Whether masters are behind a load balancer.", default=True),
    "floating_ip_enabled": Property(Type.BOOLEAN, "Whether nodes have floating IPs.", default=True),
}


def _properties(network: Mapping[str, Any], subnet: Mapping[str, Any]) -> dict[str, Property]:
    """Return the properties. network, subnet: how the properties that name one find it."""
    return {
        **_NODES,
        "external_network": Property(
            description="External network of the clusters, by name or ID.",
            required=True,
            wire="external_network_id",
            **network,
        ),
        "fixed_network": Property(description="Private network of the clusters, by name or ID.", **network),
        "fixed_subnet": Property(description="Private subnet of the clusters, by name or ID.", **subnet),
        **_CLUSTERS,
    }


class ClusterTemplate(MagnumResource):
    """What clusters consist of."""

    type_name = "OS::Magnum::ClusterTemplate"
    description = "A template of container clusters: engine, image, flavors, networks and drivers."
    collection = collection("clustertemplates")
    support = Support(version="9.0.0")
    properties: Mapping[str, Property] = _properties({"reference": "neutron.network"}, {"reference": "neutron.subnet"})

    def validate(self, properties: Mapping[str, Any]) -> Iterable[str]:
        engine, driver = properties.get("coe"), properties.get("volume_driver")
        if driver is None or engine is None or has_unknown([engine, driver]):
            return
        if driver != (required := VOLUME_DRIVERS.get(engine, driver)):
            yield f"volume_driver must be {required!r} for the engine {engine!r}, not {driver!r}"


class BayModel(ClusterTemplate):
    """A cluster template under its older name. Names of networks are sent to Magnum as they are."""

    type_name = "OS::Magnum::BayModel"
    support = Support(
        "HIDDEN",
        "11.0.0",
        previous=Support(
            "DEPRECATED",
            "9.0.0",
            previous=Support(version="5.0.0"),
            substitutes=(ClusterTemplate.type_name,),
        ),
    )
    properties = _properties({"constraints": custom("neutron.network")}, {"constraints": custom("neutron.subnet")})
