"""Backups and their strategies over HTTP."""

from __future__ import annotations

from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.rules import visible
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean
from openstack_emulator.database.records import Backup
from openstack_emulator.database.routes.bodies import key_of
from openstack_emulator.database.routes.instances import reach
from openstack_emulator.database.routes.lists import list_response
from openstack_emulator.database.rules.composition import DatabaseService
from openstack_emulator.database.rules.inputs import NewBackup
from openstack_emulator.database.rules.validation import check
from openstack_emulator.database.views import backup_view, strategy_view

CONTAINER = "swift_container"
_TEXT = fields.nullable(fields.text(0, 255))
_FORMS = {
    "name": fields.text(1, 255),
    "instance": fields.text(1),
    "parent_id": _TEXT,
    "incremental": fields.boolean,
    "description": _TEXT,
    CONTAINER: _TEXT,
}
_STRATEGY_FORMS = {"instance_id": _TEXT, CONTAINER: fields.text(1, 255)}


def _found(service: DatabaseService, request: Request) -> Backup:
    return visible(service.backups.rows, request.context, key_of(request))


def create(service: DatabaseService, request: Request) -> Response:
    body = check("backup", request.object("backup"), _FORMS, ("name", "instance"), open=True)
    instance = service.instances.ready(request.context, body["instance"])
    new_backup = NewBackup(
        name=body["name"],
        description=body.get("description"),
        parent_id=body.get("parent_id"),
        incremental=bool(as_boolean(body.get("incremental", False))),
        container=body.get(CONTAINER),
    )
    backup = service.backups.create(request.context, instance, new_backup)
    return Response({"backup": backup_view(service, backup)}, 202)


def index(service: DatabaseService, request: Request) -> Response:
    caller, query, table = request.context, request.query, service.backups.rows
    project = caller.project
    if query.boolean("all_projects"):
        caller.require()
        rows = list(table)
    elif (value := query.get("project_id")) is not None and value != project:
        caller.require()
        rows = table.select(project_id=value)
    else:
        rows = table.select(project_id=project)
    if (instance := query.get("instance_id")) is not None:
        rows = [row for row in rows if row.instance_id == instance]
    if (store := query.get("datastore")) is not None:
        name = service.datastores.datastore(store).name
        rows = [row for row in rows if service.datastores.names(row.datastore_version_id).type == name]
    return list_response(request, "backups", rows, lambda row: backup_view(service, row))


def list_of_instance(service: DatabaseService, request: Request) -> Response:
    rows = service.backups.rows.select(instance_id=reach(service, request).id)
    return list_response(request, "backups", rows, lambda row: backup_view(service, row))


def show(service: DatabaseService, request: Request) -> Response:
    return Response({"backup": backup_view(service, _found(service, request))})


def delete(service: DatabaseService, request: Request) -> Response:
    service.backups.delete(_found(service, request))
    return Response(status=202)


# -- strategies -------------------------------------------------------------------------------------------------


def create_strategy(service: DatabaseService, request: Request) -> Response:
    """Set the container of a project's backups, or of those of one instance."""
    body = check("backup_strategy", request.object("backup_strategy"), _STRATEGY_FORMS, (CONTAINER,))
    project, instance_id = request.context.project, body.get("instance_id") or ""
    if instance_id:
        service.instances.reach(request.context, instance_id)
    strategy = service.backups.set_strategy(project, instance_id, body[CONTAINER])
    return Response({"backup_strategy": strategy_view(strategy)}, 202)


def list_strategies(service: DatabaseService, request: Request) -> Response:
    rows = service.backups.strategies.select(project_id=_strategy_project(request))
    if (instance := request.query.get("instance_id")) is not None:
        rows = [row for row in rows if row.instance_id == instance]
    return Response({"backup_strategies": [strategy_view(row) for row in rows]})


def delete_strategy(service: DatabaseService, request: Request) -> Response:
    instance_id = request.query.get("instance_id") or ""
    service.backups.remove_strategy(_strategy_project(request), instance_id)
    return Response(status=202)


def _strategy_project(request: Request) -> str:
    value = request.query.get("project_id")
    if value is not None and value != request.context.project:
        request.context.require()
        return value
    return request.context.project
