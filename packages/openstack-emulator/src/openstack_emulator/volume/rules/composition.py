"""The block-storage service: its tables, and the rules for them. Who depends on whom is to be read here.

The compute service uses `volumes`, `attachments` and `snapshots`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from openstack_emulator.core.cloud import Cloud, Records
from openstack_emulator.volume.records import (
    Attachment,
    Backup,
    Group,
    GroupSnapshot,
    Snapshot,
    Transfer,
    Volume,
)
from openstack_emulator.volume.rules.attachments import Attachments
from openstack_emulator.volume.rules.backend import Backend
from openstack_emulator.volume.rules.backups import Backups
from openstack_emulator.volume.rules.changes import VolumeChanges
from openstack_emulator.volume.rules.group_types import GroupTypes
from openstack_emulator.volume.rules.groups import Groups, GroupSnapshots
from openstack_emulator.volume.rules.managed import BackendObjects
from openstack_emulator.volume.rules.messages import Messages
from openstack_emulator.volume.rules.qos import QosSpecs
from openstack_emulator.volume.rules.quotas import Quotas
from openstack_emulator.volume.rules.snapshots import Snapshots
from openstack_emulator.volume.rules.sources import Sources
from openstack_emulator.volume.rules.transfers import Transfers
from openstack_emulator.volume.rules.types import VolumeTypes
from openstack_emulator.volume.rules.volumes import DependentTables, Volumes


@dataclass(frozen=True)
class VolumeGroups:
    """The rules for groups of volumes, for their types, and for their snapshots."""

    types: GroupTypes
    rules: Groups
    snapshots: GroupSnapshots


class BlockStorage(Records):
    """Volumes and what belongs to them."""

    service = "cinder"
    not_found_messages: ClassVar = {
        "volumes": "Volume {} could not be found.",
        "attachments": "Volume attachment could not be found with filter: attachment_id = {}.",
        "snapshots": "Snapshot {} could not be found.",
        "backups": "Backup {} could not be found.",
        "transfers": "Transfer {} could not be found.",
        "types": "Volume type {} could not be found.",
        "qos_specs": "No such QoS spec {}.",
        "group_types": "Group type {} could not be found.",
        "groups": "Group {} could not be found.",
        "group_snapshots": "GroupSnapshot {} could not be found.",
        "messages": "Message {} could not be found.",
    }

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        volumes = self.table("volumes", Volume, "project_id", "name")
        attachments = self.table("attachments", Attachment, "volume_id", "instance")
        snapshots = self.table("snapshots", Snapshot, "project_id", "volume_id")
        backups = self.table("backups", Backup, "project_id", "volume_id", "parent_id")
        transfers = self.table("transfers", Transfer, "volume_id")
        groups = self.table("groups", Group, "project_id")
        group_snapshots = self.table("group_snapshots", GroupSnapshot, "project_id", "group_id")
        self.types = VolumeTypes(self, volumes)
        self.qos_specs = QosSpecs(self, self.types.rows)
        self.backend = Backend(self, volumes)
        self.quotas = Quotas(self, self.types.rows, volumes, snapshots, backups, groups)
        self.messages = Messages(self)
        sources = Sources(self, volumes, snapshots, backups)
        related = DependentTables(attachments, snapshots, transfers, groups)
        self.volumes = Volumes(self, volumes, sources, self.types, self.quotas, self.backend, self.messages, related)
        self.snapshots = Snapshots(self, snapshots, self.volumes)
        self.attachments = Attachments(self, attachments, self.volumes)
        self.backups = Backups(self, backups, self.volumes, snapshots)
        self.transfers = Transfers(self, transfers, self.volumes, snapshots)
        self.changes = VolumeChanges(self, self.volumes, attachments)
        types = GroupTypes(self, groups)
        collected = Groups(self, groups, types, self.volumes, group_snapshots, snapshots, attachments)
        self.groups = VolumeGroups(types, collected, GroupSnapshots(self, group_snapshots, collected, self.snapshots))
        self.unmanaged = BackendObjects(self, self.snapshots, attachments)

    def seed(self) -> None:
        self.backend.seed()
        self.types.seed()
        self.groups.types.seed()
