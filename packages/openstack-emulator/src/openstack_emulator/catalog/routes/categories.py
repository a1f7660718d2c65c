"""Categories of packages over HTTP."""

from __future__ import annotations

from openstack_emulator.catalog.records import Category
from openstack_emulator.catalog.rules.composition import ApplicationCatalog
from openstack_emulator.catalog.views import category_view
from openstack_emulator.core.errors import bad_request, forbidden
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.objects import check_fields
from openstack_emulator.core.validation.sentences import sentence


def list_names(service: ApplicationCatalog, request: Request) -> Response:
    return Response({"categories": [row.name for row in service.categories.rows]})


def index(service: ApplicationCatalog, request: Request) -> Response:
    return Response({"categories": [category_view(service, row) for row in service.categories.rows]})


def create(service: ApplicationCatalog, request: Request) -> Response:
    request.context.require()
    body = request.json
    check_fields(body, {"name": fields.anything}, ("name",))
    name = body.get("name")
    if (problem := fields.name(1, 80)(name)) is not None:
        raise bad_request(f"Category name is not valid: {sentence(problem)}")
    return Response(category_view(service, service.categories.add(name)))


def _found(service: ApplicationCatalog, request: Request) -> Category:
    return service.categories.rows.require(request.vars["category_id"])


def show(service: ApplicationCatalog, request: Request) -> Response:
    row = _found(service, request)
    held = service.packages.in_category(row.name)
    shown = [
        {"fully_qualified_name": package.fully_qualified_name, "id": package.id, "name": package.name}
        for package in held
    ]
    return Response({**category_view(service, row), "packages": shown})


def delete(service: ApplicationCatalog, request: Request) -> Response:
    request.context.require()
    row = _found(service, request)
    if service.packages.in_category(row.name):
        raise forbidden(f"Category with id {row.id} has packages; it can't be deleted")
    service.categories.rows.remove(row)
    return Response()
