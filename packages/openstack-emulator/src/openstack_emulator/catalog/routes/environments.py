"""Requests about environments, their sessions, applications and deployments."""

from __future__ import annotations

from typing import Any

from openstack_emulator.catalog.records import Applications, Environment, Session
from openstack_emulator.catalog.rules.composition import ApplicationCatalog
from openstack_emulator.catalog.rules.environments import DEPLOYING, PENDING, READY
from openstack_emulator.catalog.rules.object_model import (
    accepted,
    accepted_list,
    check_identifiers,
    identifier_of,
    with_status,
)
from openstack_emulator.catalog.views import deployment_view, environment_view, session_view
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Request, Response

SESSION_HEADER = "x-configuration-session"
_LONGEST_NAME = 255


def index(service: ApplicationCatalog, request: Request) -> Response:
    context, tenant = request.context, request.query.get("tenant")
    everywhere = request.query.boolean("all_tenants")
    if everywhere or tenant is not None:
        context.require()
    project_id = context.project if tenant is None else tenant
    rows = list(service.environments.rows) if everywhere else service.environments.rows.select(project_id=project_id)
    return Response({"environments": [environment_view(service, row) for row in rows]})


def _name(service: ApplicationCatalog, project_id: str, body: object, own: Environment | None = None) -> str:
    """The name of an environment in a request. Raises ApiError: 400, or 409 for one that is in use."""
    name = body.get("name") if isinstance(body, dict) else None
    if not isinstance(name, str) or not name.strip():
        raise bad_request("Environment name must contain at least one non-white space symbol")
    if len(name) > _LONGEST_NAME:
        raise bad_request("Environment name should be 255 characters maximum")
    service.environments.require_free_name(project_id, name, own)
    return name


def new_environment(service: ApplicationCatalog, request: Request) -> Environment:
    """Create the environment that a request describes. Raises ApiError 400 and 409."""
    body, context = request.json, request.context
    name = _name(service, context.project, body)
    networks = body.get("defaultNetworks")
    if networks is not None and not isinstance(networks, dict):
        raise bad_request("defaultNetworks must be a JSON object")
    return service.environments.create(context, name, body.get("region"), networks)


def create(service: ApplicationCatalog, request: Request) -> Response:
    return Response(environment_view(service, new_environment(service, request)))


def _environment(service: ApplicationCatalog, request: Request) -> Environment:
    return service.environments.find(request.context, request.vars["environment_id"])


def show(service: ApplicationCatalog, request: Request) -> Response:
    row = _environment(service, request)
    acquired = next(
        (session.id for session in service.environments.sessions.select(environment_id=row.id, state=DEPLOYING)), None
    )
    return Response(
        {**environment_view(service, row), "acquired_by": acquired, "services": _services(service, request, row)}
    )


def rename(service: ApplicationCatalog, request: Request) -> Response:
    row = _environment(service, request)
    service.environments.rename(row, _name(service, row.project_id, request.json, row))
    return Response(environment_view(service, row))


def delete(service: ApplicationCatalog, request: Request) -> Response:
    row = _environment(service, request)
    service.environments.delete(row, bool(request.query.boolean("abandon")))
    return Response()


def configure(service: ApplicationCatalog, request: Request) -> Response:
    row = _environment(service, request)
    return Response(session_view(service.environments.configure(request.context, row)))


def _session(service: ApplicationCatalog, request: Request) -> tuple[Environment, Session]:
    """The session that the path names, and its environment. Raises ApiError 403 and 404."""
    row = _environment(service, request)
    return row, service.environments.session(row, request.vars["session_id"])


def show_session(service: ApplicationCatalog, request: Request) -> Response:
    _, session = _session(service, request)
    return Response(session_view(session))


def delete_session(service: ApplicationCatalog, request: Request) -> Response:
    _, session = _session(service, request)
    service.environments.close(session)
    return Response()


def deploy(service: ApplicationCatalog, request: Request) -> Response:
    service.environments.deploy(*_session(service, request))
    return Response()


# -- applications ----------------------------------------------------------------------------------------------------


def _services(service: ApplicationCatalog, request: Request, row: Environment) -> Applications:
    """Return the applications of the session that the header names, or else those that are deployed."""
    key = request.headers.get(SESSION_HEADER)
    if key is None:
        status = service.environments.status(row)
        return with_status(row.services, READY if status == PENDING else status)
    session = service.environments.session(row, key)
    return with_status(session.services, PENDING if session.changed else READY)


def _draft(service: ApplicationCatalog, request: Request) -> Session:
    """Return the session that the header names, whose applications can be changed. Raises ApiError: 400, 403, 404."""
    row, key = _environment(service, request), request.headers.get(SESSION_HEADER)
    if key is None:
        raise bad_request("X-Configuration-Session header which indicates to the session is missed")
    return service.environments.draft(row, key)


def list_services(service: ApplicationCatalog, request: Request) -> Response:
    return Response(_services(service, request, _environment(service, request)))


def show_service(service: ApplicationCatalog, request: Request) -> Response:
    """An application, or the part of it to which the path leads."""
    found: Any = _services(service, request, _environment(service, request))
    path = request.vars["path"]
    for part in path.strip("/").split("/"):
        if isinstance(found, list):
            found = next(
                (member for member in found if isinstance(member, dict) and member.get("?", {}).get("id") == part), None
            )
        else:
            found = found.get(part) if isinstance(found, dict) else None
        if found is None:
            raise not_found(f"Path {path} is not found")
    return Response(found)


def add_service(service: ApplicationCatalog, request: Request) -> Response:
    session, added = _draft(service, request), accepted(request.json)
    services = [*session.services, added]
    check_identifiers(services)
    service.environments.set_services(session, services)
    return Response(added)


def set_services(service: ApplicationCatalog, request: Request) -> Response:
    session, services = _draft(service, request), accepted_list(request.json)
    service.environments.set_services(session, services)
    return Response(services)


def remove_service(service: ApplicationCatalog, request: Request) -> Response:
    session, key = _draft(service, request), request.vars["path"]
    remaining = [member for member in session.services if identifier_of(member) != key]
    if len(remaining) == len(session.services):
        raise not_found(f"Service {key} is not found")
    service.environments.set_services(session, remaining)
    return Response()


# -- deployments -----------------------------------------------------------------------------------------------------


def list_deployments(service: ApplicationCatalog, request: Request) -> Response:
    """The deployments of an environment, the latest first."""
    row = _environment(service, request)
    found = service.environments.deployments.select(environment_id=row.id)[::-1]
    return Response({"deployments": [deployment_view(deployment) for deployment in found]})


def list_all_deployments(service: ApplicationCatalog, request: Request) -> Response:
    """The deployments of all environments of the caller's project, the latest first."""
    own = {row.id for row in service.environments.rows.select(project_id=request.context.project)}
    found = [deployment for deployment in service.environments.deployments if deployment.environment_id in own][::-1]
    return Response({"deployments": [deployment_view(deployment) for deployment in found]})


def list_reports(service: ApplicationCatalog, request: Request) -> Response:
    """The reports of a deployment; the query selects those about one application."""
    row, key = _environment(service, request), request.vars["deployment_id"]
    deployment = service.environments.deployments.get(key)
    if deployment is None or deployment.environment_id != row.id:
        raise not_found(f"Deployment with id {key} not found")
    service_ids = request.query.all("service_id")
    return Response(
        {
            "reports": [
                report.to_json() for report in deployment.reports if not service_ids or report.entity_id in service_ids
            ]
        }
    )
