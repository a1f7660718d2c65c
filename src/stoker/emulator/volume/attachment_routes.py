"""The attachments API over HTTP (since microversion 3.27)."""

from __future__ import annotations

from stoker.emulator.core.errors import bad_request, not_found
from stoker.emulator.core.http import Request, Response
from stoker.emulator.core.store import Record
from stoker.emulator.volume import fields
from stoker.emulator.volume.lists import equal, listing, project_rows
from stoker.emulator.volume.records import VolumeRecords
from stoker.emulator.volume.views import attachment_detail, attachment_summary

CREATABLE = {
    "volume_uuid": fields.identifier,
    "instance_uuid": fields.nullable(fields.identifier),
    "connector": fields.nullable(fields.anything),
    "mode": fields.one_of("rw", "ro"),
}
FILTERS = {
    "volume_id": equal("volume_id"),
    "instance_id": equal("instance"),
    "status": equal("status"),
    "attach_status": equal("status"),
}


def from_service(volumes: VolumeRecords, request: Request) -> bool:
    """Whether a service vouches for the request by a token of its own beside the user's."""
    token = request.headers.get("x-service-token")
    service = volumes.cloud.authenticate(token) if token else None
    return service is not None and "service" in service.roles


def _served(request: Request) -> None:
    if request.version < (3, 27):
        raise not_found("The resource could not be found.")


def _found(volumes: VolumeRecords, request: Request) -> Record:
    _served(request)
    return volumes.attachment_for(request.context, request.vars["attachment_id"])


def create(volumes: VolumeRecords, request: Request) -> Response:
    _served(request)
    wanted = request.object("attachment")
    fields.check_fields(wanted, CREATABLE, ("volume_uuid",), "attachment")
    volume = volumes.volume_for(request.context, wanted["volume_uuid"])
    attachment = volumes.create_attachment(
        request.context, volume, wanted.get("instance_uuid"), wanted.get("connector"), wanted.get("mode", "rw")
    )
    return Response({"attachment": attachment_detail(volumes, attachment)})


def index(volumes: VolumeRecords, request: Request) -> Response:
    _served(request)
    return listing(request, "attachments", project_rows(volumes.attachments, request), FILTERS, attachment_summary)


def detail(volumes: VolumeRecords, request: Request) -> Response:
    _served(request)
    rows = project_rows(volumes.attachments, request)
    return listing(request, "attachments", rows, FILTERS, lambda row: attachment_detail(volumes, row))


def show(volumes: VolumeRecords, request: Request) -> Response:
    return Response({"attachment": attachment_detail(volumes, _found(volumes, request))})


def update(volumes: VolumeRecords, request: Request) -> Response:
    attachment, wanted = _found(volumes, request), request.object("attachment")
    connector = wanted.get("connector")
    if not isinstance(connector, dict) or not connector:
        raise bad_request("Invalid input received: an attachment is updated with a connector, which must be an object.")
    volumes.connect_attachment(attachment, connector)
    return Response({"attachment": attachment_detail(volumes, attachment)})


def delete(volumes: VolumeRecords, request: Request) -> Response:
    attachment = _found(volumes, request)
    if not from_service(volumes, request):
        volumes.refuse_behind_server([attachment])
    left = volumes.remove_attachment(attachment)
    return Response({"attachments": [attachment_summary(row) for row in left]})
