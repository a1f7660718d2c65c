"""The kinds of objects of the bare-metal API, as data: their fields, and the microversions that brought them."""

from __future__ import annotations

from openstack_emulator.baremetal.rules.fields import Field, ObjectKind
from openstack_emulator.baremetal.rules.forms import (
    link_form,
    mac_form,
    name_form,
    object_form,
    steps_form,
    template_name_form,
)
from openstack_emulator.core.http import Version
from openstack_emulator.core.validation import fields

TIMESTAMP = "%Y-%m-%dT%H:%M:%S+00:00"
_TEXT = fields.text(0, 255)
_LONG = fields.text(0, 4096)
INTERFACES = {
    "bios": (1, 40), "boot": (1, 31), "console": (1, 31), "deploy": (1, 31), "inspect": (1, 31),
    "management": (1, 31), "network": (1, 20), "power": (1, 31), "raid": (1, 31), "rescue": (1, 38),
    "storage": (1, 33), "vendor": (1, 31),
}  # fmt: skip
"""Interfaces of a node's driver, and the microversions that brought them."""


def _map(since: Version = (1, 1)) -> Field:
    return Field(since, object_form, {})


def _times() -> dict[str, Field]:
    return {"created_at": Field(), "updated_at": Field()}


NODE = ObjectKind(
    "nodes",
    "node",
    {
        "uuid": Field(),
        "name": Field((1, 5), name_form),
        "driver": Field(check=_TEXT, required=True),
        "driver_info": _map(),
        "driver_internal_info": Field((1, 3)),
        "properties": _map(),
        "extra": _map(),
        "chassis_uuid": Field(check=_TEXT),
        "instance_uuid": Field(check=fields.identifier),
        "instance_info": _map(),
        "power_state": Field(),
        "target_power_state": Field(),
        "provision_state": Field(hidden=("available", (1, 2))),
        "target_provision_state": Field(hidden=("available", (1, 2))),
        "provision_updated_at": Field(),
        "last_error": Field(),
        "reservation": Field(),
        "maintenance": Field(check=fields.boolean, default=False),
        "maintenance_reason": Field(),
        "console_enabled": Field(),
        "inspection_finished_at": Field((1, 6)),
        "inspection_started_at": Field((1, 6)),
        "clean_step": Field((1, 7)),
        "raid_config": Field((1, 12)),
        "target_raid_config": Field((1, 12)),
        "resource_class": Field((1, 21), fields.text(0, 80)),
        **{f"{name}_interface": Field(since, _TEXT) for name, since in INTERFACES.items()},
        "traits": Field((1, 37)),
        "fault": Field((1, 42)),
        "deploy_step": Field((1, 44)),
        "conductor_group": Field((1, 46), _TEXT, ""),
        "automated_clean": Field((1, 47), fields.boolean),
        "protected": Field((1, 48), fields.boolean, False),
        "protected_reason": Field((1, 48), _LONG),
        "conductor": Field((1, 49)),
        "owner": Field((1, 50), _TEXT),
        "description": Field((1, 51), _LONG),
        "allocation_uuid": Field((1, 52)),
        "retired": Field((1, 61), fields.boolean, False),
        "retired_reason": Field((1, 61), _LONG),
        "lessee": Field((1, 65), _TEXT),
        "network_data": _map((1, 66)),
        "boot_mode": Field((1, 75)),
        "secure_boot": Field((1, 75)),
        **_times(),
    },
    ("uuid", "name", "instance_uuid", "power_state", "provision_state", "maintenance"),
    {"ports": (1, 1), "states": (1, 14), "portgroups": (1, 24), "volume": (1, 32)},
)


PORT = ObjectKind(
    "ports",
    "port",
    {
        "uuid": Field(),
        "node_uuid": Field(check=_TEXT, required=True),
        "address": Field(check=mac_form, required=True),
        "extra": _map(),
        "internal_info": Field((1, 18)),
        "pxe_enabled": Field((1, 19), fields.boolean, True),
        "local_link_connection": Field((1, 19), link_form, {}),
        "portgroup_uuid": Field((1, 24), _TEXT),
        "physical_network": Field((1, 34), fields.text(0, 64)),
        "is_smartnic": Field((1, 53), fields.boolean, False),
        **_times(),
    },
    ("uuid", "address"),
)
PORT_GROUP = ObjectKind(
    "portgroups",
    "portgroup",
    {
        "uuid": Field(),
        "node_uuid": Field(check=_TEXT, required=True),
        "name": Field(check=name_form),
        "address": Field(check=mac_form),
        "extra": _map(),
        "internal_info": Field(),
        "standalone_ports_supported": Field(check=fields.boolean, default=True),
        "mode": Field((1, 26), _TEXT, "active-backup"),
        "properties": _map((1, 26)),
        **_times(),
    },
    ("uuid", "name", "address"),
    {"ports": (1, 24)},
)
CHASSIS = ObjectKind(
    "chassis",
    "chassis",
    {"uuid": Field(), "description": Field(check=fields.text(0, 255)), "extra": _map(), **_times()},
    ("uuid", "description"),
)
ALLOCATION = ObjectKind(
    "allocations",
    "allocation",
    {
        "uuid": Field(),
        "name": Field(check=name_form),
        "node": Field((1, 58), _TEXT, write_only=True),
        "node_uuid": Field(),
        "state": Field(),
        "last_error": Field(),
        "resource_class": Field(check=_TEXT),
        "traits": Field(check=fields.items(_TEXT), default=[]),
        "candidate_nodes": Field(check=fields.items(_TEXT), default=[]),
        "extra": _map(),
        "owner": Field((1, 60), _TEXT),
        **_times(),
    },
    ("uuid", "name", "node_uuid", "state", "resource_class", "owner"),
    schema="",
)


VOLUME_CONNECTOR = ObjectKind(
    "volume/connectors",
    "volume connector",
    {
        "uuid": Field(),
        "node_uuid": Field(check=_TEXT, required=True),
        "type": Field(check=fields.one_of("iqn", "ip", "mac", "wwnn", "wwpn", "port", "portgroup"), required=True),
        "connector_id": Field(check=fields.text(1, 255), required=True),
        "extra": _map(),
        **_times(),
    },
    ("uuid", "node_uuid", "type", "connector_id"),
)
VOLUME_TARGET = ObjectKind(
    "volume/targets",
    "volume target",
    {
        "uuid": Field(),
        "node_uuid": Field(check=_TEXT, required=True),
        "volume_type": Field(check=fields.text(1, 64), required=True),
        "boot_index": Field(check=fields.integer(0), required=True),
        "volume_id": Field(check=fields.text(1, 36), required=True),
        "properties": _map(),
        "extra": _map(),
        **_times(),
    },
    ("uuid", "node_uuid", "volume_type", "boot_index", "volume_id"),
)
DEPLOY_TEMPLATE = ObjectKind(
    "deploy_templates",
    "deploy template",
    {
        "uuid": Field(),
        "name": Field(check=template_name_form, required=True),
        "steps": Field(check=steps_form, required=True),
        "extra": _map(),
        **_times(),
    },
    ("uuid", "name"),
    schema="template",
)
