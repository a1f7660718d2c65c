"""What one object of a stack is several resources of in Terraform: rules of security groups, volumes of servers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from stoker.authoring.terraform.table import is_distinct

_GROUP, _RULE, _SERVER = "OS::Neutron::SecurityGroup", "OS::Neutron::SecurityGroupRule", "OS::Nova::Server"
_ATTACHMENT = "OS::Cinder::VolumeAttachment"
_DISKS = "block_device_mapping_v2"
_RULE_FIELDS = {
    **{
        name: name for name in ("description", "direction", "ethertype", "protocol", "port_range_min", "port_range_max")
    },
    "remote_ip_prefix": "remote_ip_prefix",
    "security_group_id": "security_group",
    "remote_group_id": "remote_group",
}
_SOURCES = {"volume_id": "volume", "image": "image", "image_id": "image", "snapshot_id": "snapshot"}
_NAMED = {"flavor_id": "flavor_name", "image_id": "image_name"}
_SAME = ("boot_index", "volume_size", "delete_on_termination", "disk_bus", "device_type", "volume_type")


@dataclass(frozen=True, slots=True, eq=False)
class StackObject:
    """An object of a stack: the path of its resource as plans print it, its type, its ID, its properties, and what the
    service shows of it.
    """

    path: str
    type: str
    id: str
    properties: Mapping[str, Any]
    shown: Mapping[str, Any] = field(default_factory=dict)


def with_parts(objects: Sequence[StackObject]) -> Iterator[StackObject]:
    """Yield objects, each before its parts that Terraform has by themselves, unless the stack has these, too."""
    known = {stack_object.id for stack_object in objects}
    for stack_object in objects:
        rules = stack_object.shown.get("security_group_rules") if stack_object.type == _GROUP else None
        disks = stack_object.properties.get(_DISKS) if stack_object.type == _SERVER else None
        if isinstance(rules, list):
            yield _without(stack_object, "rules")
            yield from (
                _rule(stack_object, number, rule) for number, rule in enumerate(rules) if rule["id"] not in known
            )
        elif isinstance(disks, list):
            attached = [item for item in disks if _is_attached(item)]
            yield replace(
                stack_object,
                properties={
                    **stack_object.properties,
                    _DISKS: [disk_item for disk_item in disks if disk_item not in attached],
                },
            )
            yield from (_attachment(stack_object, number, item["volume_id"]) for number, item in enumerate(attached))
        else:
            yield stack_object


def _without(stack_object: StackObject, name: str) -> StackObject:
    return replace(
        stack_object, properties={key: value for key, value in stack_object.properties.items() if key != name}
    )


def _rule(group: StackObject, number: int, rule: Mapping[str, Any]) -> StackObject:
    values = {name: rule.get(field) for field, name in _RULE_FIELDS.items()}
    return StackObject(f"{group.path}.rule_{number}", _RULE, rule["id"], values, rule)


def _is_attached(item: object) -> bool:
    """Return whether a disk is a volume that the server does not boot from."""
    return isinstance(item, dict) and bool(item.get("volume_id")) and str(item.get("boot_index")) != "0"


def _attachment(server: StackObject, number: int, volume: str) -> StackObject:
    values = {"instance_uuid": server.id, "volume_id": volume}
    return StackObject(f"{server.path}.volume_{number}", _ATTACHMENT, f"{server.id}/{volume}", values)


def disk(item: Mapping[str, object]) -> dict[str, Any]:
    """Return the arguments of a server's disk, which say from what it was made by a kind and an ID."""
    source = next((name for name in _SOURCES if item.get(name)), None)
    origin = {"source_type": "blank"} if source is None else {"uuid": item[source], "source_type": _SOURCES[source]}
    return {**origin, "destination_type": "volume", **{name: item[name] for name in _SAME if name in item}}


def by_name(stack_object: StackObject, attribute: str, value: Any) -> str:
    """Return the argument for what a server is made of: the one for names, if the stack has a name and no ID."""
    named = stack_object.type == _SERVER and isinstance(value, str) and not (is_distinct(value) or value.isdecimal())
    return _NAMED.get(attribute, attribute) if named else attribute
