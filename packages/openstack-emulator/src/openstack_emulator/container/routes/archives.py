"""Files in containers: tar archives that clients put in, and fetch again, path by path."""

from __future__ import annotations

import base64
import binascii
import io
import posixpath
import tarfile
from collections.abc import Mapping

from openstack_emulator.container.records import Container
from openstack_emulator.container.routes.containers import container_of
from openstack_emulator.container.rules.composition import SingleContainers
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Request, Response, Version
from openstack_emulator.core.objects import writer

ENCODED: Version = (1, 25)
"""Since this microversion, archives are in Base64; before it, each character of a string is a byte."""
LARGEST = 1 << 20
"""Bytes of all files of a container."""
DIRECTORIES = ("/", "/bin", "/etc", "/home", "/opt", "/root", "/srv", "/tmp", "/usr", "/var")  # noqa: S108
"""What every container has, and into which archives can be put; those of archives are directories too."""


def put(service: SingleContainers, request: Request) -> Response:
    """Unpack an archive into a directory of a container. Raises ApiError 400, 404, 409."""
    writer(request)
    container = container_of(service, request)
    service.containers.require_state(container, "put_archive")
    place, body = _path(request), request.json
    data = body.get("data") if isinstance(body, dict) and len(body) == 1 else None
    if not isinstance(data, str):
        raise bad_request("The request body must be a JSON object with the string data.")
    files = _files(container)
    if place not in DIRECTORIES and not any(name.startswith(f"{place}/") for name in files):
        raise not_found(f"Directory {place} not found in container {container.id}")
    found = {**files, **_unpacked(place, _decoded(data, request.version))}
    if sum(map(len, found.values())) > LARGEST:
        raise bad_request(f"The files of an emulated container may have {LARGEST} bytes in all.")
    container.files = {name: base64.b64encode(data).decode() for name, data in found.items()}
    service.containers.rows.save(container)
    return Response(status=200)


def get(service: SingleContainers, request: Request) -> Response:
    """Return an archive with a file, or with a directory that has files. Raises ApiError 404, 409."""
    container = container_of(service, request)
    service.containers.require_state(container, "get_archive")
    place = _path(request)
    files = _files(container)
    entries = {name: data for name, data in files.items() if name == place or name.startswith(f"{place.rstrip('/')}/")}
    if not entries:
        raise not_found(f"Resource {place} not found in container {container.id}")
    stat = {
        "name": posixpath.basename(place),
        "size": len(files.get(place, b"")),
        "mode": 0o644 if place in files else 0o755,
        "mtime": container.created_at,
        "linkTarget": "",
    }
    return Response({"data": _encoded(_packed(place, entries), request.version), "stat": stat})


def _path(request: Request) -> str:
    path = request.query.get("path") or ""
    if not path.startswith("/"):
        raise bad_request("The query must have 'path', which is absolute.")
    return posixpath.normpath(f"/{path.lstrip('/')}")


def _files(container: Container) -> dict[str, bytes]:
    """Return the content of a container's files by path."""
    return {name: base64.b64decode(data) for name, data in container.files.items()}


def _decoded(data: str, version: Version) -> bytes:
    try:
        return base64.b64decode(data, validate=True) if version >= ENCODED else data.encode("latin-1")
    except (binascii.Error, UnicodeEncodeError, ValueError):
        raise bad_request("Invalid input for field 'data'. It is not an encoded archive.") from None


def _encoded(data: bytes, version: Version) -> str:
    return base64.b64encode(data).decode() if version >= ENCODED else data.decode("latin-1")


def _unpacked(place: str, archive: bytes) -> dict[str, bytes]:
    """Return the files of an archive by their path in the container, which is below `place`. Raises ApiError 400."""
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as packed:
            for member in packed:
                content = packed.extractfile(member) if member.isfile() else None
                if content is not None:
                    inside = posixpath.normpath(f"/{member.name}").lstrip("/")
                    found[posixpath.join(place, inside)] = content.read(LARGEST + 1)
                if sum(map(len, found.values())) > LARGEST:
                    raise bad_request(f"The files of an emulated container may have {LARGEST} bytes in all.")
    except tarfile.TarError as error:
        raise bad_request(f"Invalid input for field 'data'. It is not a tar archive: {error}") from None
    return found


def _packed(place: str, files: Mapping[str, bytes]) -> bytes:
    """Return an archive of files; their names begin with the last part of `place`."""
    written = io.BytesIO()
    above = posixpath.dirname(place)
    with tarfile.open(fileobj=written, mode="w") as packed:
        for name, data in sorted(files.items()):
            member = tarfile.TarInfo(posixpath.relpath(name, above))
            member.size = len(data)
            packed.addfile(member, io.BytesIO(data))
    return written.getvalue()
