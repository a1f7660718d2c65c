"""Configuration groups: values of parameters that several instances can share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component, using, visible
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Context, Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.database.datastores import Datastores
from openstack_emulator.database.http import SECONDS, check, links, listed
from openstack_emulator.database.instances import READY, Instances

_TEXT = fields.nullable(fields.text(0, 255))
_FORMS: Mapping[str, fields.Check] = {
    "name": fields.text(1, 255),
    "description": _TEXT,
    "values": lambda value: None if isinstance(value, dict) else "is not an object",
    "datastore": lambda value: None if isinstance(value, dict) else "is not an object",
}
_CHANGES = {name: form for name, form in _FORMS.items() if name != "datastore"}
_DATASTORE_FORMS = {"type": _TEXT, "version": _TEXT, "version_number": _TEXT}


class Configurations(Component):
    """The configuration groups of all projects."""

    def __init__(self, records: Records, instances: Instances, datastores: Datastores) -> None:
        super().__init__(records)
        self.instances, self.datastores = instances, datastores
        self.rows = records.collection(
            "configurations",
            ("project_id",),
            lambda key: not_found(f"Configuration group with ID {key} could not be found."),
        )

    def suiting(self, caller: Context, key: str, version: Record) -> Record:
        """A configuration group for instances of a datastore version. Raises ApiError 400 and 404."""
        found = visible(self.rows, caller, key)
        if found["datastore_version_id"] != version["id"]:
            raise bad_request(
                f"Datastore Version on Configuration {found['datastore_version_id']} does not match the Datastore "
                f"Version on the instance {version['id']}."
            )
        return found

    def used_by(self, configuration: Record) -> list[Record]:
        """The instances that have a configuration group."""
        return self.instances.rows.select(configuration_id=configuration["id"])

    def attach(self, instance: Record, configuration: Record | None) -> None:
        """Give an instance a configuration group, or none. It needs a restart when such a parameter changes."""
        before = self.rows.get(instance["configuration_id"] or "")
        names = {name for one in (before, configuration) if one is not None for name in one["values"]}
        self.instances.rows.update(instance, configuration_id=None if configuration is None else configuration["id"])
        self._apply(instance, names)

    def change(self, configuration: Record, values: dict[str, Any]) -> None:
        """Set the values of a configuration group, also on its instances."""
        before = configuration["values"]
        names = {name for name in before.keys() | values.keys() if before.get(name) != values.get(name)}
        self.rows.update(configuration, values=values, updated=self.records.timestamp(SECONDS))
        for instance in self.used_by(configuration):
            self._apply(instance, names)

    def _apply(self, instance: Record, names: set[str]) -> None:
        version = self.datastores.versions.require(instance["datastore_version_id"])
        if instance["status"] in READY and self.datastores.need_restart(version, names):
            self.instances.rows.update(instance, status="RESTART_REQUIRED")


def view(configurations: Configurations, record: Record) -> dict[str, Any]:
    """A configuration group as clients see it."""
    datastore = configurations.datastores.shown(record["datastore_version_id"])
    return {
        **{name: record[name] for name in ("id", "name", "description", "values", "created", "updated")},
        "datastore_name": datastore["type"],
        "datastore_version_id": record["datastore_version_id"],
        "datastore_version_name": datastore["version"],
        "datastore_version_number": datastore["version_number"],
        "instance_count": len(configurations.used_by(record)),
    }


WHOLE = frozenset({"values", "datastore_version_number", "instance_count"})
"""What lists do not show."""


def index(configurations: Configurations, request: Request) -> Response:
    rows = configurations.rows.select(project_id=request.context.project)

    def brief(row: Record) -> dict[str, Any]:
        return {name: value for name, value in view(configurations, row).items() if name not in WHOLE}

    return listed(request, "configurations", rows, brief)


def create(configurations: Configurations, request: Request) -> Response:
    given = check("configuration", request.object("configuration"), _FORMS, ("name", "values"), open=True)
    chosen = check("datastore", given.get("datastore") or {}, _DATASTORE_FORMS)
    version = configurations.datastores.chosen(chosen)
    configurations.datastores.check_values(version, given["values"])
    now = configurations.records.timestamp(SECONDS)
    made = configurations.rows.add(
        {
            "id": new_id(),
            "project_id": request.context.project,
            "name": given["name"],
            "description": given.get("description"),
            "values": given["values"],
            "datastore_version_id": version["id"],
            "created": now,
            "updated": now,
        }
    )
    return Response({"configuration": view(configurations, made)})


def _found(configurations: Configurations, request: Request) -> Record:
    return visible(configurations.rows, request.context, request.vars["id"])


def show(configurations: Configurations, request: Request) -> Response:
    return Response({"configuration": view(configurations, _found(configurations, request))})


def list_instances(configurations: Configurations, request: Request) -> Response:
    rows = configurations.used_by(_found(configurations, request))
    return listed(request, "instances", rows, lambda row: {"id": row["id"], "name": row["name"]})


def _change(configurations: Configurations, request: Request, keep: bool) -> Record:
    record = _found(configurations, request)
    given = check("configuration", request.object("configuration"), _CHANGES)
    version = configurations.datastores.versions.require(record["datastore_version_id"])
    values: dict[str, Any] = given["values"] if "values" in given else record["values"] if keep else {}
    configurations.datastores.check_values(version, values)
    named = {name: given[name] for name in ("name", "description") if name in given}
    configurations.rows.update(record, **named)
    configurations.change(record, {**record["values"], **values} if keep else values)
    return record


def edit(configurations: Configurations, request: Request) -> Response:
    """Set some values; the others stay."""
    record = _change(configurations, request, keep=True)
    return Response({"configuration": view(configurations, record)})


def replace(configurations: Configurations, request: Request) -> Response:
    """Set all values."""
    _change(configurations, request, keep=False)
    return Response(status=202)


def delete(configurations: Configurations, request: Request) -> Response:
    record = _found(configurations, request)
    if configurations.used_by(record):
        raise bad_request(
            f"Unable to delete configuration group '{record['name']}' because it is associated with one or more "
            "active instances."
        )
    configurations.rows.remove(record)
    return Response(status=202)


def show_default(configurations: Configurations, request: Request) -> Response:
    """The parameters that are set on an instance by its size, without a configuration group."""
    instance = configurations.instances.reach(request.context, request.vars["id"])
    version = configurations.datastores.versions.require(instance["datastore_version_id"])
    known = {one["name"] for one in configurations.datastores.parameters(version)}
    megabytes = max(int(instance["_ram"]), 1)
    usual = {
        "max_connections": min(100 * max(megabytes // 512, 1), 100000),
        "innodb_buffer_pool_size": megabytes * 1024 * 1024 // 3,
        "wait_timeout": 120,
        "connect_timeout": 15,
    }
    return Response({"instance": {"configuration": {name: value for name, value in usual.items() if name in known}}})


def show_links(request: Request, configurations: Configurations, key: str) -> dict[str, Any]:
    """A configuration group as its instances show it."""
    name = configurations.rows.require(key)["name"]
    return {"id": key, "name": name, "links": links(request, "configurations", key)}


CONFIGURATION_ROUTES = using(
    Configurations,
    {
        "/configurations": {"GET": index, "POST": create},
        "/configurations/{id}": {"GET": show, "PATCH": edit, "PUT": replace, "DELETE": delete},
        "/configurations/{id}/instances": {"GET": list_instances},
        "/instances/{id}/configuration": {"GET": show_default},
    },
)
