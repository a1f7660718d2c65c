"""What Cinder keeps, composed of components: who depends on whom is to be read here.

The compute service uses `volumes`, `attachments` and `snapshots`.
"""

from __future__ import annotations

from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.volume.attachments import Attachments
from openstack_emulator.volume.backend import Backend
from openstack_emulator.volume.backups import Backups
from openstack_emulator.volume.changes import VolumeChanges
from openstack_emulator.volume.group_types import GroupTypes
from openstack_emulator.volume.groups import Groups, GroupSnapshots
from openstack_emulator.volume.managed import BackendObjects
from openstack_emulator.volume.messages import Messages
from openstack_emulator.volume.qos import QosSpecs
from openstack_emulator.volume.quotas import Quotas
from openstack_emulator.volume.snapshots import Snapshots
from openstack_emulator.volume.sources import Sources
from openstack_emulator.volume.tables import MISSING
from openstack_emulator.volume.transfers import Transfers
from openstack_emulator.volume.types import VolumeTypes
from openstack_emulator.volume.views import VolumeViews
from openstack_emulator.volume.volumes import Related, Volumes


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
