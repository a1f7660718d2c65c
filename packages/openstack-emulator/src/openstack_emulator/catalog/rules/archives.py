"""Package archives: ZIP files with a manifest, which describes the application."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import dataclass

import yaml

from openstack_emulator.core.errors import ApiError, bad_request

MAXIMUM_BYTES = 5 * 1024 * 1024
"""The largest archive in bytes, as in Murano's default configuration."""
_MAXIMUM_FILE_BYTES = 1024 * 1024
_FORMATS = ("MuranoPL", "Heat.HOT")
_TYPES = {"application": "Application", "library": "Library"}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*\Z")
_UI, _LOGO, _SUPPLIER_LOGO = "UI/ui.yaml", "logo.png", "supplier_logo.png"


@dataclass(frozen=True)
class Archive:
    """What a package says of itself."""

    full_name: str
    type: str
    name: str
    description: str
    author: str
    supplier: dict[str, object]
    tags: list[str]
    classes: list[str]


def read_archive(data: bytes) -> Archive:
    """Read the manifest of a package. Raises ApiError 400."""
    manifest = _manifest(data)
    full_name, kind = manifest.get("FullName"), manifest.get("Type")
    form = str(manifest.get("Format") or "MuranoPL/1.0").partition("/")[0]
    if form not in _FORMATS and not str(manifest.get("Format", "1.0"))[:1].isdigit():
        raise _broken(f"Unsupported format {manifest.get('Format')}")
    if not isinstance(full_name, str) or not _NAME.match(full_name):
        raise _broken("FullName must be a name in dotted notation")
    if not isinstance(kind, str) or kind.lower() not in _TYPES:
        raise _broken("Type must be Application or Library")
    classes = manifest.get("Classes") or {}
    tags = manifest.get("Tags") or []
    if not isinstance(classes, dict) or not all(isinstance(name, str) and _NAME.match(name) for name in classes):
        raise _broken("Classes must be a map from names of classes to files")
    if not isinstance(tags, list) or not all(isinstance(tag, str) for tag in tags):
        raise _broken("Tags must be a list of strings")
    supplier = manifest.get("Supplier") or {}
    # A package in the format Heat.HOT has one class, which is generated and has the name of the package.
    names = sorted(classes) or ([full_name] if form == "Heat.HOT" else [])
    return Archive(
        full_name,
        _TYPES[kind.lower()],
        str(manifest.get("Name") or full_name),
        str(manifest.get("Description") or ""),
        str(manifest.get("Author") or ""),
        supplier if isinstance(supplier, dict) else {},
        tags,
        names,
    )


def file_in(data: bytes, kind: str) -> bytes | None:
    """Return a file of a package that the manifest names: its `ui`, `logo` or `supplier_logo`; None without one."""
    manifest = _manifest(data)
    key, default = {"ui": ("UI", _UI), "logo": ("Logo", _LOGO), "supplier_logo": ("Supplier", _SUPPLIER_LOGO)}[kind]
    declared = manifest.get(key)
    if kind == "supplier_logo":
        declared = declared.get("Logo") if isinstance(declared, dict) else None
    name = declared if isinstance(declared, str) else default
    with _opened(data) as archive:
        for place in (name, f"UI/{name}"):
            if place in archive.namelist():
                return _read(archive, place)
    return None


def _manifest(data: bytes) -> dict[str, object]:
    with _opened(data) as archive:
        if "manifest.yaml" not in archive.namelist():
            raise _broken("There is no manifest.yaml")
        text = _read(archive, "manifest.yaml")
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, UnicodeDecodeError) as error:
        raise _broken(f"manifest.yaml is not valid YAML: {error}") from None
    if not isinstance(found, dict):
        raise _broken("manifest.yaml must be a map")
    return found


def _opened(data: bytes) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, OSError) as error:
        raise _broken(str(error)) from None


def _read(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return a file of an archive, without unpacking more than is allowed."""
    try:
        with archive.open(name) as file:
            data = file.read(_MAXIMUM_FILE_BYTES + 1)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, EOFError) as error:
        raise _broken(f"{name} cannot be read: {error}") from None
    if len(data) > _MAXIMUM_FILE_BYTES:
        raise _broken(f"{name} is too large")
    return data


def _broken(why: str) -> ApiError:
    return bad_request(f"Couldn't load package from file: {why}")
