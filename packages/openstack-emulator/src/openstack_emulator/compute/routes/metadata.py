"""The metadata service: who asks, and what the path means.

A guest that runs in the cloud is known by the socket at which it asks. Others are identified by their source address,
or, if a proxy asks for them, by headers whose signature proves that the proxy knows the shared secret, as Neutron's
metadata agents send them.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import orjson

from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.rules.metadata import (
    CONTENT,
    DOCUMENTS,
    EC2_VERSIONS,
    LABEL,
    LATEST,
    OPENSTACK_VERSIONS,
    PASSWORD,
    PASSWORD_SINCE,
    Guest,
    ec2_tree,
    folder,
)
from openstack_emulator.compute.rules.metadata_service import MetadataService
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Request, Response
from openstack_emulator.network.rules.composition import NetworkService

INSTANCE, PROJECT, SIGNATURE = "x-instance-id", "x-tenant-id", "x-instance-id-signature"
LONGEST_PASSWORD = 4 * 255
_TEXT = {"Content-Type": "text/plain; charset=utf-8"}
_JSON = {"Content-Type": "application/json"}


def signature_of(instance_id: str, secret: bytes) -> str:
    """Return the signature that a proxy sends with the ID of an instance."""
    return hmac.new(secret, instance_id.encode(errors="surrogateescape"), sha256).hexdigest()


def _refusal(status: int, message: str) -> ApiError:
    return ApiError(status, message, headers=_TEXT)


def _guest(metadata: MetadataService, request: Request) -> Guest:
    """Return who asks. Raises ApiError: 400 or 403 for headers of a proxy that are not valid, 404 for a stranger."""
    compute = metadata.cloud.of(ComputeService)
    servers = compute.servers.rows
    if request.guest:
        server = servers.get(request.guest)
    elif INSTANCE in request.headers or SIGNATURE in request.headers:
        server = servers.get(_signed_instance(metadata, request))
        if server is not None and server.project_id != request.headers.get(PROJECT):
            server = None
    else:
        server = servers.get(_device_at(metadata, request.remote))
    if server is None:
        raise _refusal(404, "No instance was found for this request.")
    return compute.documents.of_server(server)


def _signed_instance(metadata: MetadataService, request: Request) -> str:
    for name, shown in ((INSTANCE, "X-Instance-ID"), (PROJECT, "X-Tenant-ID")):
        if not request.headers.get(name):
            raise _refusal(400, f"{shown} header is missing from request.")
        if "," in request.headers[name]:
            raise _refusal(400, f"Multiple {shown} headers found within request.")
    instance, signature = request.headers[INSTANCE], request.headers.get(SIGNATURE, "")
    expected = signature_of(instance, metadata.secret())
    if not hmac.compare_digest(expected.encode(), signature.encode(errors="surrogateescape")):
        raise _refusal(403, "Invalid proxy request signature.")
    return instance


def _device_at(metadata: MetadataService, address: str) -> str:
    """Return the ID of the device with an address; empty if there is none, or if several networks have the address."""
    network = metadata.cloud.of(NetworkService)
    servers = metadata.cloud.of(ComputeService).servers.rows
    found = {
        port.device_id
        for port in network.ports.rows
        if port.device_id in servers and any(fixed.ip_address == address for fixed in port.fixed_ips)
    }
    return found.pop() if len(found) == 1 else ""


def read(metadata: MetadataService, request: Request) -> Response:
    """A document, or the list of what a folder has."""
    guest, parts = _guest(metadata, request), _parts(request)
    if not parts:
        return _text([*EC2_VERSIONS, LATEST])
    if parts[0] == "openstack":
        return _openstack(guest, parts[1:])
    if parts[0] not in (*EC2_VERSIONS, LATEST):
        raise _nothing()
    return _entry(ec2_tree(guest, parts[0]), parts[1:])


def _parts(request: Request) -> list[str]:
    return [part for part in request.vars.get("path", "").split("/") if part]


def _openstack(guest: Guest, parts: list[str]) -> Response:
    if not parts:
        return _text([*OPENSTACK_VERSIONS, LATEST])
    version, *rest = parts
    if version == CONTENT:
        return _content(guest, rest)
    if version not in (*OPENSTACK_VERSIONS, LATEST):
        raise _nothing()
    names = folder(guest, version)
    if not rest:
        return _text(names)
    if len(rest) > 1 or rest[0] not in names:
        raise _nothing()
    if rest[0] == "user_data":
        return Response(guest.user_data or b"")
    if rest[0] == PASSWORD:
        return Response(guest.server.guest_password.encode(), headers=dict(_TEXT))
    _, document = DOCUMENTS[rest[0]]
    return Response(orjson.dumps(document(guest, version)), headers=dict(_JSON))


def _content(guest: Guest, parts: list[str]) -> Response:
    """Return a file that the user has given the server."""
    content = guest.file(parts[0]) if len(parts) == 1 else None
    if content is None:
        raise _nothing()
    return Response(content)


def _entry(entry: Any, parts: list[str]) -> Response:
    """What a path below a folder of EC2's form names."""
    for part in parts:
        if not isinstance(entry, Mapping) or part not in entry or part == LABEL:
            raise _nothing()
        entry = entry[part]
    if isinstance(entry, bytes):
        return Response(entry)
    if isinstance(entry, str):
        return _text([entry])
    return _text([_listed(name, entry[name]) for name in sorted(entry) if name != LABEL])


def _listed(name: str, value: Any) -> str:
    if not isinstance(value, Mapping):
        return name
    return str(value.get(LABEL, f"{name}/"))


def write(metadata: MetadataService, request: Request) -> Response:
    """Set the password that the guest has encrypted, once."""
    guest, parts = _guest(metadata, request), _parts(request)
    versions = [*(version for version in OPENSTACK_VERSIONS if version >= PASSWORD_SINCE), LATEST]
    if len(parts) != 3 or parts[0] != "openstack" or parts[1] not in versions or parts[2] != PASSWORD:
        raise _nothing()
    if len(request.body) > LONGEST_PASSWORD or not request.body.isascii():
        raise _refusal(400, f"The password must have at most {LONGEST_PASSWORD} ASCII characters.")
    if guest.server.guest_password:
        raise _refusal(409, "The password has been set already.")
    metadata.cloud.of(ComputeService).servers.rows.update(guest.server, guest_password=request.body.decode())
    return Response(b"", headers=dict(_TEXT))


def _text(lines: list[str]) -> Response:
    return Response("\n".join(lines).encode(), headers=dict(_TEXT))


def _nothing() -> ApiError:
    return _refusal(404, "The metadata has no such path.")
