"""Shares that exist on the back end and that Manila does not manage."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.component import Component
from openstack_emulator.core.errors import conflict, forbidden, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.store import Collection, Record
from openstack_emulator.share.shares import Shares
from openstack_emulator.share.tables import BACKEND_HOST, LONG, SHORT, ZONE


class BackendShares(Component):
    """The shares of the back end that have been unmanaged, by the path of their export."""

    def __init__(self, records: Records, shares: Shares, snapshots: Collection) -> None:
        super().__init__(records)
        self.rows = records.table("unmanaged")
        self.shares = shares
        self._snapshots = snapshots
        records.deferrable(self.finish_managing, self.finish_unmanaging)

    def manage(self, context: Context, wanted: Mapping[str, Any]) -> Record:
        """Begin to manage a share; it ends in `manage_error` where the back end has none.

        Raises: ApiError 404 for an unknown back end, 409 for a managed share.
        """
        path = wanted["export_path"]
        path = path["path"] if isinstance(path, dict) else path
        host = wanted["service_host"].split("#")[0]
        if host != BACKEND_HOST.split("#")[0]:
            raise not_found(f"Service {host} could not be found.")
        if any(one["path"] == path for share in self.shares.rows for one in share["_exports"]):
            raise conflict(f"Share already exists: {path}")
        given = wanted.get("share_type")
        kind = self.shares.types.find(context, given) if given else self.shares.types.default()
        share = self.shares.blank(context, wanted, kind)
        share |= {"status": "manage_starting", "host": wanted["service_host"]}
        share |= {"share_proto": wanted["protocol"].upper()}
        self.shares.rows.add(share)
        self.after(LONG, self.finish_managing, share["id"], path)
        return share

    def finish_managing(self, share_id: str, path: str) -> None:
        share, found = self.shares.rows.get(share_id), self.rows.get(path)
        if share is None or share["status"] != "manage_starting":
            return
        fits = found is not None and found["share_proto"] == share["share_proto"] and share["host"] == BACKEND_HOST
        if share.pop("_fault", None) is not None or found is None or not fits:
            self.shares.rows.update(share, status="manage_error", updated_at=self.moment())
            return
        self.rows.remove(found)
        now = self.moment()
        exports = [{"id": new_id(), "path": path, "created_at": now, "updated_at": now}]
        done = {"status": "available", "size": found["size"], "progress": "100%", "availability_zone": ZONE}
        self.shares.rows.update(share, **done, updated_at=now, _exports=exports)

    def unmanage(self, share: Record) -> None:
        """Begin to leave a share to its back end; 403 with a share server, 403 with snapshots or in a busy status."""
        if share["share_server_id"] is not None:
            raise forbidden("Operation 'unmanage' for shares created on top of share servers is not supported.")
        if share["status"] not in ("available", "manage_error"):
            raise forbidden(f"Share with transitional state '{share['status']}' can not be unmanaged.")
        if self._snapshots.first(share_id=share["id"]) is not None:
            raise forbidden(f"Share '{share['id']}' can not be unmanaged because it has dependent snapshots.")
        self.shares.rows.update(share, status="unmanage_starting", updated_at=self.moment())
        self.after(SHORT, self.finish_unmanaging, share["id"])

    def finish_unmanaging(self, share_id: str) -> None:
        share = self.shares.rows.get(share_id)
        if share is None or share["status"] != "unmanage_starting":
            return
        if share.pop("_fault", None) is not None:
            self.shares.rows.update(share, status="unmanage_error", updated_at=self.moment())
            return
        for export in share["_exports"]:
            self.rows.add({"id": export["path"], "size": share["size"], "share_proto": share["share_proto"]})
        self.shares.forget(share)
