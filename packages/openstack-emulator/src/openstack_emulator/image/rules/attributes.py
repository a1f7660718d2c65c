"""Attributes of images: names, JSON schemas, and who may set what.

The schemas are served at `/v2/schemas/image` and are what `check` holds values against. Everything else in an
image is a custom property: a string under a name of the user's choice.
"""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.errors import bad_request
from openstack_emulator.image.rules.validation import GLANCE, Schema, attribute, validator_of

UUID = "^([0-9a-fA-F]){8}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){4}-([0-9a-fA-F]){12}$"
VISIBILITIES = ("community", "public", "private", "shared")
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

_TEXT: Schema = {"type": "string"}
_READ_ONLY: Schema = {"readOnly": True}

WRITABLE: Mapping[str, Schema] = {
    "id": {"type": "string", "description": "An identifier for the image", "pattern": UUID},
    "name": {"type": ["null", "string"], "description": "Descriptive name for the image", "maxLength": 255},
    "visibility": {
        "type": "string",
        "description": "Scope of image accessibility",
        "enum": list(VISIBILITIES),
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


_IMAGE = validator_of({"properties": {**WRITABLE, **COMMON}, "additionalProperties": _TEXT})


def check(name: str, value: object) -> None:
    """400 when the value does not suit the attribute, or the custom property."""
    GLANCE.check("image", {name: value}, {name: attribute(name, _IMAGE)})
    if name in COUNTS and isinstance(value, int) and not 0 <= value <= LARGEST:
        problem = "Cannot be a negative value" if value < 0 else "Value is too large"
        raise bad_request(f"Invalid value '{value}' for parameter '{name}': {problem}")
