"""The kinds of objects of the bare-metal API, as data: their fields, and the microversions that brought them."""

from __future__ import annotations

import re
from typing import Any

from openstack_emulator.baremetal.http import (
    Field,
    Kind,
    Whole,
    boolean_form,
    mac_form,
    name_form,
    not_a_trait,
    object_form,
)
from openstack_emulator.core import fields
from openstack_emulator.core.http import Version

_TEXT = fields.text(0, 255)
_LONG = fields.text(0, 4096)
_CUSTOM_TRAIT = re.compile(r"CUSTOM_[A-Z0-9_]{1,248}\Z")
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


NODE = Kind(
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
        "maintenance": Field(check=boolean_form, default=False),
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
        "automated_clean": Field((1, 47), boolean_form),
        "protected": Field((1, 48), boolean_form, False),
        "protected_reason": Field((1, 48), _LONG),
        "conductor": Field((1, 49)),
        "owner": Field((1, 50), _TEXT),
        "description": Field((1, 51), _LONG),
        "allocation_uuid": Field((1, 52)),
        "retired": Field((1, 61), boolean_form, False),
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


def link_form(value: Any) -> str | None:
    """Where a port is connected: to a port of a switch, of a smart NIC, or of a network without management."""
    if not isinstance(value, dict):
        return f"{value!r} is not of type 'object'"
    for name, part in value.items():
        if not isinstance(part, str):
            return f"{name}: {part!r} is not of type 'string'"
    names = set(value)
    if not names:
        return None
    if names == {"network_type"}:
        return None if value["network_type"] == "unmanaged" else "network_type must be unmanaged"
    switch, smart = {"switch_id", "port_id"}, {"hostname", "port_id"}
    known = {"switch_id", "port_id", "switch_info", "network_type", "hostname"}
    if not names <= known:
        return f"unknown keys {', '.join(sorted(names - known))}"
    if not (switch <= names or smart <= names):
        return "missing mandatory keys: switch_id and port_id, or hostname and port_id"
    identifier = value.get("switch_id")
    if identifier is not None and mac_form(identifier) is not None and not _datapath(identifier):
        return f"switch_id: Expected a MAC address or OpenFlow datapath ID but received {identifier}."
    return None


def _datapath(value: str) -> bool:
    return len(value) == 16 and all(character in "0123456789abcdefABCDEF" for character in value)


PORT = Kind(
    "ports",
    "port",
    {
        "uuid": Field(),
        "node_uuid": Field(check=_TEXT, required=True),
        "address": Field(check=mac_form, required=True),
        "extra": _map(),
        "internal_info": Field((1, 18)),
        "pxe_enabled": Field((1, 19), boolean_form, True),
        "local_link_connection": Field((1, 19), link_form, {}),
        "portgroup_uuid": Field((1, 24), _TEXT),
        "physical_network": Field((1, 34), fields.text(0, 64)),
        "is_smartnic": Field((1, 53), boolean_form, False),
        **_times(),
    },
    ("uuid", "address"),
)
PORT_GROUP = Kind(
    "portgroups",
    "portgroup",
    {
        "uuid": Field(),
        "node_uuid": Field(check=_TEXT, required=True),
        "name": Field(check=name_form),
        "address": Field(check=mac_form),
        "extra": _map(),
        "internal_info": Field(),
        "standalone_ports_supported": Field(check=boolean_form, default=True),
        "mode": Field((1, 26), _TEXT, "active-backup"),
        "properties": _map((1, 26)),
        **_times(),
    },
    ("uuid", "name", "address"),
    {"ports": (1, 24)},
)
CHASSIS = Kind(
    "chassis",
    "chassis",
    {"uuid": Field(), "description": Field(check=fields.text(0, 255)), "extra": _map(), **_times()},
    ("uuid", "description"),
)
ALLOCATION = Kind(
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


def template_name_form(value: Any) -> str | None:
    """The name of a deploy template: a trait of an operator's own."""
    good = isinstance(value, str) and _CUSTOM_TRAIT.match(value) is not None
    return None if good else Whole(not_a_trait("template", value))


def steps_form(value: Any) -> str | None:
    """The steps of a deploy template: at least one of `{interface, step, args, priority}`."""
    if not isinstance(value, list):
        return f"{value!r} is not of type 'array'"
    if not value:
        return Whole("Schema error for template: [] should be non-empty")
    for step in value:
        if not isinstance(step, dict) or step.keys() != {"interface", "step", "args", "priority"}:
            return f"{step!r} must be an object with interface, step, args and priority"
        priority = step["priority"]
        if step["interface"] not in ("bios", "deploy", "firmware", "management", "power", "raid"):
            return f"{step['interface']!r} is not an interface that has steps"
        if not isinstance(step["step"], str) or not step["step"] or not isinstance(step["args"], dict):
            return f"{step!r} must have a string as step and an object as args"
        if isinstance(priority, bool) or fields.as_integer(priority) is None or int(priority) < 0:
            return f"{priority!r} is not a priority"
    return None


VOLUME_CONNECTOR = Kind(
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
VOLUME_TARGET = Kind(
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
DEPLOY_TEMPLATE = Kind(
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
)
