"""Shares that exist on the back end and that Manila does not manage."""

from __future__ import annotations

from openstack_emulator.core.cloud import Records
from openstack_emulator.core.errors import conflict, forbidden, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules
from openstack_emulator.core.store import Table
from openstack_emulator.share.records import Share, Snapshot, UnmanagedShare
from openstack_emulator.share.rules.constants import BACKEND_HOST, LONG, SHORT, ZONE
from openstack_emulator.share.rules.inputs import BackendLocation, NewShare
from openstack_emulator.share.rules.shares import Shares


class BackendShares(Rules):
    """The shares of the back end that have been unmanaged, by the path of their export."""

    def __init__(self, records: Records, shares: Shares, snapshots: Table[Snapshot]) -> None:
        super().__init__(records)
        self.rows = records.table("unmanaged", UnmanagedShare)
        self.shares = shares
        self._snapshots = snapshots
        records.deferrable(self.finish_managing, self.finish_unmanaging)

    def manage(self, context: Context, place: BackendLocation, new_share: NewShare) -> Share:
        """Begin to manage a share; it ends in `manage_error` where the back end has none.

        Raises: ApiError 404 for an unknown back end, 409 for a managed share.
        """
        host = place.host.split("#")[0]
        if host != BACKEND_HOST.split("#")[0]:
            raise not_found(f"Service {host} could not be found.")
        if any(export.path == place.path for share in self.shares.rows for export in share.exports):
            raise conflict(f"Share already exists: {place.path}")
        types = self.shares.types
        kind = types.find(context, new_share.share_type) if new_share.share_type else types.default()
        share = self.shares.blank(context, new_share, kind)
        share.status, share.host, share.share_proto = "manage_starting", place.host, place.protocol.upper()
        self.shares.rows.add(share)
        self.after(LONG, self.finish_managing, share.id, place.path)
        return share

    def finish_managing(self, share_id: str, path: str) -> None:
        share, found = self.shares.rows.get(share_id), self.rows.get(path)
        if share is None or share.status != "manage_starting":
            return
        fits = found is not None and found.share_proto == share.share_proto and share.host == BACKEND_HOST
        if share.take_fault() is not None or found is None or not fits:
            self.shares.set_status(share, "manage_error")
            return
        self.rows.remove(found)
        share.size, share.progress, share.availability_zone = found.size, "100%", ZONE
        share.exports = [self.shares.export(path)]
        self.shares.set_status(share, "available")

    def unmanage(self, share: Share) -> None:
        """Begin to leave a share to its back end; 403 with a share server, 403 with snapshots or in a busy status."""
        if share.share_server_id is not None:
            raise forbidden("Operation 'unmanage' for shares created on top of share servers is not supported.")
        if share.status not in ("available", "manage_error"):
            raise forbidden(f"Share with transitional state '{share.status}' can not be unmanaged.")
        if self._snapshots.first(share_id=share.id) is not None:
            raise forbidden(f"Share '{share.id}' can not be unmanaged because it has dependent snapshots.")
        self.shares.set_status(share, "unmanage_starting")
        self.after(SHORT, self.finish_unmanaging, share.id)

    def finish_unmanaging(self, share_id: str) -> None:
        share = self.shares.rows.get(share_id)
        if share is None or share.status != "unmanage_starting":
            return
        if share.take_fault() is not None:
            self.shares.set_status(share, "unmanage_error")
            return
        for export in share.exports:
            self.rows.add(UnmanagedShare(id=export.path, size=share.size, share_proto=share.share_proto))
        self.shares.forget(share)
