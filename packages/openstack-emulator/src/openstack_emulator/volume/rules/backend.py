"""The one back end: its services, and what fits on it."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.volume.records import ServiceProcess, Volume, VolumeType
from openstack_emulator.volume.rules.constants import BACKEND_HOST, HOST, ZONE
from openstack_emulator.volume.rules.scheduling import CAPACITY_GIGABYTES, OVERSUBSCRIPTION, suits


class Backend(Rules):
    """The services of Cinder, and the capacity of the back end.

    volumes: the table of volumes, whose sizes count as used.
    """

    def __init__(self, records: Records, volumes: Table[Volume]) -> None:
        super().__init__(records)
        self.services = records.table("services", ServiceProcess)
        self._volumes = volumes

    def seed(self) -> None:
        """The services that run on the one host of the back end."""
        for binary, host in (
            ("cinder-scheduler", HOST),
            ("cinder-volume", BACKEND_HOST),
            ("cinder-backup", HOST),
        ):
            self.services.add(
                ServiceProcess(
                    id=f"{binary}:{host}",
                    binary=binary,
                    host=host,
                    zone=ZONE,
                    disabled=False,
                    disabled_reason=None,
                    frozen=False,
                )
            )

    def provisioned(self) -> int:
        """The GiB that all volumes have together."""
        return sum(row.size for row in self._volumes)

    def accepts(self, kind: VolumeType, size: int) -> bool:
        """Whether the back end is enabled, suits the volume type, and has room for `size` GiB."""
        enabled = any(not row.disabled for row in self.services.select(binary="cinder-volume"))
        room = CAPACITY_GIGABYTES * OVERSUBSCRIPTION
        return enabled and suits(kind.extra_specs) and self.provisioned() + size <= room
