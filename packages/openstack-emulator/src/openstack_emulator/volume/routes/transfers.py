"""Transfers of volumes over HTTP."""

from __future__ import annotations

from openstack_emulator.core.filters import project_rows
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.rules import visible
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.volume.records import Transfer
from openstack_emulator.volume.routes.bodies import FREE_TEXT
from openstack_emulator.volume.routes.lists import list_response
from openstack_emulator.volume.rules.composition import BlockStorage
from openstack_emulator.volume.views import transfer_detail, transfer_summary


def _transfer(storage: BlockStorage, request: Request) -> Transfer:
    return visible(storage.transfers.rows, request.context, request.vars["transfer_id"])


def create(storage: BlockStorage, request: Request) -> Response:
    body = request.object("transfer")
    checks = {"volume_id": fields.identifier, "name": FREE_TEXT, "no_snapshots": fields.boolean}
    check_fields(body, checks, ("volume_id",), "transfer")
    volume = storage.volumes.find(request.context, body["volume_id"])
    keep = bool(as_boolean(body.get("no_snapshots", False)))
    transfer = storage.transfers.create(request.context, volume, body.get("name"), keep)
    view = {**transfer_detail(request, transfer), "auth_key": transfer.auth_key}
    return Response({"transfer": view}, 202)


def index(storage: BlockStorage, request: Request) -> Response:
    rows = project_rows(storage.transfers.rows, request)
    return list_response(request, "transfers", rows, {}, lambda row: transfer_summary(request, row))


def detail(storage: BlockStorage, request: Request) -> Response:
    rows = project_rows(storage.transfers.rows, request)
    return list_response(request, "transfers", rows, {}, lambda row: transfer_detail(request, row))


def show(storage: BlockStorage, request: Request) -> Response:
    return Response({"transfer": transfer_detail(request, _transfer(storage, request))})


def delete(storage: BlockStorage, request: Request) -> Response:
    storage.transfers.delete(_transfer(storage, request))
    return Response(status=202)


def accept(storage: BlockStorage, request: Request) -> Response:
    body = request.object("accept")
    transfer = storage.transfers.accept(request.context, request.vars["transfer_id"], body.get("auth_key"))
    return Response({"transfer": transfer_summary(request, transfer)}, 202)
