"""Forms of values: what is wrong with a value, or None."""

from __future__ import annotations

import re
from typing import Any

from openstack_emulator.baremetal.rules.fields import Whole
from openstack_emulator.core import fields

BOOLEANS = "'0', '1', 'f', 'false', 'n', 'no', 'off', 'on', 't', 'true', 'y', 'yes'"
_NAME = re.compile(r"[A-Za-z0-9._~-]{1,255}\Z")
_OF_STEP = ("interface", "step", "args", "priority")
_TRAIT = re.compile(r"CUSTOM_[A-Z0-9_]{1,248}\Z")
_MAC = re.compile(r"([0-9a-f]{2}:){5}[0-9a-f]{2}\Z")


def not_a_trait(title: str, value: Any) -> str:
    """What is wrong with a name that is no trait."""
    return (
        f"Schema error for {title}: {value!r} is not valid under any of the given schemas. Possible root cause: "
        f"{value!r} does not match '^CUSTOM_[A-Z0-9_]+$'"
    )


def is_reference(key: str) -> bool:
    """Whether a key in a path can be that of an object: a UUID or a logical name."""
    return fields.identifier(key) is None or name_form(key) is None


def name_form(value: Any) -> str | None:
    """A logical name: a host name."""
    good = isinstance(value, str) and _NAME.match(value) is not None and fields.identifier(value) is not None
    return None if good else Whole(f"Cannot create {{title}} with invalid name '{value}'")


def mac_form(value: Any) -> str | None:
    """A MAC address, in either case."""
    good = isinstance(value, str) and _MAC.match(value.lower()) is not None
    return None if good else Whole(f"Expected valid MAC address for {{name}}: {value}")


def object_form(value: Any) -> str | None:
    """A JSON object."""
    return (
        None
        if isinstance(value, dict)
        else Whole(f"Schema error for {{title}}: {value!r} is not of type 'object', 'null'")
    )


def boolean_form(value: Any) -> str | None:
    """A boolean, or a word for one."""
    if fields.boolean(value) is None:
        return None
    return Whole(f"Invalid {{name}}: Unrecognized value '{value}', acceptable values are: {BOOLEANS}")


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
        return None if value.get("network_type") == "unmanaged" else "network_type must be unmanaged"
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


def template_name_form(value: Any) -> str | None:
    """The name of a deploy template: a trait of an operator's own."""
    good = isinstance(value, str) and _TRAIT.match(value) is not None
    return None if good else Whole(not_a_trait("template", value))


def steps_form(value: Any) -> str | None:
    """The steps of a deploy template: at least one of `{interface, step, args, priority}`."""
    if not isinstance(value, list):
        return f"{value!r} is not of type 'array'"
    if not value:
        return Whole("Schema error for template: [] should be non-empty")
    for step in value:
        if not isinstance(step, dict) or step.keys() != set(_OF_STEP):
            return f"{step!r} must be an object with interface, step, args and priority"
        interface, name, arguments, priority = (step.get(one) for one in _OF_STEP)
        if interface not in ("bios", "deploy", "firmware", "management", "power", "raid"):
            return f"{interface!r} is not an interface that has steps"
        if not isinstance(name, str) or not name or not isinstance(arguments, dict):
            return f"{step!r} must have a string as step and an object as args"
        number = None if isinstance(priority, bool) else fields.as_integer(priority)
        if number is None or number < 0:
            return f"{priority!r} is not a priority"
    return None
