"""Imports of images, and the tasks that they leave behind."""

from __future__ import annotations

from collections.abc import Mapping

from openstack_emulator.core.errors import bad_request, forbidden
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.urls import split_url
from openstack_emulator.image.routes.images import owned, visible
from openstack_emulator.image.routes.stores import stores_for_import
from openstack_emulator.image.rules.changes import fields_of_new
from openstack_emulator.image.rules.composition import ImageService
from openstack_emulator.image.rules.errors import unauthorized
from openstack_emulator.image.rules.imports import COPY, IMPORT_NEEDS
from openstack_emulator.image.rules.inputs import ImportMethod
from openstack_emulator.image.views import task_view


def begin(service: ImageService, request: Request) -> Response:
    body = request.json
    if not isinstance(body, Mapping):
        raise bad_request("The request body must be a JSON object.")
    method = _import_method(body)
    image = owned(service, request)
    stores = stores_for_import(body, image.stores if method.name == COPY else ())
    service.imports.begin(request.context, image, method, request.id, stores)
    return Response(status=202)


def index_of_image(service: ImageService, request: Request) -> Response:
    tasks = service.imports.tasks.select(image_id=visible(service, request).id)
    return Response({"tasks": [task_view(task) for task in tasks]})


def index(service: ImageService, request: Request) -> Response:
    tasks = [task_view(task) for task in service.imports.tasks if request.context.may_see(task)]
    return Response({"tasks": tasks, "first": "/v2/tasks", "schema": "/v2/schemas/tasks"})


def create(service: ImageService, request: Request) -> Response:
    """Import an image by a task, as operators do: `{type: import, input: {import_from, import_from_format,
    image_properties}}`."""
    context, body = request.context, request.json
    if not context.is_admin:
        raise unauthorized("add_task")
    task_input = body.get("input") if isinstance(body, Mapping) and body.get("type") == "import" else None
    if not isinstance(task_input, Mapping):
        raise bad_request("A task must be of the type 'import' and have an 'input'.")
    for name in ("import_from", "import_from_format", "image_properties"):
        if not task_input.get(name):
            raise bad_request(f"Input does not contain '{name}' field")
    address = task_input["import_from"]
    if not _is_web_address(address) or not split_url(address).path.strip("/"):
        raise bad_request(f"import_from must be the address of a file on the web, not {address}.")
    fields, owner = fields_of_new(task_input["image_properties"])
    task = service.imports.begin_task(context, task_input, owner or context.project, fields, request.id)
    return Response(task_view(task), 201, {"Location": f"{request.base}/v2/tasks/{task.id}"})


def show(service: ImageService, request: Request) -> Response:
    task = service.imports.tasks.require(request.vars["task_id"])
    if not request.context.may_see(task):
        raise forbidden("You are not permitted to see this task.")
    return Response(task_view(task))


def _import_method(body: Mapping[str, object]) -> ImportMethod:
    """The method to import with; 400 when it is unknown or incomplete."""
    method = body.get("method")
    if not isinstance(method, Mapping):
        raise bad_request("Import request requires a 'method' field.")
    name = method.get("name")
    if not isinstance(name, str):
        raise bad_request("Import request requires a 'name' field.")
    if name not in IMPORT_NEEDS:
        raise bad_request(f"Unknown import method name '{name}'.")
    if name == "web-download" and not _is_web_address(method.get("uri")):
        raise bad_request(f"URI for web-download does not pass filtering: {method.get('uri')}")
    return ImportMethod.from_json(method)


def _is_web_address(uri: object) -> bool:
    parts = split_url(str(uri or ""))
    return parts.scheme in ("http", "https") and bool(parts.hostname)
