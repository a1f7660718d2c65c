"""Records as clients of the database service see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from openstack_emulator.core.http import Request
from openstack_emulator.core.limits import usage
from openstack_emulator.core.typed import to_public
from openstack_emulator.database.records import (
    Backup,
    BackupStrategy,
    Cluster,
    Configuration,
    Datastore,
    DatastoreVersion,
    Instance,
    User,
)
from openstack_emulator.database.rules.backups import COMPLETED
from openstack_emulator.database.rules.composition import DatabaseService
from openstack_emulator.database.rules.inputs import Flavor
from openstack_emulator.database.rules.parameters import Parameter

Json = dict[str, Any]
_HEALTH = {"ACTIVE": "HEALTHY", "RESTART_REQUIRED": "HEALTHY", "BACKUP": "HEALTHY", "ERROR": "ERROR"}


def links(request: Request, collection: str, key: str) -> list[dict[str, str]]:
    """The links of an object."""
    own = f"/{request.context.project}/{collection}/{key}"
    return [
        {"rel": "self", "href": f"{request.base}/v1.0{own}"},
        {"rel": "bookmark", "href": f"{request.base}/{collection}/{key}"},
    ]


def _linked(request: Request, collection: str, key: str) -> Json:
    """The ID of an object with its links."""
    return {"id": key, "links": links(request, collection, key)}


# -- instances ----------------------------------------------------------------------------------------------------


def instance_summary(service: DatabaseService, request: Request, instance: Instance) -> Json:
    """An instance in a list."""
    names = service.datastores.names(instance.datastore_version_id)
    reachable = bool(instance.addresses) and instance.status != "BUILD"
    access = {"is_public": False} if reachable else {}
    shown: Json = {
        "id": instance.id,
        "name": instance.name,
        "status": instance.status,
        "operating_status": _HEALTH.get(instance.status, ""),
        "links": links(request, "instances", instance.id),
        "flavor": _linked(request, "flavors", instance.flavor_id),
        "volume": {"size": instance.volume_size},
        "datastore": {"type": names.type, "version": names.version},
        "region": instance.region,
        "access": access if instance.access is None else instance.access.to_json(),
        "hostname": instance.hostname,
    }
    if request.context.is_admin:
        shown |= {"tenant_id": instance.project_id}
    if instance.replica_of is not None:
        shown |= {"replica_of": _linked(request, "instances", instance.replica_of)}
    if reachable:
        shown |= {"addresses": [address.to_json() for address in instance.addresses], "ip": _addresses(instance)}
    return shown


def instance_detail(service: DatabaseService, request: Request, instance: Instance) -> Json:
    """An instance by itself."""
    configuration, replicas = instance.configuration_id, service.instances.replicas(instance)
    shown = {
        **instance_summary(service, request, instance),
        "created": instance.created,
        "updated": instance.updated,
        "service_status_updated": instance.updated,
        "availability_zone": instance.availability_zone,
        "locality": instance.locality,
        "datastore": service.datastores.names(instance.datastore_version_id)._asdict(),
        "volume": _volume(instance),
        "cluster_id": instance.cluster_id,
        "configuration": None if configuration is None else _attached(service, request, configuration),
        "replicas": [_linked(request, "instances", replica.id) for replica in replicas] or None,
        "fault": None if instance.failure is None else instance.failure.to_json(),
    }
    return {name: value for name, value in shown.items() if value is not None}


def _volume(instance: Instance) -> Json:
    used = {"used": 0.12} if instance.status in ("ACTIVE", "RESTART_REQUIRED") else {}
    kind = {} if instance.volume_type is None else {"type": instance.volume_type}
    return {"size": instance.volume_size, **used, **kind}


def _attached(service: DatabaseService, request: Request, key: str) -> Json:
    """A configuration group as its instances show it."""
    return {"name": service.configurations.rows.require(key).name, **_linked(request, "configurations", key)}


def _addresses(instance: Instance) -> list[str]:
    return [address.address for address in instance.addresses]


def user_view(user: User) -> Json:
    """A user of an instance, without the password."""
    return {"name": user.name, "host": user.host, "databases": databases_of(user)}


def databases_of(user: User) -> list[dict[str, str]]:
    """The databases that a user may use."""
    return [{"name": name} for name in user.databases]


# -- clusters -----------------------------------------------------------------------------------------------------

TASKS = {
    "NONE": (1, "No tasks for the cluster."),
    "BUILDING": (2, "Building the initial cluster."),
    "DELETING": (3, "Deleting the cluster."),
    "GROWING_CLUSTER": (6, "Increasing the size of the cluster."),
    "SHRINKING_CLUSTER": (7, "Decreasing the size of the cluster."),
}
"""What is done to clusters, with the number that the API has for it."""


def cluster_view(service: DatabaseService, request: Request, cluster: Cluster) -> Json:
    """A cluster with its instances."""
    number, description = TASKS[cluster.task]
    members = service.clusters.members(cluster)
    addresses = [address for row in members if row.status != "BUILD" for address in _addresses(row)]
    return {
        "id": cluster.id,
        "name": cluster.name,
        "task": {"id": number, "name": cluster.task, "description": description},
        "datastore": service.datastores.names(cluster.datastore_version_id)._asdict(),
        "instances": [member_view(request, row) for row in members],
        "links": links(request, "clusters", cluster.id),
        "created": cluster.created,
        "updated": cluster.updated,
        **({"locality": cluster.locality} if cluster.locality else {}),
        **({"ip": addresses} if addresses else {}),
        **({"tenant_id": cluster.project_id} if request.context.is_admin else {}),
    }


def member_view(request: Request, row: Instance) -> Json:
    """An instance of a cluster."""
    addresses = _addresses(row)
    return {
        "id": row.id,
        "name": row.name,
        "status": row.status,
        "type": row.type,
        "flavor": _linked(request, "flavors", row.flavor_id),
        "volume": {"size": row.volume_size},
        "links": links(request, "instances", row.id),
        **({"ip": addresses} if addresses and row.status != "BUILD" else {}),
    }


# -- backups and configuration groups -----------------------------------------------------------------------------


def backup_view(service: DatabaseService, backup: Backup) -> Json:
    """A backup; its size and its place are known when it is complete."""
    version = backup.datastore_version_id
    shown = {name: value for name, value in to_public(backup).items() if name != "datastore_version_id"}
    unknown = {} if backup.status == COMPLETED else dict.fromkeys(("size", "locationRef"))
    datastore = {**service.datastores.names(version)._asdict(), "version_id": version}
    return {**shown, **unknown, "datastore": datastore, "storage_driver": "swift"}


def strategy_view(strategy: BackupStrategy) -> Json:
    """Where backups go."""
    return {
        "project_id": strategy.project_id,
        "instance_id": strategy.instance_id,
        "backend": "swift",
        "swift_container": strategy.swift_container,
    }


def configuration_summary(service: DatabaseService, record: Configuration) -> Json:
    """A configuration group in a list."""
    names = service.datastores.names(record.datastore_version_id)
    return {
        "id": record.id,
        "name": record.name,
        "description": record.description,
        "created": record.created,
        "updated": record.updated,
        "datastore_name": names.type,
        "datastore_version_id": record.datastore_version_id,
        "datastore_version_name": names.version,
    }


def configuration_view(service: DatabaseService, record: Configuration) -> Json:
    """A configuration group by itself."""
    return {
        **configuration_summary(service, record),
        "values": record.values,
        "datastore_version_number": service.datastores.names(record.datastore_version_id).version_number,
        "instance_count": len(service.configurations.used_by(record)),
    }


# -- datastores, flavors, quotas ----------------------------------------------------------------------------------


def datastore_view(request: Request, store: Datastore, versions: Iterable[DatastoreVersion]) -> Json:
    """A datastore with those of its versions that the caller sees."""
    return {
        "id": store.id,
        "name": store.name,
        "versions": [version_view(request, version) for version in versions],
        "links": links(request, "datastores", store.id),
        **({} if store.default_version is None else {"default_version": store.default_version}),
    }


def version_view(request: Request, version: DatastoreVersion) -> Json:
    """A version; only administrators see where it comes from."""
    managed = {
        "active": version.active,
        "image": version.image,
        "image_tags": version.image_tags,
        "packages": ",".join(version.packages),
    }
    return {
        "id": version.id,
        "name": version.name,
        "datastore": version.datastore_id,
        "version": version.version,
        "links": links(request, "datastores/versions", version.id),
        **(managed if request.context.is_admin else {}),
    }


def managed_version(store: Datastore, version: DatastoreVersion) -> Json:
    """A version as administrators manage it."""
    return {
        "id": version.id,
        "name": version.name,
        "datastore_id": store.id,
        "datastore_name": store.name,
        "datastore_manager": version.manager,
        "image": version.image,
        "image_tags": version.image_tags,
        "packages": version.packages,
        "active": version.active,
        "default": store.default_version == version.id,
        "version": version.version,
    }


def parameter_view(version: DatastoreVersion, parameter: Parameter) -> Json:
    """A parameter of a version."""
    return {
        "name": parameter.name,
        "type": parameter.type,
        "restart_required": parameter.restart_required,
        "datastore_version_id": version.id,
        **({} if parameter.least is None else {"min": parameter.least}),
        **({} if parameter.most is None else {"max": parameter.most}),
    }


def flavor_view(request: Request, flavor: Flavor) -> Json:
    """A flavor; an ID that is not a number stands in `str_id` only."""
    key = flavor.id
    return {
        "id": int(key) if key.isascii() and key.isdigit() else None,
        "str_id": key,
        "name": flavor.name,
        "ram": flavor.ram,
        "vcpus": flavor.vcpus,
        "disk": flavor.disk,
        "ephemeral": flavor.ephemeral,
        "links": links(request, "flavors", key),
    }


def quotas_view(limits: Mapping[str, int], used: Mapping[str, int]) -> list[Json]:
    """The limits of a project, and what it uses of them."""
    return [{"resource": name, **row} for name, row in usage(limits, used).items()]
