"""Datastores: kinds of database servers, and their versions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict, not_found
from openstack_emulator.core.rules import Rules
from openstack_emulator.database.records import Datastore, DatastoreVersion
from openstack_emulator.database.rules.inputs import NewVersion
from openstack_emulator.database.rules.parameters import PRESETS, Parameter

DEFAULT = "mysql"
CLUSTERS = {"mariadb": 3}
"""Datastores that can be clustered, and the least number of instances in a new cluster."""


class VersionNames(NamedTuple):
    """A datastore and its version as instances show them."""

    type: str
    version: str
    version_number: str | None


class Datastores(Rules):
    """The datastores, their versions, and their parameters.

    rows, versions: their tables.
    """

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table(
            "datastores", Datastore, "name", missing=lambda key: not_found(f"Datastore '{key}' cannot be found.")
        )
        self.versions = records.table(
            "datastore_versions",
            DatastoreVersion,
            "datastore_id",
            "name",
            missing=lambda key: bad_request(f"Datastore version '{key}' cannot be found."),
        )

    def seed(self) -> None:
        """Add the usual datastores."""
        for name, (versions, _) in PRESETS.items():
            for version in versions:
                self.add_version(
                    NewVersion(
                        datastore=name,
                        manager=name,
                        name=version,
                        version=version,
                        is_default=version == versions[0],
                    )
                )

    def add_version(self, new_version: NewVersion) -> None:
        """Add a version, and its datastore if it is new. Raises ApiError 409."""
        store = self.rows.first(name=new_version.datastore)
        if store is None:
            store = self.rows.add(Datastore(id=new_id(), name=new_version.datastore, default_version=None))
        elif self.versions.first(datastore_id=store.id, name=new_version.name) is not None:
            raise conflict(f"A datastore version with the name '{new_version.name}' already exists.")
        version = self.versions.add(
            DatastoreVersion(
                id=new_id(),
                datastore_id=store.id,
                name=new_version.name,
                manager=new_version.manager,
                active=new_version.active,
                version=new_version.version,
                image=new_version.image,
                image_tags=new_version.image_tags,
                packages=new_version.packages,
            )
        )
        if new_version.is_default:
            self.set_default(store, version.id)

    def set_default(self, store: Datastore, version_id: str | None) -> None:
        """Let a datastore have a version by default, or none."""
        store.default_version = version_id
        self.rows.save(store)

    def remove(self, store: Datastore) -> None:
        """Remove a datastore. Raises ApiError 400 for one with versions."""
        if self.versions.first(datastore_id=store.id) is not None:
            raise bad_request(f"Datastore {store.name} has versions and cannot be deleted.")
        self.rows.remove(store)

    def datastore(self, key: str) -> Datastore:
        """A datastore, by ID or name. Raises ApiError 404."""
        return self.rows.first(name=key) or self.rows.require(key)

    def version(self, store: Datastore, key: str) -> DatastoreVersion:
        """A version of a datastore, by ID or name. Raises ApiError 400."""
        found = self.versions.first(datastore_id=store.id, name=key) or self.versions.require(key)
        if found.datastore_id != store.id:
            raise self.versions.missing(key)
        return found

    def chosen(self, selection: Mapping[str, Any]) -> DatastoreVersion:
        """The version for a new instance, from `{type, version}`, both optional. Raises ApiError 400 and 404."""
        if selection.get("type") is None and selection.get("version") is not None:
            raise bad_request("Datastore type must be specified with the version.")
        store = self.datastore(selection.get("type") or DEFAULT)
        key = selection.get("version") or store.default_version
        if key is None:
            raise not_found(f"Default version for datastore '{store.name}' not found.")
        version = self.version(store, key)
        if not version.active:
            raise bad_request(f"Datastore version '{version.name}' is not active.")
        return version

    def store_of(self, version: DatastoreVersion) -> Datastore:
        """The datastore of a version."""
        return self.rows.require(version.datastore_id)

    def names(self, version_id: str) -> VersionNames:
        """The datastore and version as instances show them."""
        version = self.versions.require(version_id)
        return VersionNames(self.store_of(version).name, version.name, version.version)

    def parameters(self, version: DatastoreVersion) -> Sequence[Parameter]:
        """The parameters of a version."""
        return PRESETS[version.manager][1] if version.manager in PRESETS else ()

    def check_values(self, version: DatastoreVersion, values: Mapping[str, object]) -> None:
        """Refuse values of parameters that a version does not accept. Raises ApiError 422."""
        known = {parameter.name: parameter for parameter in self.parameters(version)}
        for name, value in values.items():
            if name not in known:
                raise ApiError(
                    422, f"The configuration parameter {name} is not supported for this datastore: {version.name}."
                )
            known[name].check(value)

    def need_restart(self, version: DatastoreVersion, names: Collection[str]) -> bool:
        """Whether a change of one of these parameters needs a restart of the database server."""
        return any(parameter.restart_required for parameter in self.parameters(version) if parameter.name in names)
