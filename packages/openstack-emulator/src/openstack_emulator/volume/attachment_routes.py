"""The attachments API over HTTP (since microversion 3.27)."""

from __future__ import annotations

from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Cloud
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.filters import equal, project_rows
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.volume.attachments import Attachments
from openstack_emulator.volume.lists import listing
from openstack_emulator.volume.views import attachment_detail, attachment_summary

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


def from_service(cloud: Cloud, request: Request) -> bool:
    """Whether the request has the token of a service beside the user's."""
    token = request.headers.get("x-service-token")
    service = cloud.authenticate(token) if token else None
    return service is not None and "service" in service.roles


def _served(request: Request) -> None:
    if request.version < (3, 27):
        raise not_found("The resource could not be found.")


def _found(attachments: Attachments, request: Request) -> Record:
    _served(request)
    return attachments.find(request.context, request.vars["attachment_id"])


def create(attachments: Attachments, request: Request) -> Response:
    _served(request)
    wanted = request.object("attachment")
    fields.check_fields(wanted, CREATABLE, ("volume_uuid",), "attachment")
    volume = attachments.volumes.find(request.context, wanted["volume_uuid"])
    attachment = attachments.create(
        request.context, volume, wanted.get("instance_uuid"), wanted.get("connector"), wanted.get("mode")
    )
    return Response({"attachment": attachment_detail(attachments, attachment)})


def index(attachments: Attachments, request: Request) -> Response:
    _served(request)
    return listing(request, "attachments", project_rows(attachments.rows, request), FILTERS, attachment_summary)


def detail(attachments: Attachments, request: Request) -> Response:
    _served(request)
    rows = project_rows(attachments.rows, request)
    return listing(request, "attachments", rows, FILTERS, lambda row: attachment_detail(attachments, row))


def show(attachments: Attachments, request: Request) -> Response:
    return Response({"attachment": attachment_detail(attachments, _found(attachments, request))})


def update(attachments: Attachments, request: Request) -> Response:
    attachment, wanted = _found(attachments, request), request.object("attachment")
    connector = wanted.get("connector")
    if not isinstance(connector, dict) or not connector:
        raise bad_request("Invalid input received: an attachment is updated with a connector, which must be an object.")
    attachments.connect(attachment, connector)
    return Response({"attachment": attachment_detail(attachments, attachment)})


def delete(attachments: Attachments, request: Request) -> Response:
    attachment = _found(attachments, request)
    if not from_service(attachments.cloud, request):
        attachments.refuse_behind_server([attachment])
    left = attachments.remove(attachment)
    return Response({"attachments": [attachment_summary(row) for row in left]})
