"""Tags of servers over HTTP."""

from __future__ import annotations

from openstack_emulator.compute.records import Server
from openstack_emulator.compute.routes.bodies import TAG, found
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.core.validation.sentences import sentence


def _tagged(compute: ComputeService, request: Request) -> Server:
    if request.version < (2, 26):
        raise not_found("The resource could not be found.")
    return found(compute, request)


def list_tags(compute: ComputeService, request: Request) -> Response:
    return Response({"tags": _tagged(compute, request).tags})


def replace_tags(compute: ComputeService, request: Request) -> Response:
    server = _tagged(compute, request)
    check_fields(request.json, {"tags": fields.items(TAG)}, ("tags",))
    compute.servers.set_tags(server, list(dict.fromkeys(request.json["tags"])))
    return list_tags(compute, request)


def delete_tags(compute: ComputeService, request: Request) -> Response:
    compute.servers.set_tags(_tagged(compute, request), [])
    return Response(status=204)


def _tag(request: Request) -> str:
    """The tag that the path names."""
    return request.vars["tag"]


def _require_tag(compute: ComputeService, request: Request) -> tuple[Server, str]:
    server, tag = _tagged(compute, request), _tag(request)
    if tag not in server.tags:
        raise ApiError(404, f"Instance {server.id} has no tag '{tag}'")
    return server, tag


def has_tag(compute: ComputeService, request: Request) -> Response:
    _require_tag(compute, request)
    return Response(status=204)


def add_tag(compute: ComputeService, request: Request) -> Response:
    server, tag = _tagged(compute, request), _tag(request)
    if (problem := TAG(tag)) is not None:
        raise bad_request(f"Tag '{tag}' is invalid. {sentence(problem)}")
    if tag in server.tags:
        return Response(status=204)
    compute.servers.set_tags(server, [*server.tags, tag])
    place = f"{request.base}/v2.1/servers/{server.id}/tags/{tag}"
    return Response(status=201, headers={"Location": place})


def delete_tag(compute: ComputeService, request: Request) -> Response:
    server, tag = _require_tag(compute, request)
    compute.servers.set_tags(server, [other for other in server.tags if other != tag])
    return Response(status=204)
