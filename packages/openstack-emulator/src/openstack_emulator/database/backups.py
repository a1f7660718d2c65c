"""Backups of instances, and where projects keep theirs."""

from __future__ import annotations

import copy
from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component, using, visible
from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.database.datastores import Datastores
from openstack_emulator.database.http import SECONDS, check, listed
from openstack_emulator.database.instances import Instances
from openstack_emulator.database.quotas import Quotas

SECONDS_TO_BACK_UP = 5.0
DEFAULT_CONTAINER = "database_backups"
_TEXT = fields.nullable(fields.text(0, 255))
_FORMS = {
    "name": fields.text(1, 255),
    "instance": fields.text(1),
    "parent_id": _TEXT,
    "incremental": fields.boolean,
    "description": _TEXT,
    "swift_container": _TEXT,
}
_STRATEGY_FORMS = {"instance_id": _TEXT, "swift_container": fields.text(1, 255)}


class Backups(Component):
    """The backups of all projects, and their backup strategies."""

    def __init__(
        self, records: Records, instances: Instances, datastores: Datastores, quotas: Quotas, rows: Any
    ) -> None:
        super().__init__(records)
        self.rows = rows
        self.instances, self.datastores, self.quotas = instances, datastores, quotas
        self.strategies = records.collection("backup_strategies", ("project_id",))
        records.deferrable(self.finish_backup, self.remove_backup)

    def finish_backup(self, key: str) -> None:
        """Complete a backup with what its instance contains now; one that a fault rule dooms has failed."""
        backup = self.rows.get(key)
        if backup is None or backup["status"] != "BUILDING":
            return
        instance = self.instances.rows.get(backup["instance_id"])
        failed = backup.pop("_fault", None) is not None or instance is None
        self.rows.update(backup, status="FAILED" if failed else "COMPLETED", updated=self.records.timestamp(SECONDS))
        if instance is not None and instance["status"] == "BACKUP":
            self.instances.rows.update(instance, status="ACTIVE")
        if instance is not None and not failed:
            contents = {name: copy.deepcopy(instance[name]) for name in ("databases", "users")}
            self.rows.update(backup, _contents=contents)

    def remove_backup(self, key: str) -> None:
        """Remove a backup, and the incremental ones that build on it."""
        if (backup := self.rows.get(key)) is None:
            return
        for child in self.rows.select(parent_id=key):
            self.remove_backup(child["id"])
        self.rows.remove(backup)

    def container(self, project_id: str, instance_id: str) -> str:
        """The container that the strategy of an instance, or else of its project, names."""
        known = {one["instance_id"]: one["swift_container"] for one in self.strategies.select(project_id=project_id)}
        return str(known.get(instance_id) or known.get("") or DEFAULT_CONTAINER)


def create(backups: Backups, request: Request) -> Response:
    caller = request.context
    given = check("backup", request.object("backup"), _FORMS, ("name", "instance"), open=True)
    instance = backups.instances.ready(caller, given["instance"])
    parent = None
    if given.get("parent_id"):
        parent = visible(backups.rows, caller, given["parent_id"])
        if parent["instance_id"] != instance["id"]:
            raise bad_request(f"Backup {parent['id']} is not of instance {instance['id']}.")
    elif fields.as_boolean(given.get("incremental", False)):
        complete = [one for one in backups.rows.select(instance_id=instance["id"]) if one["status"] == "COMPLETED"]
        parent = complete[-1] if complete else None
    if parent is not None and parent["status"] != "COMPLETED":
        raise ApiError(409, f"Backup {parent['id']} is not completed. Actual state: {parent['status']}.")
    backups.quotas.admit(caller.project, backups=1)
    container = given.get("swift_container") or backups.container(caller.project, instance["id"])
    now, key = backups.records.timestamp(SECONDS), new_id()
    made = backups.rows.add(
        {
            "id": key,
            "project_id": instance["project_id"],
            "name": given["name"],
            "description": given.get("description"),
            "instance_id": instance["id"],
            "parent_id": None if parent is None else parent["id"],
            "datastore_version_id": instance["datastore_version_id"],
            "locationRef": f"{backups.cloud.endpoint}/object-store/v1/AUTH_{instance['project_id']}/{container}/{key}",
            "size": instance["volume_size"],
            "status": "BUILDING",
            "created": now,
            "updated": now,
            "_contents": {"databases": [], "users": []},
        }
    )
    backups.instances.rows.update(instance, status="BACKUP")
    backups.after(SECONDS_TO_BACK_UP, backups.finish_backup, key)
    return Response({"backup": view(backups, made)}, 202)


def view(backups: Backups, backup: Record) -> dict[str, Any]:
    """A backup as clients see it; its size is known when it is complete."""
    shown = {name: value for name, value in backup.items() if name[0] != "_" and name != "datastore_version_id"}
    version = backup["datastore_version_id"]
    complete = backup["status"] == "COMPLETED"
    return {
        **shown,
        "size": backup["size"] if complete else None,
        "locationRef": backup["locationRef"] if complete else None,
        "datastore": {**backups.datastores.shown(version), "version_id": version},
        "storage_driver": "swift",
    }


def index(backups: Backups, request: Request) -> Response:
    caller, query = request.context, request.query
    project = caller.project
    if query.boolean("all_projects"):
        caller.require()
        rows = list(backups.rows)
    elif (wanted := query.get("project_id")) is not None and wanted != project:
        caller.require()
        rows = backups.rows.select(project_id=wanted)
    else:
        rows = backups.rows.select(project_id=project)
    if (instance := query.get("instance_id")) is not None:
        rows = [row for row in rows if row["instance_id"] == instance]
    if (store := query.get("datastore")) is not None:
        found = backups.datastores.datastore(store)["name"]
        rows = [row for row in rows if backups.datastores.shown(row["datastore_version_id"])["type"] == found]
    return listed(request, "backups", rows, lambda row: view(backups, row))


def list_of_instance(backups: Backups, request: Request) -> Response:
    instance = backups.instances.reach(request.context, request.vars["id"])
    rows = backups.rows.select(instance_id=instance["id"])
    return listed(request, "backups", rows, lambda row: view(backups, row))


def show(backups: Backups, request: Request) -> Response:
    return Response({"backup": view(backups, visible(backups.rows, request.context, request.vars["id"]))})


def delete(backups: Backups, request: Request) -> Response:
    backup = visible(backups.rows, request.context, request.vars["id"])
    if backup["status"] not in ("COMPLETED", "FAILED"):
        raise ApiError(422, f"Backup {backup['id']} is in state {backup['status']} and cannot be deleted.")
    backups.rows.update(backup, status="DELETING")
    backups.after(1.0, backups.remove_backup, backup["id"])
    return Response(status=202)


# -- strategies -------------------------------------------------------------------------------------------------


def _strategy_view(strategy: Record) -> dict[str, Any]:
    return {
        "project_id": strategy["project_id"],
        "instance_id": strategy["instance_id"],
        "backend": "swift",
        "swift_container": strategy["swift_container"],
    }


def create_strategy(backups: Backups, request: Request) -> Response:
    """Set the container of a project's backups, or of those of one instance."""
    given = check("backup_strategy", request.object("backup_strategy"), _STRATEGY_FORMS, ("swift_container",))
    project, instance_id = request.context.project, given.get("instance_id") or ""
    if instance_id:
        backups.instances.reach(request.context, instance_id)
    known = backups.strategies.first(project_id=project, instance_id=instance_id)
    if known is None:
        known = backups.strategies.add({"id": new_id(), "project_id": project, "instance_id": instance_id})
    backups.strategies.update(known, swift_container=given["swift_container"])
    return Response({"backup_strategy": _strategy_view(known)}, 202)


def list_strategies(backups: Backups, request: Request) -> Response:
    rows = backups.strategies.select(project_id=_strategy_project(request))
    if (instance := request.query.get("instance_id")) is not None:
        rows = [row for row in rows if row["instance_id"] == instance]
    return Response({"backup_strategies": [_strategy_view(row) for row in rows]})


def delete_strategy(backups: Backups, request: Request) -> Response:
    instance_id = request.query.get("instance_id") or ""
    found = backups.strategies.first(project_id=_strategy_project(request), instance_id=instance_id)
    if found is None:
        raise not_found("The backup strategy cannot be found.")
    backups.strategies.remove(found)
    return Response(status=202)


def _strategy_project(request: Request) -> str:
    wanted = request.query.get("project_id")
    if wanted is not None and wanted != request.context.project:
        request.context.require()
        return wanted
    return request.context.project


BACKUP_ROUTES = using(
    Backups,
    {
        "/backups": {"GET": index, "POST": create},
        "/backups/{id}": {"GET": show, "DELETE": delete},
        "/instances/{id}/backups": {"GET": list_of_instance},
        "/backup_strategies": {"GET": list_strategies, "POST": create_strategy, "DELETE": delete_strategy},
    },
)
