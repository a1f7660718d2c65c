"""Forms of values: what is wrong with a value, or None."""

from __future__ import annotations

import re

from openstack_emulator.baremetal.rules.fields import MAC, NAME, STEPS, TRAIT
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_integer
from openstack_emulator.core.validation.problems import Problem, Reason, specific, wrong_type

_NAME = re.compile(r"[A-Za-z0-9._~-]{1,255}\Z")
_STEP_KEYS = ("interface", "step", "args", "priority")
_LINK_KEYS = frozenset({"switch_id", "port_id", "switch_info", "network_type", "hostname"})
_SWITCH_PORT_KEYS = frozenset({"switch_id", "port_id"})
_SMART_NIC_KEYS = frozenset({"hostname", "port_id"})
_INTERFACES_WITH_STEPS = ("bios", "deploy", "firmware", "management", "power", "raid")
_TRAIT = re.compile(r"CUSTOM_[A-Z0-9_]{1,248}\Z")
_MAC = re.compile(r"([0-9a-f]{2}:){5}[0-9a-f]{2}\Z")


def is_reference(key: str) -> bool:
    """Whether a key in a path can be that of an object: a UUID or a logical name."""
    return fields.identifier(key) is None or name_form(key) is None


def name_form(value: object) -> Problem | None:
    """A logical name: a host name."""
    valid = isinstance(value, str) and _NAME.match(value) is not None and fields.identifier(value) is not None
    return None if valid else Problem(Reason.FORMAT, value, NAME)


def mac_form(value: object) -> Problem | None:
    """A MAC address, in either case."""
    valid = isinstance(value, str) and _MAC.match(value.lower()) is not None
    return None if valid else Problem(Reason.FORMAT, value, MAC)


def object_form(value: object) -> Problem | None:
    """A JSON object."""
    return None if isinstance(value, dict) else wrong_type(value, "object", "null")


def link_form(value: object) -> Problem | None:
    """Where a port is connected: to a port of a switch, of a smart NIC, or of a network without management."""
    if not isinstance(value, dict):
        return specific(value, f"{value!r} is not of type 'object'")
    for name, entry in value.items():
        if not isinstance(entry, str):
            return specific(entry, f"{name}: {entry!r} is not of type 'string'")
    names = set(value)
    if not names:
        return None
    if names == {"network_type"}:
        return None if value.get("network_type") == "unmanaged" else specific(value, "network_type must be unmanaged")
    if unknown := names - _LINK_KEYS:
        return specific(value, f"unknown keys {', '.join(sorted(unknown))}")
    if not any(required <= names for required in (_SWITCH_PORT_KEYS, _SMART_NIC_KEYS)):
        return specific(value, "missing mandatory keys: switch_id and port_id, or hostname and port_id")
    switch_id = value.get("switch_id")
    if switch_id is not None and mac_form(switch_id) is not None and not _is_datapath_id(switch_id):
        return specific(value, f"switch_id: Expected a MAC address or OpenFlow datapath ID but received {switch_id}.")
    return None


def _is_datapath_id(value: str) -> bool:
    return len(value) == 16 and all(character in "0123456789abcdefABCDEF" for character in value)


def template_name_form(value: object) -> Problem | None:
    """The name of a deploy template: a trait of an operator's own."""
    valid = isinstance(value, str) and _TRAIT.match(value) is not None
    return None if valid else Problem(Reason.FORMAT, value, TRAIT)


def steps_form(value: object) -> Problem | None:
    """The steps of a deploy template: at least one of `{interface, step, args, priority}`."""
    if not isinstance(value, list):
        return wrong_type(value, "array")
    if not value:
        return Problem(Reason.FORMAT, value, STEPS)
    return next((problem for step in value if (problem := _step_form(step)) is not None), None)


def _step_form(step: object) -> Problem | None:
    if not isinstance(step, dict) or step.keys() != set(_STEP_KEYS):
        return specific(step, f"{step!r} must be an object with interface, step, args and priority")
    interface, name, arguments, priority = (step.get(key) for key in _STEP_KEYS)
    if interface not in _INTERFACES_WITH_STEPS:
        return specific(interface, f"{interface!r} is not an interface that has steps")
    if not isinstance(name, str) or not name or not isinstance(arguments, dict):
        return specific(step, f"{step!r} must have a string as step and an object as args")
    number = None if isinstance(priority, bool) else as_integer(priority)
    if number is None or number < 0:
        return specific(priority, f"{priority!r} is not a priority")
    return None
