"""Transfers of volumes to other projects."""

from __future__ import annotations

import hmac
import secrets

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.volume.records import Snapshot, Transfer, Volume
from openstack_emulator.volume.rules.volumes import Volumes


class Transfers(Rules):
    """Offers of volumes.

    rows, snapshots: the tables of transfers and snapshots, which other rules read too.
    """

    def __init__(self, records: Records, rows: Table[Transfer], volumes: Volumes, snapshots: Table[Snapshot]) -> None:
        super().__init__(records)
        self.rows = rows
        self.volumes = volumes
        self._snapshots = snapshots

    def create(self, context: Context, volume: Volume, name: str | None, no_snapshots: bool) -> Transfer:
        """Offer a volume to whoever knows the `auth_key` of the transfer; 400 unless it is available."""
        if volume.status != "available":
            raise bad_request("Invalid volume: status must be available")
        if volume.encrypted:
            raise bad_request("Invalid volume: transferring encrypted volume is not supported")
        volume.status, volume.updated_at = "awaiting-transfer", self.moment()
        self.volumes.rows.save(volume)
        return self.rows.add(
            Transfer(
                id=new_id(),
                name=name,
                volume_id=volume.id,
                project_id=context.project,
                created_at=self.moment(),
                source_project_id=context.project,
                destination_project_id=None,
                accepted=False,
                no_snapshots=no_snapshots,
                auth_key=secrets.token_hex(8),
            )
        )

    def delete(self, transfer: Transfer) -> None:
        """Withdraw an offer."""
        volume = self.volumes.rows.get(transfer.volume_id)
        if volume is not None and volume.status == "awaiting-transfer":
            volume.status, volume.updated_at = "available", self.moment()
            self.volumes.rows.save(volume)
        self.rows.remove(transfer)

    def accept(self, context: Context, transfer_id: str, auth_key: object) -> Transfer:
        """Take over the volume of an offer; 400 for a wrong key, 413 beyond a quota."""
        transfer = self.rows.require(transfer_id)
        if not isinstance(auth_key, str) or not hmac.compare_digest(auth_key.encode(), transfer.auth_key.encode()):
            raise bad_request(f"Invalid auth key: Attempt to transfer {transfer_id} with invalid auth key.")
        volume = self.volumes.rows.get(transfer.volume_id)
        if volume is None or volume.status != "awaiting-transfer":
            raise bad_request(f"Invalid volume: the volume of transfer {transfer_id} is not awaiting it.")
        self.volumes.quotas.check_new_volume(
            context.project, volume.size, self.volumes.types.rows.require(volume.volume_type_id)
        )
        volume.project_id, volume.user_id = context.project, context.user_id
        volume.status, volume.updated_at = "available", self.moment()
        self.volumes.rows.save(volume)
        if not transfer.no_snapshots:
            for snapshot in self._snapshots.select(volume_id=volume.id):
                snapshot.project_id, snapshot.user_id = context.project, context.user_id
                self._snapshots.save(snapshot)
        self.rows.remove(transfer)
        return transfer
