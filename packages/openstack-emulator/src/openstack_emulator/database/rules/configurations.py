"""Configuration groups: values of parameters that several instances can share."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import visible
from openstack_emulator.database.records import Configuration, DatastoreVersion, Instance
from openstack_emulator.database.rules.datastores import Datastores
from openstack_emulator.database.rules.instances import READY, Instances
from openstack_emulator.database.rules.timed import TimedRules


class Configurations(TimedRules):
    """The configuration groups of all projects.

    rows: their table.
    """

    def __init__(self, records: Records, instances: Instances, datastores: Datastores) -> None:
        super().__init__(records)
        self._instances, self._datastores = instances, datastores
        self.rows = records.table(
            "configurations",
            Configuration,
            "project_id",
            missing=lambda key: not_found(f"Configuration group with ID {key} could not be found."),
        )

    def create(
        self, project_id: str, name: str, description: str | None, values: dict[str, object], version: DatastoreVersion
    ) -> Configuration:
        """Create a configuration group. Raises ApiError 422 for values that the version does not accept."""
        self._datastores.check_values(version, values)
        now = self.now()
        return self.rows.add(
            Configuration(
                id=new_id(),
                project_id=project_id,
                name=name,
                description=description,
                values=values,
                datastore_version_id=version.id,
                created=now,
                updated=now,
            )
        )

    def suiting(self, caller: Context, key: str, version: DatastoreVersion) -> Configuration:
        """A configuration group for instances of a datastore version. Raises ApiError 400 and 404."""
        found = visible(self.rows, caller, key)
        if found.datastore_version_id != version.id:
            raise bad_request(
                f"Datastore Version on Configuration {found.datastore_version_id} does not match the Datastore "
                f"Version on the instance {version.id}."
            )
        return found

    def used_by(self, configuration: Configuration) -> list[Instance]:
        """The instances that have a configuration group."""
        return self._instances.rows.select(configuration_id=configuration.id)

    def attach(self, caller: Context, instance: Instance, key: str | None) -> None:
        """Give an instance a configuration group, or none. It needs a restart when such a parameter changes.

        Raises: ApiError 400, 404 and 422.
        """
        self._instances.require_ready(instance)
        version = self._datastores.versions.require(instance.datastore_version_id)
        configuration = self.suiting(caller, key, version) if key else None
        before = self.rows.get(instance.configuration_id or "")
        names = {name for group in (before, configuration) if group is not None for name in group.values}
        instance.configuration_id = None if configuration is None else configuration.id
        self._instances.rows.save(instance)
        self._apply(instance, names)

    def change(
        self, configuration: Configuration, named: Mapping[str, object], values: Mapping[str, object], keep: bool
    ) -> None:
        """Set name, description and values of a configuration group, the values also on its instances.

        keep: whether values that are not given stay.

        Raises: ApiError 422 for values that the version does not accept.
        """
        self._datastores.check_values(self._datastores.versions.require(configuration.datastore_version_id), values)
        before = configuration.values
        after = {**before, **values} if keep else dict(values)
        names = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
        self.rows.update(configuration, **named, values=after, updated=self.now())
        for instance in self.used_by(configuration):
            self._apply(instance, names)

    def delete(self, configuration: Configuration) -> None:
        """Delete a configuration group. Raises ApiError 400 while instances have it."""
        if self.used_by(configuration):
            raise bad_request(
                f"Unable to delete configuration group '{configuration.name}' because it is associated with one or "
                "more active instances."
            )
        self.rows.remove(configuration)

    def default_values(self, instance: Instance) -> dict[str, int]:
        """The parameters that are set on an instance by its size, without a configuration group."""
        version = self._datastores.versions.require(instance.datastore_version_id)
        known = {parameter.name for parameter in self._datastores.parameters(version)}
        megabytes = max(instance.ram, 1)
        usual = {
            "max_connections": min(100 * max(megabytes // 512, 1), 100000),
            "innodb_buffer_pool_size": megabytes * 1024 * 1024 // 3,
            "wait_timeout": 120,
            "connect_timeout": 15,
        }
        return {name: value for name, value in usual.items() if name in known}

    def _apply(self, instance: Instance, names: Collection[str]) -> None:
        version = self._datastores.versions.require(instance.datastore_version_id)
        if instance.status in READY and self._datastores.need_restart(version, names):
            instance.status = "RESTART_REQUIRED"
            self._instances.rows.save(instance)
