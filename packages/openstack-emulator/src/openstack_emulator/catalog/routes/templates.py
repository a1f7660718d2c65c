"""Environment templates over HTTP."""

from __future__ import annotations

import copy

from openstack_emulator.catalog.records import Template
from openstack_emulator.catalog.routes.environments import new_environment
from openstack_emulator.catalog.rules.composition import ApplicationCatalog
from openstack_emulator.catalog.rules.object_model import accepted, accepted_list, check_identifiers, identifier_of
from openstack_emulator.catalog.views import template_view
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.sentences import sentence


def index(service: ApplicationCatalog, request: Request) -> Response:
    context, rows = request.context, service.templates.rows
    own, shared = rows.select(project_id=context.project), rows.select(is_public=True)
    chosen = {
        True: shared,
        False: [row for row in own if not row.is_public],
        None: [*own, *(row for row in shared if row not in own)],
    }
    return Response({"templates": [template_view(row) for row in chosen[request.query.boolean("is_public")]]})


def _name(service: ApplicationCatalog, project_id: str, body: object) -> str:
    """The name of a template in a request. Raises ApiError: 400, or 409 for one that is in use."""
    name = body.get("name") if isinstance(body, dict) else None
    if (problem := fields.name(1, 255)(name)) is not None:
        raise bad_request(f"Environment template name is not valid: {sentence(problem)}")
    service.templates.require_free_name(project_id, str(name))
    return str(name)


def create(service: ApplicationCatalog, request: Request) -> Response:
    body, context = request.json, request.context
    name, public = _name(service, context.project, body), body.get("is_public", False)
    if not isinstance(public, bool):
        raise bad_request("is_public must be a boolean")
    services = accepted_list(body.get("services") or [])
    description = str(body.get("description_text") or "")
    return Response(template_view(service.templates.add(context, name, description, public, services)))


def _found(service: ApplicationCatalog, request: Request) -> Template:
    return service.templates.find(request.context, request.vars["template_id"])


def _own(service: ApplicationCatalog, request: Request) -> Template:
    return service.templates.own(request.context, request.vars["template_id"])


def show(service: ApplicationCatalog, request: Request) -> Response:
    row = _found(service, request)
    return Response({**template_view(row), "services": row.services})


def rename(service: ApplicationCatalog, request: Request) -> Response:
    row = _own(service, request)
    row.name = _name(service, row.project_id, request.json)
    service.templates.save(row)
    return Response(template_view(row))


def delete(service: ApplicationCatalog, request: Request) -> Response:
    service.templates.rows.remove(_own(service, request))
    return Response()


def list_services(service: ApplicationCatalog, request: Request) -> Response:
    return Response(_found(service, request).services)


def add_service(service: ApplicationCatalog, request: Request) -> Response:
    row, added = _own(service, request), accepted(request.json)
    services = [*row.services, added]
    check_identifiers(services)
    row.services = services
    service.templates.save(row)
    return Response(added)


def remove_service(service: ApplicationCatalog, request: Request) -> Response:
    row, key = _own(service, request), request.vars["service_id"]
    remaining = [member for member in row.services if identifier_of(member) != key]
    if len(remaining) == len(row.services):
        raise not_found(f"Service {key} is not found")
    row.services = remaining
    service.templates.save(row)
    return Response({**template_view(row), "services": remaining})


def create_environment(service: ApplicationCatalog, request: Request) -> Response:
    """Make an environment, and a session of it with the template's applications, ready to be deployed."""
    row = _found(service, request)
    environment = new_environment(service, request)
    session = service.environments.configure(request.context, environment)
    service.environments.set_services(session, copy.deepcopy(row.services))
    return Response({"environment_id": environment.id, "session_id": session.id})
