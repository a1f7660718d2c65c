"""Backups of instances, and where projects keep theirs."""

from __future__ import annotations

import copy

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import visible
from openstack_emulator.core.store import Table
from openstack_emulator.database.records import Backup, BackupStrategy, Contents, Instance
from openstack_emulator.database.rules.inputs import NewBackup
from openstack_emulator.database.rules.instances import Instances
from openstack_emulator.database.rules.quotas import Quotas
from openstack_emulator.database.rules.timed import TimedRules

SECONDS_TO_BACK_UP = 5.0
DEFAULT_CONTAINER = "database_backups"
COMPLETED = "COMPLETED"


class Backups(TimedRules):
    """The backups of all projects, and their backup strategies.

    rows, strategies: their tables.
    """

    def __init__(self, records: Records, rows: Table[Backup], instances: Instances, quotas: Quotas) -> None:
        super().__init__(records)
        self.rows = rows
        self._instances, self._quotas = instances, quotas
        self.strategies = records.table("backup_strategies", BackupStrategy, "project_id")
        records.deferrable(self.finish_backup, self.remove_backup)

    def create(self, caller: Context, instance: Instance, new_backup: NewBackup) -> Backup:
        """Begin a backup of an instance. Raises ApiError 400 and 404 for its parent, 409, and 413."""
        parent = self._parent(caller, instance, new_backup)
        self._quotas.admit(caller.project, backups=1)
        container = new_backup.container or self.container(caller.project, instance.id)
        now, key = self.now(), new_id()
        backup = self.rows.add(
            Backup(
                id=key,
                project_id=instance.project_id,
                name=new_backup.name,
                description=new_backup.description,
                instance_id=instance.id,
                parent_id=None if parent is None else parent.id,
                datastore_version_id=instance.datastore_version_id,
                location=f"{self.cloud.endpoint}/object-store/v1/AUTH_{instance.project_id}/{container}/{key}",
                size=instance.volume_size,
                status="BUILDING",
                created=now,
                updated=now,
                contents=Contents(databases=[], users=[]),
            )
        )
        instance.status = "BACKUP"
        self._instances.rows.save(instance)
        self.after(SECONDS_TO_BACK_UP, self.finish_backup, key)
        return backup

    def _parent(self, caller: Context, instance: Instance, new_backup: NewBackup) -> Backup | None:
        """The backup that a new one builds on, if it is incremental. Raises ApiError 400, 404 and 409."""
        parent = None
        if new_backup.parent_id:
            parent = visible(self.rows, caller, new_backup.parent_id)
            if parent.instance_id != instance.id:
                raise bad_request(f"Backup {parent.id} is not of instance {instance.id}.")
        elif new_backup.incremental:
            complete = self.rows.select(instance_id=instance.id, status=COMPLETED)
            parent = complete[-1] if complete else None
        if parent is not None and parent.status != COMPLETED:
            raise ApiError(409, f"Backup {parent.id} is not completed. Actual state: {parent.status}.")
        return parent

    def finish_backup(self, key: str) -> None:
        """Complete a backup with what its instance contains now; one with an injected fault has failed."""
        backup = self.rows.get(key)
        if backup is None or backup.status != "BUILDING":
            return
        instance = self._instances.rows.get(backup.instance_id)
        failed = backup.take_fault() is not None or instance is None
        backup.status, backup.updated = "FAILED" if failed else COMPLETED, self.now()
        if instance is not None and not failed:
            backup.contents = Contents(databases=copy.deepcopy(instance.databases), users=copy.deepcopy(instance.users))
        self.rows.save(backup)
        if instance is not None and instance.status == "BACKUP":
            instance.status = "ACTIVE"
            self._instances.rows.save(instance)

    def delete(self, backup: Backup) -> None:
        """Begin the deletion of a backup. Raises ApiError 422 in another status."""
        if backup.status not in (COMPLETED, "FAILED"):
            raise ApiError(422, f"Backup {backup.id} is in state {backup.status} and cannot be deleted.")
        backup.status = "DELETING"
        self.rows.save(backup)
        self.after(1.0, self.remove_backup, backup.id)

    def remove_backup(self, key: str) -> None:
        """Remove a backup, and the incremental ones that build on it."""
        if (backup := self.rows.get(key)) is None:
            return
        for child in self.rows.select(parent_id=key):
            self.remove_backup(child.id)
        self.rows.remove(backup)

    # -- strategies --------------------------------------------------------------------------------

    def container(self, project_id: str, instance_id: str) -> str:
        """The container that the strategy of an instance, or else of its project, names."""
        known = {
            strategy.instance_id: strategy.swift_container for strategy in self.strategies.select(project_id=project_id)
        }
        return known.get(instance_id) or known.get("") or DEFAULT_CONTAINER

    def set_strategy(self, project_id: str, instance_id: str, container: str) -> BackupStrategy:
        """Set the container of the backups of an instance, or, without one (`""`), of a project."""
        known = self.strategies.first(project_id=project_id, instance_id=instance_id)
        if known is None:
            new = BackupStrategy(id=new_id(), project_id=project_id, instance_id=instance_id, swift_container=container)
            return self.strategies.add(new)
        known.swift_container = container
        self.strategies.save(known)
        return known

    def remove_strategy(self, project_id: str, instance_id: str) -> None:
        """Remove a strategy. Raises ApiError 404."""
        found = self.strategies.first(project_id=project_id, instance_id=instance_id)
        if found is None:
            raise not_found("The backup strategy cannot be found.")
        self.strategies.remove(found)
