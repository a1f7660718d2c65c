"""Requests about environments, their sessions, applications and deployments."""

from __future__ import annotations

from typing import Any

from openstack_emulator.catalog.environments import DEPLOYING, PENDING, READY, Environments
from openstack_emulator.catalog.object_model import (
    accepted,
    accepted_list,
    check_identifiers,
    identifier_of,
    with_status,
)
from openstack_emulator.core.component import using
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record

SESSION_HEADER = "x-configuration-session"


def view(environments: Environments, row: Record) -> dict[str, Any]:
    """Return what lists show of an environment."""
    return {
        "id": row["id"],
        "name": row["name"],
        "created": row["created"],
        "updated": row["updated"],
        "tenant_id": row["project_id"],
        "version": row["version"],
        "networking": {},
        "status": environments.status(row),
    }


def list_environments(environments: Environments, request: Request) -> Response:
    context, tenant = request.context, request.query.get("tenant")
    everywhere = request.query.boolean("all_tenants")
    if everywhere or tenant is not None:
        context.require()
    wanted = context.project if tenant is None else tenant
    rows = list(environments.rows) if everywhere else environments.rows.select(project_id=wanted)
    return Response({"environments": [view(environments, row) for row in rows]})


def create_environment(environments: Environments, request: Request) -> Response:
    return Response(view(environments, environments.create(request.context, request.json)))


def _environment(environments: Environments, request: Request) -> Record:
    return environments.find(request.context, request.vars["environment_id"])


def show_environment(environments: Environments, request: Request) -> Response:
    row = _environment(environments, request)
    acquired = next(
        (one["id"] for one in environments.sessions.select(environment_id=row["id"], state=DEPLOYING)), None
    )
    return Response(
        {**view(environments, row), "acquired_by": acquired, "services": _services(environments, request, row)}
    )


def rename_environment(environments: Environments, request: Request) -> Response:
    row = _environment(environments, request)
    environments.rename(row, request.json)
    return Response(view(environments, row))


def delete_environment(environments: Environments, request: Request) -> Response:
    row = _environment(environments, request)
    environments.delete(row, bool(request.query.boolean("abandon")))
    return Response()


def configure(environments: Environments, request: Request) -> Response:
    row = _environment(environments, request)
    return Response(_session_view(environments.configure(request.context, row)))


def _session_view(session: Record) -> dict[str, Any]:
    return {name: value for name, value in session.items() if name not in ("services", "changed") and name[:1] != "_"}


def show_session(environments: Environments, request: Request) -> Response:
    row = _environment(environments, request)
    return Response(_session_view(environments.session(row, request.vars["session_id"])))


def delete_session(environments: Environments, request: Request) -> Response:
    row = _environment(environments, request)
    environments.close(environments.session(row, request.vars["session_id"]))
    return Response()


def deploy(environments: Environments, request: Request) -> Response:
    row = _environment(environments, request)
    environments.deploy(row, environments.session(row, request.vars["session_id"]))
    return Response()


# -- applications ----------------------------------------------------------------------------------------------------


def _services(environments: Environments, request: Request, row: Record) -> list[dict[str, Any]]:
    """Return the applications of the session that the header names, or else those that are deployed."""
    key = request.headers.get(SESSION_HEADER)
    if key is None:
        status = environments.status(row)
        return with_status(row["services"], READY if status == PENDING else status)
    session = environments.session(row, key)
    return with_status(session["services"], PENDING if session["changed"] else READY)


def _draft(environments: Environments, request: Request) -> Record:
    """Return the session that the header names, whose applications can be changed. Raises ApiError: 400, 403, 404."""
    row, key = _environment(environments, request), request.headers.get(SESSION_HEADER)
    if key is None:
        raise bad_request("X-Configuration-Session header which indicates to the session is missed")
    return environments.draft(row, key)


def list_services(environments: Environments, request: Request) -> Response:
    return Response(_services(environments, request, _environment(environments, request)))


def show_service(environments: Environments, request: Request) -> Response:
    """An application, or the part of it to which the path leads."""
    found: Any = _services(environments, request, _environment(environments, request))
    for part in request.vars["path"].strip("/").split("/"):
        if isinstance(found, list):
            found = next((one for one in found if isinstance(one, dict) and one.get("?", {}).get("id") == part), None)
        else:
            found = found.get(part) if isinstance(found, dict) else None
        if found is None:
            raise not_found(f"Path {request.vars['path']} is not found")
    return Response(found)


def add_service(environments: Environments, request: Request) -> Response:
    session, made = _draft(environments, request), accepted(request.json)
    services = [*session["services"], made]
    check_identifiers(services)
    environments.set_services(session, services)
    return Response(made)


def set_services(environments: Environments, request: Request) -> Response:
    session, services = _draft(environments, request), accepted_list(request.json)
    environments.set_services(session, services)
    return Response(services)


def remove_service(environments: Environments, request: Request) -> Response:
    session, key = _draft(environments, request), request.vars["path"]
    kept = [one for one in session["services"] if identifier_of(one) != key]
    if len(kept) == len(session["services"]):
        raise not_found(f"Service {key} is not found")
    environments.set_services(session, kept)
    return Response()


# -- deployments -----------------------------------------------------------------------------------------------------


def _deployment_view(deployment: Record) -> dict[str, Any]:
    hidden = ("session_id", "reports")
    return {name: value for name, value in deployment.items() if name not in hidden and name[:1] != "_"}


def list_deployments(environments: Environments, request: Request) -> Response:
    """The deployments of an environment, the latest first."""
    row = _environment(environments, request)
    found = environments.deployments.select(environment_id=row["id"])[::-1]
    return Response({"deployments": [_deployment_view(one) for one in found]})


def list_all_deployments(environments: Environments, request: Request) -> Response:
    """The deployments of all environments of the caller's project, the latest first."""
    own = {row["id"] for row in environments.rows.select(project_id=request.context.project)}
    found = [one for one in environments.deployments if one["environment_id"] in own][::-1]
    return Response({"deployments": [_deployment_view(one) for one in found]})


def list_reports(environments: Environments, request: Request) -> Response:
    """The reports of a deployment; the query selects those about one application."""
    row, key = _environment(environments, request), request.vars["deployment_id"]
    deployment = environments.deployments.get(key)
    if deployment is None or deployment["environment_id"] != row["id"]:
        raise not_found(f"Deployment with id {key} not found")
    wanted = request.query.all("service_id")
    return Response({"reports": [one for one in deployment["reports"] if not wanted or one["entity_id"] in wanted]})


ROUTES = using(
    Environments,
    {
        "/environments": {"GET": list_environments, "POST": create_environment},
        "/environments/{environment_id}": {
            "GET": show_environment,
            "PUT": rename_environment,
            "DELETE": delete_environment,
        },
        "/environments/{environment_id}/configure": {"POST": configure},
        "/environments/{environment_id}/sessions/{session_id}": {"GET": show_session, "DELETE": delete_session},
        "/environments/{environment_id}/sessions/{session_id}/deploy": {"POST": deploy},
        "/environments/{environment_id}/services": {"GET": list_services, "POST": add_service, "PUT": set_services},
        "/environments/{environment_id}/services/{path:*}": {"GET": show_service, "DELETE": remove_service},
        "/environments/{environment_id}/deployments": {"GET": list_deployments},
        "/environments/{environment_id}/deployments/{deployment_id}": {"GET": list_reports},
        "/deployments": {"GET": list_all_deployments},
    },
)
