"""Attributes of images: names, JSON schemas, and who may set what.

The schemas are served at `/v2/schemas/image` and are what `check` holds values against. Everything else in an
image is a custom property: a string under a name of the user's choice.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pprint import pformat
from textwrap import indent
from typing import Any

from openstack_emulator.core.errors import bad_request

UUID = "^([0-9a-fA-F]){8}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){12}$"
STATUSES = (
    "queued",
    "saving",
    "active",
    "killed",
    "deleted",
    "uploading",
    "importing",
    "pending_delete",
    "deactivated",
)

Schema = Mapping[str, Any]
_TEXT: Schema = {"type": "string"}
_READ_ONLY = {"readOnly": True}

WRITABLE: Mapping[str, Schema] = {
    "id": {"type": "string", "description": "An identifier for the image", "pattern": UUID},
    "name": {"type": ["null", "string"], "description": "Descriptive name for the image", "maxLength": 255},
    "visibility": {
        "type": "string",
        "description": "Scope of image accessibility",
        "enum": ["community", "public", "private", "shared"],
    },
    "protected": {"type": "boolean", "description": "If true, image will not be deletable."},
    "os_hidden": {"type": "boolean", "description": "If true, image will not appear in default image list response."},
    "owner": {"type": ["null", "string"], "description": "Owner of the image", "maxLength": 255},
    "tags": {
        "type": "array",
        "description": "List of strings related to the image",
        "items": {"type": "string", "maxLength": 255},
    },
    "container_format": {
        "type": ["null", "string"],
        "description": "Format of the container",
        "enum": [None, "ami", "ari", "aki", "bare", "ovf", "ova", "docker", "compressed"],
    },
    "disk_format": {
        "type": ["null", "string"],
        "description": "Format of the disk",
        "enum": [None, "ami", "ari", "aki", "vhd", "vhdx", "vmdk", "raw", "qcow2", "vdi", "iso", "ploop"],
    },
    "min_disk": {
        "type": "integer",
        "description": "Amount of disk space (in GB) required to boot image.",
    },
    "min_ram": {
        "type": "integer",
        "description": "Amount of ram (in MB) required to boot image.",
    },
}
COMPUTED: Mapping[str, Schema] = {
    "status": {"type": "string", "description": "Status of the image", "enum": list(STATUSES), **_READ_ONLY},
    "checksum": {"type": ["null", "string"], "description": "md5 hash of image contents.", **_READ_ONLY},
    "os_hash_algo": {
        "type": ["null", "string"],
        "description": "Algorithm to calculate the os_hash_value",
        **_READ_ONLY,
    },
    "os_hash_value": {"type": ["null", "string"], "description": "Hexdigest of the image contents", **_READ_ONLY},
    "size": {"type": ["null", "integer"], "description": "Size of image file in bytes", **_READ_ONLY},
    "virtual_size": {"type": ["null", "integer"], "description": "Virtual size of image in bytes", **_READ_ONLY},
    "created_at": {"type": "string", "description": "Date and time of image registration", **_READ_ONLY},
    "updated_at": {"type": "string", "description": "Date and time of the last image modification", **_READ_ONLY},
    "direct_url": {
        "type": "string",
        "description": "URL to access the image file kept in external store",
        **_READ_ONLY,
    },
    "stores": {"type": "string", "description": "Stores in which image data resides", **_READ_ONLY},
    "self": {"type": "string", "description": "An image self url", **_READ_ONLY},
    "file": {"type": "string", "description": "An image file url", **_READ_ONLY},
    "schema": {"type": "string", "description": "An image schema url", **_READ_ONLY},
}
LOCATIONS: Schema = {"type": "array", "description": "A set of URLs to access the image file kept in external store"}
COMMON: Mapping[str, Schema] = {
    "architecture": {"type": "string", "description": "Operating system architecture", "is_base": False},
    "kernel_id": {
        "type": ["null", "string"],
        "description": "ID of the kernel image",
        "pattern": UUID,
        "is_base": False,
    },
    "ramdisk_id": {
        "type": ["null", "string"],
        "description": "ID of the ramdisk image",
        "pattern": UUID,
        "is_base": False,
    },
    "os_distro": {"type": "string", "description": "Common name of the operating system", "is_base": False},
    "os_version": {"type": "string", "description": "Operating system version", "is_base": False},
    "instance_uuid": {"type": "string", "description": "Instance this image was made of", "is_base": False},
}
COUNTS = frozenset({"min_disk", "min_ram"})
LARGEST = 2**31 - 1
"""What the columns of the counts can hold."""
RESERVED = frozenset({"location", "deleted", "deleted_at"})
RESERVED_PREFIX = "os_glance"
BASE = frozenset({*WRITABLE, *COMPUTED, "locations"})
"""Attributes that cannot be removed."""

_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "boolean": bool,
    "integer": int,
    "number": (int, float),
    "object": dict,
    "array": list,
    "null": type(None),
}


def check(name: str, value: Any) -> None:
    """400 when the value does not suit the attribute, or the custom property."""
    schema = WRITABLE.get(name) or COMMON.get(name)
    if schema is None:
        _validate("image", ["additionalProperties"], [name], value, _TEXT)
    else:
        check_value(name, value, schema)
    if name in COUNTS and not 0 <= value <= LARGEST:
        problem = "Cannot be a negative value" if value < 0 else "Value is too large"
        raise bad_request(f"Invalid value '{value}' for parameter '{name}': {problem}")


def check_value(name: str, value: Any, schema: Schema, kind: str = "image") -> None:
    """400 when the value does not suit the schema. kind: what the message calls the whole."""
    _validate(kind, ["properties", name], [name], value, schema)


Place = list[str | int]
"""The keys that lead to a part of a schema or of a value."""


def _validate(kind: str, place: Place, at: Place, value: Any, schema: Schema) -> None:
    if (found := _violated(value, schema)) is not None:
        keyword, problem = found
        raise bad_request(
            f"Provided object does not match schema '{kind}': {problem}\n\n"
            f"Failed validating {keyword!r} in schema{_keys(place)}:\n{_printed(schema)}\n\n"
            f"On instance{_keys(at)}:\n{_printed(value)}"
        )
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            _validate(kind, [*place, "items"], [*at, number], item, schema["items"])


def _violated(value: Any, schema: Schema) -> tuple[str, str] | None:
    """The first keyword of the schema that does not hold for the value itself, and how; None if all do."""
    kinds = schema.get("type", ())
    kinds = kinds if isinstance(kinds, list | tuple) else [kinds]
    if kinds and not any(_is(value, one) for one in kinds):
        return "type", f"{value!r} is not of type {', '.join(repr(one) for one in kinds)}"
    if "enum" in schema and value not in schema["enum"]:
        return "enum", f"{value!r} is not one of {schema['enum']}"
    if isinstance(value, str):
        if len(value) > schema.get("maxLength", 65535):
            return "maxLength", f"{value!r} is too long"
        if "pattern" in schema and re.match(schema["pattern"], value) is None:
            return "pattern", f"{value!r} does not match {schema['pattern']!r}"
    elif isinstance(value, int | float) and "minimum" in schema:
        if value < schema["minimum"]:
            return "minimum", f"{value!r} is less than the minimum of {schema['minimum']}"
        if value > schema["maximum"]:
            return "maximum", f"{value!r} is greater than the maximum of {schema['maximum']}"
    return None


def _keys(place: Place) -> str:
    return "".join(f"[{key!r}]" for key in place)


def _printed(value: Any) -> str:
    """A value in the indented form of these messages."""
    return indent(pformat(value, width=72, sort_dicts=False), "    ")


def _is(value: Any, kind: str) -> bool:
    if kind in ("integer", "number") and isinstance(value, bool):
        return False
    return isinstance(value, _TYPES[kind])
