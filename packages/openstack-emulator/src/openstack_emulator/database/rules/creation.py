"""Creation of instances: new ones, from backups, and replicas."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import ApiError, bad_request, conflict, forbidden
from openstack_emulator.core.http import Context, Request
from openstack_emulator.core.rules import Rules, visible
from openstack_emulator.core.validation import fields
from openstack_emulator.core.validation.conversions import as_boolean, as_integer
from openstack_emulator.core.validation.problems import Check
from openstack_emulator.database.records import Access, DatastoreVersion, Instance
from openstack_emulator.database.rules.backups import COMPLETED, Backups
from openstack_emulator.database.rules.configurations import Configurations
from openstack_emulator.database.rules.contents import (
    initial_databases,
    initial_users,
    new_databases,
    new_users,
)
from openstack_emulator.database.rules.datastores import Datastores
from openstack_emulator.database.rules.flavors import usable_flavor
from openstack_emulator.database.rules.inputs import REGION, NewInstance, Nic
from openstack_emulator.database.rules.instances import Instances, require_standalone
from openstack_emulator.database.rules.networks import NIC_FORMS, connect, disconnect, nics_problem
from openstack_emulator.database.rules.quotas import Quotas
from openstack_emulator.database.rules.validation import check, objects, unsupported

_TEXT = fields.nullable(fields.text(1))
_OBJECT = fields.nullable(fields.mapping)
VOLUME_FORMS = {"size": fields.integer(1), "type": _TEXT}
DATASTORE_FORMS = {"type": _TEXT, "version": _TEXT, "version_number": _TEXT}
_FORMS: Mapping[str, Check] = {
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
    "modules": unsupported,
}
_ACCESS_FORMS = {"is_public": fields.boolean, "allowed_cidrs": fields.nullable(fields.items(fields.text(1)))}
_BACKUP = "backupRef"


class Creation(Rules):
    """Creates instances as requests describe them."""

    def __init__(
        self,
        records: Records,
        instances: Instances,
        datastores: Datastores,
        backups: Backups,
        configurations: Configurations,
        quotas: Quotas,
    ) -> None:
        super().__init__(records)
        self._instances, self._datastores, self._quotas = instances, datastores, quotas
        self._backups, self._configurations = backups, configurations

    def create(self, request: Request) -> Instance:
        """The new instance; the first of several replicas. Raises ApiError 400, 403, 404, 409, 413 and 422."""
        caller = request.context
        body = check("instance", request.object("instance"), _FORMS, ("name",), open=True)
        source = self._source(caller, body)
        flavor = usable_flavor(self.cloud, request, body.get("flavorRef") if source is None else source.flavor_id)
        version = self._version(body, source)
        nics = nics_of(body.get("nics"))
        problem = nics_problem(self.cloud, caller, nics)
        volume = check("volume", body.get("volume") or {}, VOLUME_FORMS)
        size = as_integer(volume.get("size", None if source is None else source.volume_size))
        if size is None:
            raise bad_request("Volume size was not specified.")
        databases = initial_databases(body.get("databases"))
        new_instance = NewInstance(
            name=body["name"],
            flavor=flavor,
            volume_size=size,
            volume_type=volume.get("type"),
            datastore_version_id=version.id,
            availability_zone=body.get("availability_zone"),
            region=body.get("region_name") or REGION,
            locality=body.get("locality"),
            nics=() if problem else nics,
            databases=databases,
            users=initial_users(body.get("users"), databases),
            access=access_of(body.get("access")),
            replica_of=None if source is None else source.id,
            configuration_id=self._configuration(caller, body, version),
            fault=None if problem is None else f"Failed to create User port for instance: {problem}",
        )
        if source is not None:
            new_instance = dataclasses.replace(
                new_instance, databases=source.databases, users=source.users, root_enabled=source.root_enabled
            )
        elif body.get("restorePoint"):
            new_instance = self._restored(caller, body, new_instance)
        count = as_integer(body.get("replica_count") or 1) or 1
        if count > 1 and source is None:
            raise bad_request("Replica count requires an instance to replicate.")
        names = [new_instance.name] if count == 1 else [f"{new_instance.name}-{number + 1}" for number in range(count)]
        return self.add(caller.project, [dataclasses.replace(new_instance, name=name) for name in names])[0]

    def add(self, project_id: str, planned: Sequence[NewInstance]) -> list[Instance]:
        """Add instances. Raises ApiError 413, and 400 for addresses that are not available; then there are none."""
        self._quotas.admit(
            project_id,
            instances=len(planned),
            volumes=sum(new_instance.volume_size for new_instance in planned),
            ram=sum(new_instance.flavor.ram for new_instance in planned),
        )
        instances: list[Instance] = []
        try:
            for new_instance in planned:
                instance = self._instances.new(project_id, new_instance)
                connect(self.cloud, instance, new_instance.nics)
                instances.append(instance)
        except ApiError:
            for instance in instances:
                disconnect(self.cloud, instance)
            raise
        return [self._instances.build(instance) for instance in instances]

    def _source(self, caller: Context, body: Mapping[str, Any]) -> Instance | None:
        key = body.get("replica_of") or body.get("slave_of")
        if key is None:
            return None
        for name, title in (("flavorRef", "flavor"), ("datastore", "datastore"), ("volume", "volume")):
            if body.get(name):
                raise bad_request(f"Cannot specify {title} when creating replicas.")
        source = self._instances.ready(caller, key)
        require_standalone(source)
        if source.replica_of is not None:
            raise forbidden(f"Cannot create a replica of a replica {source.id}.")
        for name in ("restorePoint", "databases", "users"):
            if body.get(name):
                raise bad_request(f"A replica cannot have {name}: its content is that of the source.")
        return source

    def _version(self, body: Mapping[str, object], source: Instance | None) -> DatastoreVersion:
        chosen = check("datastore", body.get("datastore") or {}, DATASTORE_FORMS)
        if source is None:
            return self._datastores.chosen(chosen)
        return self._datastores.versions.require(source.datastore_version_id)

    def _configuration(self, caller: Context, body: Mapping[str, Any], version: DatastoreVersion) -> str | None:
        key = body.get("configuration")
        return self._configurations.suiting(caller, key, version).id if key else None

    def _restored(self, caller: Context, body: Mapping[str, object], new_instance: NewInstance) -> NewInstance:
        """An instance with the content of a backup. Raises ApiError 400, 403, 404 and 409."""
        point = check("restorePoint", body.get("restorePoint"), {_BACKUP: fields.text(1)}, (_BACKUP,))
        backup = visible(self._backups.rows, caller, point[_BACKUP].rstrip("/").rpartition("/")[2])
        if backup.status != COMPLETED:
            raise conflict(
                f"Unable to create instance because backup {backup.id} is not completed. Actual state: {backup.status}."
            )
        if backup.datastore_version_id != new_instance.datastore_version_id:
            raise bad_request("The datastore of the backup and the instance differ.")
        if new_instance.volume_size < backup.size:
            raise forbidden(
                f"Backup is too large for given flavor or volume. Backup size: {backup.size} GBs. "
                f"Available size: {new_instance.volume_size} GBs."
            )
        contents = backup.contents
        return dataclasses.replace(
            new_instance,
            databases=[*contents.databases, *new_databases(body.get("databases"), contents.databases)],
            users=[*contents.users, *new_users(body.get("users"), contents.users)],
        )


def nics_of(value: object) -> tuple[Nic, ...]:
    """The connections to networks in a request. Raises ApiError 400."""
    return tuple(Nic.from_json(nic) for nic in objects("nics", value, NIC_FORMS))


def access_of(value: object) -> Access | None:
    """Who may reach an instance from outside, as a request gives it. Raises ApiError 400."""
    if not value:
        return None
    body = check("access", value, _ACCESS_FORMS)
    public = bool(as_boolean(body.get("is_public", False)))
    return Access(is_public=public, allowed_cidrs=body.get("allowed_cidrs") or [])
