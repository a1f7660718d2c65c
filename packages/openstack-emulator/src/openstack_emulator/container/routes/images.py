"""Images of containers over HTTP."""

from __future__ import annotations

from openstack_emulator.container.records import Image
from openstack_emulator.container.routes.lists import list_response
from openstack_emulator.container.rules.composition import SingleContainers
from openstack_emulator.container.rules.hosts import HOST
from openstack_emulator.container.rules.images import DRIVERS
from openstack_emulator.container.rules.validation import ZUN
from openstack_emulator.container.views import image_view
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.objects import writer
from openstack_emulator.core.rules import visible
from openstack_emulator.core.validation import fields

_FORMS = {"repo": fields.text(2), "image_driver": fields.nullable(fields.one_of(*DRIVERS))}


def _own(service: SingleContainers, request: Request) -> Image:
    return visible(service.images.rows, request.context, request.vars["key"])


def index(service: SingleContainers, request: Request) -> Response:
    request.context.require()
    return list_response(request, "images", "image", list(service.images.rows), image_view)


def create(service: SingleContainers, request: Request) -> Response:
    """Pull an image. Raises ApiError 400, also for an image that cannot be had."""
    project, images = writer(request).project, service.images
    body = request.json
    if not isinstance(body, dict) or body.keys() - {*_FORMS, "image_pull_policy", "host"}:
        raise bad_request("The request body must be a JSON object with repo, image_driver, image_pull_policy, host.")
    policy = body.get("image_pull_policy") or "ifnotpresent"
    if body.get("host") not in (None, "", HOST) or policy not in ("ifnotpresent", "always"):
        raise bad_request(f"The only host is {HOST}, and the pull policies are ifnotpresent and always.")
    request_body = {name: body[name] for name in _FORMS if name in body}
    ZUN.check("body", request_body, _FORMS, ("repo",))
    name, driver = request_body["repo"], request_body.get("image_driver") or "docker"
    if (problem := images.pull(project, name, driver)) is not None:
        raise bad_request(problem)
    row = images.pulled(project, name, driver)
    return Response(None if row is None else image_view(request.base, row), 202)


def show(service: SingleContainers, request: Request) -> Response:
    return Response(image_view(request.base, _own(service, request)))


def delete(service: SingleContainers, request: Request) -> Response:
    writer(request)
    service.images.rows.remove(_own(service, request))
    return Response(status=204)
