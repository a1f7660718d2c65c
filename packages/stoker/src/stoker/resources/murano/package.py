"""OS::Murano::Package"""

from __future__ import annotations

import base64
import binascii
import io
import zipfile
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

import yaml

from stoker.base.errors import BadValue
from stoker.base.json_text import dumps
from stoker.plugins.exclusion import Exclusion
from stoker.plugins.outcome import Outcome
from stoker.plugins.recovery import Recovery, RecoveryMethod
from stoker.plugins.resource import Call
from stoker.resources.base import Collection, RestResource, found_well, unrecorded
from stoker.resources.declare import length
from stoker.resources.wire import NOT_SENT, to_wire, without_nulls
from stoker.schema.live import never
from stoker.schema.property import Attribute, Change, Property, Type
from stoker.schema.unknown import has_unknown, is_unknown

SERVICE = "murano"
_MANIFEST = "manifest.yaml"
_LARGEST_MANIFEST = 1024 * 1024
_PATCH = {"Content-Type": "application/murano-packages-json-patch"}
_NEVER = (1980, 1, 1, 0, 0, 0)
"""The modification time of files in archives, so that equal files make equal archives."""


def _words(description: str, reference: str | None = None) -> Property:
    item = (
        Property(description="One of them.", reference=reference) if reference else Property(description="One of them.")
    )
    return Property(Type.LIST, description, change=Change.UPDATE, items=item)


def _have_same_name(properties: Mapping[str, object], replacement: Mapping[str, object]) -> bool:
    """Return whether two packages have the same full name. The replacement's may not be known yet."""
    if has_unknown(replacement):
        return True
    return _full_name(_packed(properties)) == _full_name(_packed(replacement))


class Package(RestResource):
    """A package. Its full name, in the manifest, can occur once in a project.

    Therefore a package is deleted before its replacement with the same full name is uploaded.
    """

    type_name = "OS::Murano::Package"
    description = "A package of the application catalog (Murano). Heat has no such type."
    collection = Collection(
        SERVICE, "/catalog/packages", members="packages", created_field="created", owner=None, filters_names=False
    )
    identity = None
    exclusion = Exclusion(_have_same_name)
    recovery = Recovery(
        RecoveryMethod.NAME,
        "The project has one package with a full name. It must have been uploaded since the action began, have the "
        "requested properties, and belong to no other resource.",
    )

    properties = {
        "files": Property(
            Type.MAP,
            "The files of the package: their contents by their paths, among them `manifest.yaml`.",
            wire=NOT_SENT,
            live=never("the contents of the package are not compared"),
        ),
        "archive": Property(
            description="The package as a ZIP archive in base64; this is what `get_file` returns for binary files.",
            wire=NOT_SENT,
            live=never("the contents of the package are not compared"),
        ),
        "name": Property(
            description="Name for users; by default that of the manifest.",
            change=Change.UPDATE,
            constraints=length(1, 80),
        ),
        "description": Property(description="Description; by default that of the manifest.", change=Change.UPDATE),
        "categories": _words("Names of the categories that the package is in.", "murano.category"),
        "tags": _words("Tags by which the package can be found; by default those of the manifest."),
        "is_public": Property(
            Type.BOOLEAN,
            "Whether all projects can use the package. By default only administrators may publish packages.",
            default=False,
            change=Change.UPDATE,
        ),
        "enabled": Property(Type.BOOLEAN, "Whether the package can be deployed.", default=True, change=Change.UPDATE),
    }
    attributes = {
        "name": Attribute("Name for users.", Type.STRING),
        "fully_qualified_name": Attribute("Full name of the package.", Type.STRING),
        "type": Attribute("Type of the package: Application or Library.", Type.STRING),
        "author": Attribute("Author of the package.", Type.STRING),
        "class_definitions": Attribute("Names of the classes that the package defines.", Type.LIST),
        "owner_id": Attribute("ID of the project that the package belongs to.", Type.STRING),
        "created": Attribute("When the package was uploaded.", Type.STRING),
        "updated": Attribute("When the package was last changed.", Type.STRING),
    }

    def validate(self, properties: Mapping[str, object]) -> Iterable[str]:
        files, archive = properties["files"], properties["archive"]
        if _is_given(files) == _is_given(archive):
            yield "exactly one of the properties files and archive is required"
        elif not has_unknown(files) and not is_unknown(archive):
            try:
                _full_name(_packed(properties))
            except BadValue as error:
                yield error.message

    # -- creating and updating ------------------------------------------------------------------------------------

    async def create_body(self, call: Call) -> dict[str, object]:
        """Return the fields of the form; Murano requires categories."""
        body = without_nulls(to_wire(self.properties, call.properties))
        return {"categories": [], **body}

    async def begin(self, call: Call) -> dict[str, Any]:
        data = _packed(call.properties)
        boundary = f"stoker-{sha256(data).hexdigest()}"
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="JsonString"\r\n'
            "Content-Type: application/json\r\n\r\n"
        )
        middle = (
            f'\r\n--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="package.zip"\r\n'
            "Content-Type: application/octet-stream\r\nContent-Transfer-Encoding: binary\r\n\r\n"
        )
        body = head.encode() + dumps(await self.create_body(call)) + middle.encode() + data
        answer = await call.cloud.request(
            "POST",
            SERVICE,
            self.collection.path,
            data=body + f"\r\n--{boundary}--\r\n".encode(),
            headers={"Content-Type": f"multipart/form-data; boundary={boundary}"},
        )
        return self.collection.unwrap(answer.body)

    async def find(self, call: Call) -> str | None:
        body = await self.create_body(call)
        listed = await self._packages_of_name(call)
        found = [str(item["id"]) for item in listed if self.made_by(call, body, item)]
        return min(await unrecorded(call, found), default=None)

    async def _packages_of_name(self, call: Call) -> list[dict[str, object]]:
        """Return the packages of the project with the full name, which are one at the most."""
        name = _full_name(_packed(call.properties))
        query = {"fqn": name, "owned": "true", "include_disabled": "true"}
        listed = await call.cloud.list(SERVICE, self.collection.path, self.collection.members, query)
        return [item for item in listed if item["fully_qualified_name"] == name]

    async def send_update(self, call: Call, body: Mapping[str, object]) -> dict[str, object]:
        """Replace the changed fields; one that was removed from the template gets its default again."""
        defaults: dict[str, object] = {"categories": [], "tags": [], **_named_in(_manifest(_packed(call.properties)))}
        operations = [
            {"op": "replace", "path": f"/{name}", "value": defaults[name] if value is None else value}
            for name, value in body.items()
        ]
        answer = await call.cloud.request(
            "PATCH", SERVICE, self.member_path(call), data=dumps(operations), headers=dict(_PATCH)
        )
        return self.collection.unwrap(answer.body)

    async def check(self, call: Call) -> Outcome:
        return await found_well(self, call)

    # -- replacing ------------------------------------------------------------------------------------------------


def _is_given(value: object) -> bool:
    """Return whether a property has a value; an unknown one will have."""
    return is_unknown(value) or bool(value)


def _packed(properties: Mapping[str, Any]) -> bytes:
    """Return the archive of a package. Raises BadValue."""
    if properties["archive"]:
        try:
            return base64.b64decode("".join(str(properties["archive"]).split()), validate=True)
        except (binascii.Error, ValueError) as error:
            raise BadValue(f"archive: the value must be a ZIP archive in base64: {error}") from None
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in sorted(properties["files"].items()):
            if not isinstance(content, str):
                raise BadValue(f"files: the content of {path} must be a string")
            archive.writestr(zipfile.ZipInfo(path, _NEVER), content)
    return made.getvalue()


def _manifest(data: bytes) -> dict[str, object]:
    """Return the manifest of a package. Raises BadValue."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive, archive.open(_MANIFEST) as file:
            text = file.read(_LARGEST_MANIFEST + 1)
        found = yaml.safe_load(text) if len(text) <= _LARGEST_MANIFEST else None
    except KeyError:
        raise BadValue(f"The package has no {_MANIFEST}.") from None
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError, ValueError) as error:
        raise BadValue(f"The package is not a valid ZIP archive: {error}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise BadValue(f"{_MANIFEST} in the package is not valid YAML: {error}") from None
    if not isinstance(found, dict) or not isinstance(found.get("FullName"), str):
        raise BadValue(f"{_MANIFEST} in the package must be a map with the string FullName, of 1 MiB at the most.")
    return found


def _full_name(data: bytes) -> str:
    """Return the full name of a package. Raises BadValue."""
    return str(_manifest(data)["FullName"])


def _named_in(manifest: Mapping[str, object]) -> dict[str, Any]:
    """Return the fields that a manifest gives if the template does not."""
    found = {
        "name": str(manifest.get("Name") or manifest["FullName"]),
        "description": str(manifest.get("Description") or ""),
    }
    return {**found, "tags": manifest["Tags"]} if isinstance(manifest.get("Tags"), list) else found
