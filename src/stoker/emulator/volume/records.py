"""What Cinder keeps, composed of components: who depends on whom is to be read here.

The compute service uses `volumes`, `attachments` and `snapshots`.
"""

from __future__ import annotations

from stoker.emulator.core.cloud import Cloud, Records
from stoker.emulator.volume.attachments import Attachments
from stoker.emulator.volume.backend import Backend
from stoker.emulator.volume.backups import Backups
from stoker.emulator.volume.changes import VolumeChanges
from stoker.emulator.volume.group_types import GroupTypes
from stoker.emulator.volume.groups import Groups, GroupSnapshots
from stoker.emulator.volume.managed import BackendObjects
from stoker.emulator.volume.messages import Messages
from stoker.emulator.volume.qos import QosSpecs
from stoker.emulator.volume.quotas import Quotas
from stoker.emulator.volume.snapshots import Snapshots
from stoker.emulator.volume.sources import Sources
from stoker.emulator.volume.tables import MISSING
from stoker.emulator.volume.transfers import Transfers
from stoker.emulator.volume.types import VolumeTypes
from stoker.emulator.volume.views import VolumeViews
from stoker.emulator.volume.volumes import Related, Volumes


class VolumeRecords(Records):
    """Volumes and what belongs to them."""

    service = "cinder"
    not_found_messages = MISSING

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        volumes = self.table("volumes", "project_id", "name")
        attachments = self.table("attachments", "volume_id", "instance")
        snapshots = self.table("snapshots", "project_id", "volume_id")
        backups = self.table("backups", "project_id", "volume_id", "parent_id")
        transfers = self.table("transfers", "volume_id")
        groups = self.table("groups", "project_id")
        group_snapshots = self.table("group_snapshots", "project_id", "group_id")
        self._types = VolumeTypes(self, volumes)
        QosSpecs(self, self._types.rows)
        self._backend = Backend(self, volumes)
        quotas = Quotas(self, self._types.rows, volumes, snapshots, backups, groups)
        sources = Sources(self, volumes, snapshots, backups)
        related = Related(attachments, snapshots, transfers, groups)
        self.volumes = Volumes(self, volumes, sources, self._types, quotas, self._backend, Messages(self), related)
        self.snapshots = Snapshots(self, snapshots, self.volumes)
        self.attachments = Attachments(self, attachments, self.volumes)
        views = VolumeViews(self, self.volumes, self.attachments)
        Backups(self, backups, self.volumes, snapshots)
        Transfers(self, transfers, self.volumes, snapshots)
        VolumeChanges(self, self.volumes, attachments)
        self._group_types = GroupTypes(self, groups)
        made = Groups(self, groups, self._group_types, self.volumes, group_snapshots, snapshots, attachments)
        GroupSnapshots(self, group_snapshots, made, self.snapshots)
        BackendObjects(self, self.snapshots, attachments, views)

    def seed(self) -> None:
        self._backend.seed()
        self._types.seed()
        self._group_types.seed()
