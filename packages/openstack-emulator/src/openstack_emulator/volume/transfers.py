"""Transfers of volumes to other projects."""

from __future__ import annotations

import hmac
import secrets
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Collection, Record
from openstack_emulator.volume.volumes import Volumes


class Transfers(Component):
    """Offers of volumes.

    rows, snapshots: the collections of transfers and snapshots, which other components read too.
    """

    def __init__(self, records: Records, rows: Collection, volumes: Volumes, snapshots: Collection) -> None:
        super().__init__(records)
        self.rows = rows
        self.volumes = volumes
        self._snapshots = snapshots

    def create(self, context: Context, volume: Record, name: str | None, no_snapshots: bool) -> Record:
        """Offer a volume to whoever knows the `_auth_key` of the transfer; 400 unless it is available."""
        if volume["status"] != "available":
            raise bad_request("Invalid volume: status must be available")
        if volume["encrypted"]:
            raise bad_request("Invalid volume: transferring encrypted volume is not supported")
        self.volumes.rows.update(volume, status="awaiting-transfer", updated_at=self.moment())
        return self.rows.add(
            {
                "id": new_id(),
                "name": name,
                "volume_id": volume["id"],
                "project_id": context.project,
                "created_at": self.moment(),
                "source_project_id": context.project,
                "destination_project_id": None,
                "accepted": False,
                "no_snapshots": no_snapshots,
                "_auth_key": secrets.token_hex(8),
            }
        )

    def delete(self, transfer: Record) -> None:
        """Withdraw an offer."""
        volume = self.volumes.rows.get(transfer["volume_id"])
        if volume is not None and volume["status"] == "awaiting-transfer":
            self.volumes.rows.update(volume, status="available", updated_at=self.moment())
        self.rows.remove(transfer)

    def accept(self, context: Context, transfer_id: str, auth_key: Any) -> Record:
        """Take over the volume of an offer; 400 for a wrong key, 413 beyond a quota."""
        transfer = self.rows.require(transfer_id)
        if not isinstance(auth_key, str) or not hmac.compare_digest(auth_key.encode(), transfer["_auth_key"].encode()):
            raise bad_request(f"Invalid auth key: Attempt to transfer {transfer_id} with invalid auth key.")
        volume = self.volumes.rows.get(transfer["volume_id"])
        if volume is None or volume["status"] != "awaiting-transfer":
            raise bad_request(f"Invalid volume: the volume of transfer {transfer_id} is not awaiting it.")
        self.volumes.quotas.check_new_volume(
            context.project, volume["size"], self.volumes.types.rows.require(volume["volume_type_id"])
        )
        owner = {"project_id": context.project, "user_id": context.user_id}
        self.volumes.rows.update(volume, **owner, status="available", updated_at=self.moment())
        if not transfer["no_snapshots"]:
            for snapshot in self._snapshots.select(volume_id=volume["id"]):
                self._snapshots.update(snapshot, **owner)
        self.rows.remove(transfer)
        return transfer
