"""Environment templates: sets of applications from which environments are made."""

from __future__ import annotations

import copy
from typing import Any

from openstack_emulator.catalog.environments import Environments
from openstack_emulator.catalog.object_model import accepted, accepted_list, check_identifiers, identifier_of
from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Records, new_hex_id
from openstack_emulator.core.component import Component, using
from openstack_emulator.core.errors import bad_request, conflict, forbidden, not_found
from openstack_emulator.core.http import Context, Request, Response
from openstack_emulator.core.store import Record

STAMP = "%Y-%m-%dT%H:%M:%S"


class Templates(Component):
    """Environment templates of projects; public ones are visible to all projects."""

    def __init__(self, records: Records, environments: Environments) -> None:
        super().__init__(records)
        self.rows = records.table("templates", "project_id")
        self.environments = environments

    def find(self, context: Context, key: str) -> Record:
        """Return a template that the caller may see. Raises ApiError: 404, or 403."""
        row = self.rows.require(key)
        if not row["is_public"] and not context.may_see(row):
            raise forbidden("User is not authorized to access these tenant resources")
        return row

    def own(self, context: Context, key: str) -> Record:
        """Return a template that the caller may change. Raises ApiError: 404, or 403."""
        row = self.rows.require(key)
        if not context.may_see(row):
            raise forbidden("User is not authorized to access these tenant resources")
        return row

    def add(self, context: Context, given: Any) -> Record:
        """Create a template. Raises ApiError: 400, or 409 for a name that is in use."""
        name = self._free_name(context.project, given)
        public = given.get("is_public", False)
        if not isinstance(public, bool):
            raise bad_request("is_public must be a boolean")
        now = self.records.timestamp(STAMP)
        return self.rows.add(
            {
                "id": new_hex_id(),
                "name": name,
                "description_text": str(given.get("description_text") or ""),
                "is_public": public,
                "project_id": context.project,
                "created": now,
                "updated": now,
                "version": 0,
                "services": accepted_list(given.get("services") or []),
            }
        )

    def rename(self, row: Record, given: Any) -> None:
        """Rename a template. Raises ApiError: 400, or 409."""
        self.update(row, name=self._free_name(row["project_id"], given))

    def update(self, row: Record, **changes: Any) -> None:
        """Set fields of a template."""
        self.rows.update(row, **changes, updated=self.records.timestamp(STAMP))

    def _free_name(self, project_id: str, given: Any) -> str:
        name = given.get("name") if isinstance(given, dict) else None
        if (problem := fields.name(1, 255)(name)) is not None:
            raise bad_request(f"Environment template name is not valid: {problem}")
        if self.rows.select(project_id=project_id, name=name):
            raise conflict("Environment template with specified name already exists")
        return str(name)


def view(row: Record) -> dict[str, Any]:
    """Return what lists show of a template."""
    shown = ("id", "name", "description_text", "is_public", "created", "updated", "version")
    return {**{name: row[name] for name in shown}, "tenant_id": row["project_id"], "networking": {}}


def list_templates(templates: Templates, request: Request) -> Response:
    context, public = request.context, request.query.boolean("is_public")
    own = templates.rows.select(project_id=context.project)
    shared = templates.rows.select(is_public=True)
    chosen = {
        True: shared,
        False: [row for row in own if not row["is_public"]],
        None: [*own, *(row for row in shared if row not in own)],
    }
    return Response({"templates": [view(row) for row in chosen[public]]})


def create_template(templates: Templates, request: Request) -> Response:
    return Response(view(templates.add(request.context, request.json)))


def _own(templates: Templates, request: Request) -> Record:
    return templates.own(request.context, request.vars["template_id"])


def show_template(templates: Templates, request: Request) -> Response:
    row = templates.find(request.context, request.vars["template_id"])
    return Response({**view(row), "services": row["services"]})


def rename_template(templates: Templates, request: Request) -> Response:
    row = _own(templates, request)
    templates.rename(row, request.json)
    return Response(view(row))


def delete_template(templates: Templates, request: Request) -> Response:
    templates.rows.remove(_own(templates, request))
    return Response()


def list_services(templates: Templates, request: Request) -> Response:
    return Response(templates.find(request.context, request.vars["template_id"])["services"])


def add_service(templates: Templates, request: Request) -> Response:
    row, made = _own(templates, request), accepted(request.json)
    services = [*row["services"], made]
    check_identifiers(services)
    templates.update(row, services=services)
    return Response(made)


def remove_service(templates: Templates, request: Request) -> Response:
    row, key = _own(templates, request), request.vars["service_id"]
    kept = [one for one in row["services"] if identifier_of(one) != key]
    if len(kept) == len(row["services"]):
        raise not_found(f"Service {key} is not found")
    templates.update(row, services=kept)
    return Response({**view(row), "services": kept})


def create_environment(templates: Templates, request: Request) -> Response:
    """Make an environment, and a session of it with the template's applications, ready to be deployed."""
    row = templates.find(request.context, request.vars["template_id"])
    environments = templates.environments
    environment = environments.create(request.context, request.json)
    session = environments.configure(request.context, environment)
    environments.set_services(session, copy.deepcopy(row["services"]))
    return Response({"environment_id": environment["id"], "session_id": session["id"]})


ROUTES = using(
    Templates,
    {
        "/templates": {"GET": list_templates, "POST": create_template},
        "/templates/{template_id}": {"GET": show_template, "PUT": rename_template, "DELETE": delete_template},
        "/templates/{template_id}/services": {"GET": list_services, "POST": add_service},
        "/templates/{template_id}/services/{service_id}": {"DELETE": remove_service},
        "/templates/{template_id}/create-environment": {"POST": create_environment},
    },
)
