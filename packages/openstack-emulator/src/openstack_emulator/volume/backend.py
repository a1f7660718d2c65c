"""The one back end: its services, and what fits on it."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.component import Component
from openstack_emulator.core.store import Collection, Record
from openstack_emulator.volume.scheduling import CAPACITY_GIGABYTES, OVERSUBSCRIPTION, suits
from openstack_emulator.volume.tables import BACKEND_HOST, HOST, ZONE


class Backend(Component):
    """The services of Cinder, and the capacity of the back end.

    volumes: the collection of volumes, whose sizes count as used.
    """

    def __init__(self, records: Records, volumes: Collection) -> None:
        super().__init__(records)
        self.services = records.table("services")
        self._volumes = volumes

    def seed(self) -> None:
        """The services that run on the one host of the back end."""
        for binary, host in (
            ("cinder-scheduler", HOST),
            ("cinder-volume", BACKEND_HOST),
            ("cinder-backup", HOST),
        ):
            self.services.add(
                {
                    "id": f"{binary}:{host}",
                    "binary": binary,
                    "host": host,
                    "zone": ZONE,
                    "disabled": False,
                    "disabled_reason": None,
                    "frozen": False,
                }
            )

    def provisioned(self) -> int:
        """The GiB that all volumes have together."""
        return sum(row["size"] for row in self._volumes)

    def accepts(self, kind: Record, size: int) -> bool:
        """Whether the back end is enabled, suits the volume type, and has room for `size` GiB."""
        enabled = any(not row["disabled"] for row in self.services.select(binary="cinder-volume"))
        room = CAPACITY_GIGABYTES * OVERSUBSCRIPTION
        return enabled and suits(kind["extra_specs"]) and self.provisioned() + size <= room
