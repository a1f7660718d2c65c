"""Bugs of templates that rehearsals find, as they are in templates of the community and in threads of its forums, and
what mends each of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Bug:
    """A bug of a template: by which rule it is found, where, and what the message and the hint contain."""

    template: str
    rule: str
    place: str
    words: str
    to: str | None = None
    seeds: int = 0
    cloud: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Correction:
    """What is changed in files (file, old text, new text), so that nothing is found any more; or in the cloud."""

    changes: tuple[tuple[str, str, str], ...] = ()
    cloud: Mapping[str, Any] = field(default_factory=dict)


_CROWDED = {"quotas": {"compute": {"instances": 1}}}
_ABROAD = {"regions": ["RegionTwo"]}
BUGS = (
    Bug("association.yaml", "missing-dependency", "association.yaml:11", "depends_on: routing"),
    Bug("group-by-name.yaml", "missing-dependency", "group-by-name.yaml:4", "depends_on: web", seeds=1),
    Bug("nested-route.yaml", "missing-dependency", "nested-route.yaml:7", "depends_on: joint", seeds=4),
    Bug("nested-subnet.yaml", "missing-dependency", "nested-subnet.yaml:5", "depends_on: addresses", seeds=3),
    Bug("regions.yaml", "missing-dependency", "parts/servers.yaml:4", "depends_on: web", seeds=2, cloud=_ABROAD),
    Bug("wait-before-server.yaml", "unreachable-wait-condition", "wait-before-server.yaml:4", "only after it"),
    Bug("wait-for-nobody.yaml", "unreachable-wait-condition", "wait-for-nobody.yaml:7", "no other resource"),
    Bug("volume.yaml", "data-replaced", "volume-moved.yaml:3", "OS::Cinder::Volume", to="volume-moved.yaml"),
    Bug("container.yaml", "data-replaced", "container-renamed.yaml:3", "Container", to="container-renamed.yaml"),
    Bug("volume.yaml", "rollback-fails", "volume-grown.yaml:3", "be decreased", to="volume-grown.yaml", seeds=8),
    Bug("rolling.yaml", "batches-outlast-timeout", "rolling.yaml:3", "3600 s"),
    Bug("rolling-scaling.yaml", "batches-outlast-timeout", "rolling-scaling.yaml:3", "5 batches"),
    Bug("retained-port.yaml", "deletion-refused", "retained-port.yaml:4", "in use by port"),
    Bug("retained-attachment.yaml", "deletion-refused", "retained-attachment.yaml:7", "Volume status"),
    Bug("boot-volume.yaml", "left-behind", "boot-volume.yaml:3", "volumes of cinder"),
    Bug("gateway.yaml", "update-fails", "gateway-removed.yaml:5", "floating IPs", to="gateway-removed.yaml"),
    Bug("no-gateway.yaml", "creation-fails", "no-gateway.yaml:13", "not reachable"),
    Bug("wait-condition.template", "unreachable-wait-condition", "wait-condition.template:5", "from Web"),
    Bug("waits.yaml", "unreachable-wait-condition", "waits-for-more.yaml:12", "leaves as it is", "waits-for-more.yaml"),
    Bug("store.yaml", "data-replaced", "store-changed.yaml:3", "OS::Manila::Share", "store-changed.yaml"),
    Bug("store.yaml", "data-replaced", "store-changed.yaml:4", "OS::Barbican::Secret", "store-changed.yaml"),
    Bug("store.yaml", "data-replaced", "store-changed.yaml:6", "OS::Zaqar::Queue", "store-changed.yaml"),
    Bug("batches.yaml", "batches-outlast-timeout", "batches.yaml:3", "3800 s"),
    Bug("batches.yaml", "batches-outlast-timeout", "batches.yaml:7", "rolling_updates"),
    Bug("retained-group.yaml", "deletion-refused", "retained-group.yaml:3", "in use by port"),
    Bug("retained-interface.yaml", "deletion-refused", "retained-interface.yaml:8", "ports still attached"),
    Bug("retained-volume.yaml", "left-behind", "retained-volume.yaml:3", "volumes of cinder", seeds=5),
    Bug("key.yaml", "removed-too-late", "key-renamed.yaml:3", "from: key, to: login", "key-renamed.yaml"),
    Bug("address.yaml", "removed-too-late", "address-renamed.yaml:3", "before port", "address-renamed.yaml"),
    Bug("listener.yaml", "removed-too-late", "listener-renamed.yaml:4", "before listener", "listener-renamed.yaml"),
    Bug("attachment.yaml", "removed-too-late", "attachment-renamed.yaml:7", "attached", "attachment-renamed.yaml"),
    Bug("shared-volume.yaml", "creation-fails", "shared-volume.yaml:13", "must be available"),
    Bug("fixed-port.yaml", "creation-fails", "fixed-port.yaml:3", "not a valid IP"),
    Bug("volume.yaml", "update-fails", "volume-shrunk.yaml", "be decreased", "volume-shrunk.yaml"),
    Bug("balanced.yaml", "single-host", "balanced.yaml:3", "anti-affinity"),
    Bug("scaled-key.yaml", "scaling-fails", "scaled-key.yaml:3", "already exists"),
    Bug("scaled-address.yaml", "scaling-fails", "scaled-address.yaml:5", "already allocated"),
    Bug("scaled-servers.yaml", "quota-exceeded", "scaled-servers.yaml:3", "already used 1", cloud=_CROWDED),
    Bug("server-one.yaml", "quota-exceeded", "server-two.yaml", "1 in use", "server-two.yaml", cloud=_CROWDED),
)

_ROUTER = "router: {type: OS::Neutron::Router}"
_GATEWAY = "router: {type: OS::Neutron::Router, properties: {external_gateway_info: {network: public}}}"
_ADDRESS = """
  address:
    type: OS::Neutron::FloatingIP
    depends_on: interface
    properties: {floating_network: public, port_id: {get_resource: port}}"""
_SIGNALS = "networks: [{network: private}], user_data_format: RAW, user_data: {get_attr: [handle, curl_cli]}"
_NETWORK = ("network: {type: OS::Neutron::Net", "network: {type: OS::Neutron::Net, deletion_policy: Retain")
_SUBNET = ("subnet: {type: OS::Neutron::Subnet", "subnet: {type: OS::Neutron::Subnet, deletion_policy: Retain")
_GROWN_SERVER = """
  server:
    type: OS::Nova::Server
    properties: {image: cirros, flavor: m1.tiny, networks: [{network: private}]}
  attachment:
    type: OS::Cinder::VolumeAttachment
    properties: {instance_uuid: {get_resource: server}, volume_id: {get_resource: data}}"""
_SECOND = "  other: {type: OS::Cinder::Volume, properties: {size: 1}}\n  one:"


def _in(file: str, *changes: tuple[str, str], cloud: Mapping[str, Any] | None = None) -> Correction:
    return Correction(tuple((file, *change) for change in changes), cloud or {})


MENDS: Mapping[str, Correction] = {
    "association.yaml": _in("association.yaml", ("Association\n", "Association\n    depends_on: routing\n")),
    "group-by-name.yaml": _in("group-by-name.yaml", ("groups: [web]", "groups: [{get_resource: web}]")),
    "nested-route.yaml": _in("nested-route.yaml", ("RouteSet\n", "RouteSet\n    depends_on: joint\n")),
    "nested-subnet.yaml": _in("nested-subnet.yaml", ("Nova::Server\n", "Nova::Server\n    depends_on: addresses\n")),
    "regions.yaml": _in("parts/servers.yaml", ("groups: [web]", "groups: [{get_resource: web}]"), cloud=_ABROAD),
    "wait-before-server.yaml": _in(
        "wait-before-server.yaml",
        ("    depends_on: ready\n", ""),
        ("WaitCondition, properties", "WaitCondition, depends_on: server, properties"),
    ),
    "wait-for-nobody.yaml": _in("wait-for-nobody.yaml", ("networks: [{network: private}]", _SIGNALS)),
    "volume-moved.yaml": _in("volume-moved.yaml", ("size: 10", "size: 10, availability_zone: nova")),
    "container-renamed.yaml": _in("container-renamed.yaml", ("name: copies", "name: backups")),
    "volume-grown.yaml": _in("volume-grown.yaml", (_GROWN_SERVER, "")),
    "rolling.yaml": _in("rolling.yaml", ("pause_time: 1200", "pause_time: 600")),
    "rolling-scaling.yaml": _in("rolling-scaling.yaml", ("max_batch_size: 1", "max_batch_size: 3")),
    "retained-port.yaml": _in("retained-port.yaml", _NETWORK, _SUBNET),
    "retained-attachment.yaml": _in(
        "retained-attachment.yaml", ("Volume, properties", "Volume, deletion_policy: Retain, properties")
    ),
    "boot-volume.yaml": _in("boot-volume.yaml", ("delete_on_termination: false", "delete_on_termination: true")),
    "gateway-removed.yaml": _in("gateway-removed.yaml", (_ROUTER, _GATEWAY), (_ADDRESS, "")),
    "no-gateway.yaml": _in(
        "no-gateway.yaml", (_ROUTER, _GATEWAY), ("FloatingIP\n", "FloatingIP\n    depends_on: interface\n")
    ),
    "wait-condition.template": _in(
        "wait-condition.template",
        ('      "DependsOn": "Ready",\n', ""),
        ('WaitCondition",\n', 'WaitCondition",\n      "DependsOn": "Web",\n'),
    ),
    "waits-for-more.yaml": _in(
        "waits-for-more.yaml", ("flavor: m1.tiny", "flavor: m1.small\n      flavor_update_policy: REPLACE")
    ),
    "store-changed.yaml": _in("store-changed.yaml", ("CIFS", "NFS"), ("two", "one"), ("jobs", "orders")),
    "batches.yaml": _in("batches.yaml", ("1900", "1000"), ("1800", "900")),
    "retained-group.yaml": _in("retained-group.yaml", ("SecurityGroup}", "SecurityGroup, deletion_policy: Retain}")),
    "retained-interface.yaml": _in("retained-interface.yaml", ("Router}", "Router, deletion_policy: Retain}")),
    "retained-volume.yaml": _in("retained-volume.yaml", (", deletion_policy: Retain", "")),
    "key-renamed.yaml": _in("key-renamed.yaml", ("name: operators", "name: administrators")),
    "address-renamed.yaml": _in("address-renamed.yaml", ("10.0.0.60", "10.0.0.61")),
    "listener-renamed.yaml": _in("listener-renamed.yaml", ("protocol_port: 80", "protocol_port: 8080")),
    "attachment-renamed.yaml": _in("attachment-renamed.yaml", ("  disk:", "  attachment:")),
    "shared-volume.yaml": _in(
        "shared-volume.yaml",
        ("  one:", _SECOND),
        (
            "{get_resource: two}, volume_id: {get_resource: data}",
            "{get_resource: two}, volume_id: {get_resource: other}",
        ),
    ),
    "fixed-port.yaml": _in(
        "fixed-port.yaml", ("network: private, fixed_ips: [{ip_address: 10.9.0.77}]", "network: private")
    ),
    "volume-shrunk.yaml": _in("volume-shrunk.yaml", ("size: 5", "size: 15")),
    "balanced.yaml": _in("balanced.yaml", ("[affinity]", "[anti-affinity]")),
    "scaled-key.yaml": _in(
        "scaled-key.yaml", ("{type: OS::Nova::KeyPair, properties: {name: operators}}", "{type: parts/key.yaml}")
    ),
    "scaled-address.yaml": _in("scaled-address.yaml", (", fixed_ips: [{ip_address: 192.0.2.9}]", "")),
    "scaled-servers.yaml": Correction(cloud={"quotas": {"compute": {"instances": 2}}}),
    "server-two.yaml": Correction(cloud={"quotas": {"compute": {"instances": 2}}}),
}
"""By the template, or that of the update, of each bug."""
