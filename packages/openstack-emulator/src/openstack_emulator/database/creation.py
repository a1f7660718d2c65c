"""Creation of instances: new ones, from backups, and replicas."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from openstack_emulator.core import fields
from openstack_emulator.core.component import Component, visible
from openstack_emulator.core.errors import ApiError, bad_request, conflict, forbidden
from openstack_emulator.core.http import Context, Request
from openstack_emulator.core.store import Record
from openstack_emulator.database.backups import Backups
from openstack_emulator.database.configurations import Configurations
from openstack_emulator.database.contents import initial_databases, initial_users, new_databases, new_users
from openstack_emulator.database.datastores import Datastores
from openstack_emulator.database.flavors import usable_flavor
from openstack_emulator.database.http import check, objects
from openstack_emulator.database.instances import Instances, require_alone
from openstack_emulator.database.networks import NIC_FORMS, connect, disconnect, nics_problem
from openstack_emulator.database.quotas import Quotas

Planned = tuple[dict[str, Any], Sequence[Mapping[str, Any]]]
"""The fields of a new instance, and its nics."""
_TEXT = fields.nullable(fields.text(1))
_OBJECT = fields.nullable(lambda value: None if isinstance(value, dict) else "is not an object")
VOLUME_FORMS = {"size": fields.integer(1), "type": _TEXT}
DATASTORE_FORMS = {"type": _TEXT, "version": _TEXT, "version_number": _TEXT}
_FORMS: Mapping[str, fields.Check] = {
    "name": fields.text(1, 255),
    "flavorRef": fields.nullable(fields.either(fields.integer(0), fields.text(1))),
    "volume": _OBJECT,
    "databases": fields.anything,
    "users": fields.anything,
    "restorePoint": _OBJECT,
    "availability_zone": _TEXT,
    "datastore": _OBJECT,
    "nics": fields.anything,
    "configuration": _TEXT,
    "replica_of": _TEXT,
    "slave_of": _TEXT,
    "replica_count": fields.nullable(fields.integer(1)),
    "region_name": _TEXT,
    "locality": fields.nullable(fields.one_of("affinity", "anti-affinity")),
    "access": _OBJECT,
    "modules": lambda value: "is not supported by the emulated cloud" if value else None,
}
_ACCESS_FORMS = {"is_public": fields.boolean, "allowed_cidrs": fields.nullable(fields.items(fields.text(1)))}


class Creation(Component):
    """Creates instances as requests describe them."""

    def __init__(
        self,
        records: Any,
        instances: Instances,
        datastores: Datastores,
        backups: Backups,
        configurations: Configurations,
        quotas: Quotas,
    ) -> None:
        super().__init__(records)
        self._instances, self._datastores, self._quotas = instances, datastores, quotas
        self._backups, self._configurations = backups, configurations

    def create(self, request: Request) -> Record:
        """The new instance; the first of several replicas. Raises ApiError 400, 403, 404, 409, 413 and 422."""
        caller = request.context
        given = check("instance", request.object("instance"), _FORMS, ("name",), open=True)
        source = self._source(caller, given)
        copied: Mapping[str, Any] = source or {}
        wanted = self._flavor(request, given, source)
        version = self._version(given, source)
        nics = objects("nics", given.get("nics"), NIC_FORMS)
        problem = nics_problem(self.cloud, caller, nics)
        volume = check("volume", given.get("volume") or {}, VOLUME_FORMS)
        size = volume.get("size", copied.get("volume_size"))
        if size is None:
            raise bad_request("Volume size was not specified.")
        databases = initial_databases(given.get("databases"))
        users = initial_users(given.get("users"), databases)
        values: dict[str, Any] = {
            "flavor_id": wanted["id"],
            "_ram": wanted["ram"],
            "volume_size": fields.as_integer(size),
            "volume_type": volume.get("type"),
            "datastore_version_id": version["id"],
            "availability_zone": given.get("availability_zone"),
            "region": given.get("region_name") or "RegionOne",
            "locality": given.get("locality"),
            "access": access_of(given.get("access")),
            "databases": databases,
            "users": users,
            "replica_of": copied.get("id"),
            "configuration_id": self._configuration(caller, given, version),
            **({} if problem is None else {"_fault": f"Failed to create User port for instance: {problem}"}),
        }
        values = self._with_contents(caller, given, source, values, version)
        count = fields.as_integer(given.get("replica_count") or 1) or 1
        if count > 1 and source is None:
            raise bad_request("Replica count requires an instance to replicate.")
        names = [given["name"]] if count == 1 else [f"{given['name']}-{number + 1}" for number in range(count)]
        planned = [({**copy.deepcopy(values), "name": name}, () if problem else nics) for name in names]
        return self.add(caller.project, planned)[0]

    def add(self, project_id: str, planned: Sequence[Planned]) -> list[Record]:
        """Add instances. Raises ApiError 413, and 400 for addresses that are not available; then there are none."""
        self._quotas.admit(
            project_id,
            instances=len(planned),
            volumes=sum(values["volume_size"] for values, _ in planned),
            ram=sum(values["_ram"] for values, _ in planned),
        )
        made: list[Record] = []
        try:
            for values, nics in planned:
                instance = self._instances.new(project_id, values)
                connect(self.cloud, instance, nics)
                made.append(instance)
        except ApiError:
            for instance in made:
                disconnect(self.cloud, instance)
            raise
        return [self._instances.build(instance) for instance in made]

    def _source(self, caller: Context, given: Mapping[str, Any]) -> Record | None:
        key = given.get("replica_of") or given.get("slave_of")
        if key is None:
            return None
        for name, title in (("flavorRef", "flavor"), ("datastore", "datastore"), ("volume", "volume")):
            if given.get(name):
                raise bad_request(f"Cannot specify {title} when creating replicas.")
        source = self._instances.ready(caller, key)
        require_alone(source)
        if source["replica_of"] is not None:
            raise forbidden(f"Cannot create a replica of a replica {source['id']}.")
        for name in ("restorePoint", "databases", "users"):
            if given.get(name):
                raise bad_request(f"A replica cannot have {name}: its content is that of the source.")
        return source

    def _flavor(self, request: Request, given: Mapping[str, Any], source: Mapping[str, Any] | None) -> dict[str, Any]:
        """The flavor of a new instance: the one that is asked for, or that of the source. Raises ApiError 400."""
        return usable_flavor(self.cloud, request, given.get("flavorRef") if source is None else source["flavor_id"])

    def _version(self, given: Mapping[str, Any], source: Mapping[str, Any] | None) -> Record:
        chosen = check("datastore", given.get("datastore") or {}, DATASTORE_FORMS)
        if source is None:
            return self._datastores.chosen(chosen)
        return self._datastores.versions.require(source["datastore_version_id"])

    def _configuration(self, caller: Context, given: Mapping[str, Any], version: Record) -> str | None:
        if not given.get("configuration"):
            return None
        return str(self._configurations.suiting(caller, given["configuration"], version)["id"])

    def _with_contents(
        self,
        caller: Context,
        given: Mapping[str, Any],
        source: Mapping[str, Any] | None,
        values: dict[str, Any],
        version: Record,
    ) -> dict[str, Any]:
        """The values of an instance with the content of its source or its backup."""
        if source is not None:
            copied = ("databases", "users", "root_enabled")
            return {**values, **{name: source[name] for name in copied}}
        if not given.get("restorePoint"):
            return values
        point = check("restorePoint", given["restorePoint"], {"backupRef": fields.text(1)}, ("backupRef",))
        backup = visible(self._backups.rows, caller, point["backupRef"].rstrip("/").rpartition("/")[2])
        if backup["status"] != "COMPLETED":
            raise conflict(
                f"Unable to create instance because backup {backup['id']} is not completed. "
                f"Actual state: {backup['status']}."
            )
        if backup["datastore_version_id"] != version["id"]:
            raise bad_request("The datastore of the backup and the instance differ.")
        if values["volume_size"] < backup["size"]:
            raise forbidden(
                f"Backup is too large for given flavor or volume. Backup size: {backup['size']} GBs. "
                f"Available size: {values['volume_size']} GBs."
            )
        kept = backup["_contents"]
        return {
            **values,
            "databases": [*kept["databases"], *new_databases(given.get("databases"), kept["databases"])],
            "users": [*kept["users"], *new_users(given.get("users"), kept["users"])],
        }


def access_of(given: Any) -> dict[str, Any] | None:
    """Who may reach an instance from outside, as a request gives it. Raises ApiError 400."""
    if not given:
        return None
    wanted = check("access", given, _ACCESS_FORMS)
    public = bool(fields.as_boolean(wanted.get("is_public", False)))
    return {"is_public": public, "allowed_cidrs": wanted.get("allowed_cidrs") or []}
