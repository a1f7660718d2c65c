"""The attachments API over HTTP (since microversion 3.27)."""

from __future__ import annotations

from openstack_emulator.core.actions import act
from openstack_emulator.core.cloud import Cloud
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.filters import equal, project_rows
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.volume.records import Attachment
from openstack_emulator.volume.routes.acting import Actions
from openstack_emulator.volume.routes.lists import list_response
from openstack_emulator.volume.rules.composition import BlockStorage
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


def is_from_service(cloud: Cloud, request: Request) -> bool:
    """Whether the request has the token of a service beside the user's, in `X-Service-Token`."""
    token = request.headers.get("x-service-token")
    service = cloud.authenticate(token) if token else None
    return service is not None and "service" in service.roles


def _found(storage: BlockStorage, request: Request) -> Attachment:
    return storage.attachments.find(request.context, request.vars["attachment_id"])


def create(storage: BlockStorage, request: Request) -> Response:
    body = request.object("attachment")
    check_fields(body, CREATABLE, ("volume_uuid",), "attachment")
    volume = storage.volumes.find(request.context, body["volume_uuid"])
    attachment = storage.attachments.create(
        request.context, volume, body.get("instance_uuid"), body.get("connector"), body.get("mode")
    )
    return Response({"attachment": attachment_detail(storage, attachment)})


def index(storage: BlockStorage, request: Request) -> Response:
    return list_response(
        request, "attachments", project_rows(storage.attachments.rows, request), FILTERS, attachment_summary
    )


def detail(storage: BlockStorage, request: Request) -> Response:
    rows = project_rows(storage.attachments.rows, request)
    return list_response(request, "attachments", rows, FILTERS, lambda row: attachment_detail(storage, row))


def show(storage: BlockStorage, request: Request) -> Response:
    return Response({"attachment": attachment_detail(storage, _found(storage, request))})


def update(storage: BlockStorage, request: Request) -> Response:
    attachment, body = _found(storage, request), request.object("attachment")
    connector = body.get("connector")
    if not isinstance(connector, dict) or not connector:
        raise bad_request("Invalid input received: an attachment is updated with a connector, which must be an object.")
    storage.attachments.connect(attachment, connector)
    return Response({"attachment": attachment_detail(storage, attachment)})


def delete(storage: BlockStorage, request: Request) -> Response:
    attachment = _found(storage, request)
    if not is_from_service(storage.attachments.cloud, request):
        storage.attachments.refuse_behind_server([attachment])
    remaining = storage.attachments.remove(attachment)
    return Response({"attachments": [attachment_summary(row) for row in remaining]})


def _complete(storage: BlockStorage, request: Request, attachment: Attachment, arguments: object) -> Response:
    storage.attachments.complete(attachment)
    return Response(status=204)


ACTIONS: Actions[Attachment] = {"os-complete": _complete}


def act_on(storage: BlockStorage, request: Request) -> Response:
    return act(ACTIONS, storage, request, _found(storage, request))
