"""Keypairs over HTTP."""

from __future__ import annotations

from typing import Any

from openstack_emulator.compute.records import Keypair
from openstack_emulator.compute.rules.composition import ComputeService
from openstack_emulator.compute.views import keypair_detail, keypair_summary
from openstack_emulator.core.errors import ApiError, bad_request, forbidden
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.paging import page
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields, invalid
from openstack_emulator.core.validation.problems import Check


def _key_owner(request: Request, user_id: str | None, action: str = "show") -> str:
    """The owner of the keypairs: since 2.10 an admin may name another user."""
    if request.version < (2, 10) or user_id in (None, request.context.user_id):
        return request.context.user_id
    if not request.context.is_admin:
        raise forbidden(f"Policy doesn't allow os_compute_api:os-keypairs:{action} to be performed.")
    return str(user_id)


def _unknown_key(marker: str) -> ApiError:
    return bad_request(f"Marker {marker} could not be found.")


def list_keypairs(compute: ComputeService, request: Request) -> Response:
    user = _key_owner(request, request.query.get("user_id"))
    rows = sorted(compute.keypairs.rows.select(user_id=user), key=lambda row: row.name)
    links: list[dict[str, str]] = []
    if request.version >= (2, 35):
        shown = page(rows, request.query, key="name", missing=_unknown_key)
        rows, links = shown.rows, shown.links(request)
    body: dict[str, Any] = {"keypairs": [{"keypair": keypair_summary(request, row)} for row in rows]}
    return Response({**body, "keypairs_links": links} if links else body)


def create_keypair(compute: ComputeService, request: Request) -> Response:
    body = request.object("keypair")
    form = r"[_\-\@\. a-zA-Z0-9]+" if request.version >= (2, 92) else r"[a-zA-Z0-9_\- ]+"
    checks: dict[str, Check] = {
        "name": fields.text(1, 255, form),
        "public_key": fields.nullable(fields.text(0, 65535)),
    }
    if request.version >= (2, 2):
        checks |= {"type": fields.one_of("ssh", "x509")}
    if request.version >= (2, 10):
        checks |= {"user_id": fields.text(1)}
    required = ("name", "public_key") if request.version >= (2, 92) else ("name",)
    check_fields(body, checks, required, "keypair")
    if request.version >= (2, 92) and body["public_key"] is None:
        raise invalid("public_key", None, "None is not of type 'string'")
    user = _key_owner(request, body.get("user_id"), "create")
    kind, context = body.get("type", "ssh"), request.context
    keypair, private_key = compute.keypairs.create(user, context.project, body["name"], kind, body.get("public_key"))
    view = {**keypair_summary(request, keypair), "user_id": user}
    if private_key is not None:
        view |= {"private_key": private_key}
    return Response({"keypair": view}, 201 if request.version >= (2, 2) else 200)


def _keypair(compute: ComputeService, request: Request) -> Keypair:
    return compute.keypairs.find(_key_owner(request, request.query.get("user_id")), request.vars["name"])


def show_keypair(compute: ComputeService, request: Request) -> Response:
    return Response({"keypair": keypair_detail(request, _keypair(compute, request))})


def delete_keypair(compute: ComputeService, request: Request) -> Response:
    compute.keypairs.rows.remove(_keypair(compute, request))
    return Response(status=204 if request.version >= (2, 2) else 202)
