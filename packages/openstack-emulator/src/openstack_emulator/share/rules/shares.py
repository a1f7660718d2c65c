"""Shares from their creation to their deletion."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import timedelta
from typing import Any

from openstack_emulator.core.cloud import Records, new_id
from openstack_emulator.core.errors import ApiError, bad_request, conflict, forbidden, not_found
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import MICROSECONDS, Rules, visible
from openstack_emulator.core.store import Table
from openstack_emulator.core.validation.conversions import as_integer
from openstack_emulator.share.records import AccessRule, Export, Share, ShareType, Snapshot
from openstack_emulator.share.rules.backend import fits
from openstack_emulator.share.rules.constants import ADDRESS, BACKEND_HOST, LONG, PROTOCOLS, SHORT, ZONE
from openstack_emulator.share.rules.errors import invalid_input
from openstack_emulator.share.rules.inputs import NewShare
from openstack_emulator.share.rules.messages import ALLOCATE, NO_CAPABILITY, Messages
from openstack_emulator.share.rules.networks import ShareNetworks
from openstack_emulator.share.rules.quotas import Quotas
from openstack_emulator.share.rules.types import SERVERS, ShareTypes, abilities_of, is_able

STATUSES = ("available", "error", "creating", "deleting", "error_deleting", "extending", "extending_error", "shrinking",
            "shrinking_error", "manage_starting", "manage_error", "unmanage_starting", "unmanage_error", "unmanaged",
            "reverting", "reverting_error", "migrating", "migrating_to", "inactive")  # fmt: skip
TASK_STATES = (
    *(f"migration_{state}" for state in ("starting", "in_progress", "completing", "success", "error", "cancelled",
                                         "driver_starting", "driver_in_progress", "driver_phase1_done")),
    *(f"data_copying_{state}" for state in ("starting", "in_progress", "completing", "completed", "cancelled",
                                            "error")),
)  # fmt: skip
"""States of a migration, which administrators can set."""
DELETABLE = frozenset({"available", "error", "error_deleting", "inactive"})
DISCARDABLE = frozenset({"available", "error", "inactive"})
LEAST, MOST = "provisioning:min_share_size", "provisioning:max_share_size"
MOST_EXTENDED = "provisioning:max_share_extend_size"
KEPT = timedelta(days=7)
"""How long a share stays in the recycle bin."""
PATHS = {
    "NFS": "{address}:/shares/share-{id}",
    "CIFS": "\\\\{address}\\share-{id}",
    "GLUSTERFS": "{address}:/share-{id}",
    "HDFS": "hdfs://{address}:8020/share-{id}",
    "CEPHFS": "{address}:6789:/volumes/_nogroup/{id}",
}
"""Where clients find a share, by its protocol."""


class Shares(Rules):
    """Shares.

    rows, rules, snapshots: the tables of shares, their access rules, and their snapshots.
    """

    def __init__(
        self,
        records: Records,
        rows: Table[Share],
        rules: Table[AccessRule],
        snapshots: Table[Snapshot],
        types: ShareTypes,
        networks: ShareNetworks,
        quotas: Quotas,
        messages: Messages,
    ) -> None:
        super().__init__(records)
        self.rows = rows
        self.types = types
        self.networks = networks
        self.quotas = quotas
        self._messages = messages
        self._rules = rules
        self._snapshots = snapshots
        records.deferrable(
            self.finish_creation,
            self.finish_deletion,
            self.finish_resizing,
            self.finish_reverting,
            self.empty_bin,
        )

    def find(self, context: Context, key: str) -> Share:
        """A share that the caller may see: public ones too."""
        share = self.rows.require(key)
        if not context.may_see(share) and not share.is_public:
            raise self.rows.missing(key)
        return share

    def own(self, context: Context, key: str) -> Share:
        """A share that the caller may change; 403 for a public one of another project."""
        share = self.find(context, key)
        if not context.may_see(share):
            raise forbidden("Policy doesn't allow share:update to be performed.")
        return share

    def create(self, context: Context, new_share: NewShare) -> Share:
        """Begin a share.

        Raises: ApiError 400 for values that do not fit each other, 404 for objects that do not exist, 403 for a public
        share of a user, 413 beyond a quota.
        """
        if new_share.is_public:
            self.require_publisher(context)
        source = self._source(context, new_share.snapshot_id)
        kind = self._type(context, new_share.share_type, source)
        network_id = self._network(context, new_share.share_network_id, source, kind)
        share = self.blank(context, new_share, kind)
        share.size = _size(new_share.size, source)
        share.share_proto = _protocol(new_share.share_proto, source)
        share.snapshot_id = source.id if source else None
        share.share_network_id = network_id
        check_allowed(kind, share.size, MOST)
        self.quotas.check_size(context.project, share.size)
        self.quotas.check(context.project, {"gigabytes": share.size, "shares": 1})
        self.rows.add(share)
        self.after(LONG, self.finish_creation, share.id)
        return share

    def blank(self, context: Context, new_share: NewShare, kind: ShareType) -> Share:
        """A new share without a size, a protocol and a place, which has not been added to the table yet.

        Its zone is chosen later unless it is given. Raises: ApiError 404 for an unknown zone.
        """
        if new_share.availability_zone not in (None, ZONE):
            raise ApiError(404, f"Availability zone {new_share.availability_zone} could not be found.")
        return Share(
            id=new_id(),
            name=new_share.name,
            description=new_share.description,
            size=0,
            share_proto="",
            status="creating",
            is_public=new_share.is_public,
            metadata=new_share.metadata,
            snapshot_id=None,
            share_network_id=None,
            share_type_id=kind.id,
            share_server_id=None,
            availability_zone=new_share.availability_zone,
            host="",
            project_id=context.project,
            user_id=context.user_id,
            progress="0%",
            task_state=None,
            is_soft_deleted=False,
            scheduled_to_be_deleted_at=None,
            created_at=self.moment(),
            updated_at=None,
            abilities=abilities_of(kind),
            exports=[],
            request_id=new_share.request_id,
        )

    def export(self, path: str) -> Export:
        """A new export location."""
        now = self.moment()
        return Export(id=new_id(), path=path, created_at=now, updated_at=now)

    def require_publisher(self, context: Context) -> None:
        """403 for users who may not make shares public: by default all but administrators."""
        if not context.is_admin:
            raise forbidden("User is not authorized to set 'is_public' to True in the request.")

    def _source(self, context: Context, snapshot_id: str | None) -> Snapshot | None:
        """The snapshot that a new share has the content of."""
        if snapshot_id is None:
            return None
        snapshot = self._snapshots.get(snapshot_id)
        if snapshot is None or not context.may_see(snapshot):
            raise not_found(f"ShareSnapshotNotFound: Snapshot {snapshot_id} could not be found.")
        if snapshot.status != "available":
            raise bad_request("Invalid snapshot: status must be 'available'")
        return snapshot

    def _type(self, context: Context, key: str | None, source: Snapshot | None) -> ShareType:
        if source is None:
            return self.types.find(context, key) if key else self.types.default()
        parent = self.rows.require(source.share_id)
        kind = self.types.rows.require(parent.share_type_id)
        if key and self.types.find(context, key) is not kind:
            raise invalid_input(
                f"Invalid share type specified: the requested share type must match that of the parent share: {kind.id}"
            )
        if not parent.abilities.create_share_from_snapshot_support:
            raise bad_request(
                f"Share cannot be created from snapshot '{source.id}', because the back end of the share does not "
                "support it."
            )
        return kind

    def _network(self, context: Context, key: str | None, source: Snapshot | None, kind: ShareType) -> str | None:
        if key is not None:
            visible(self.networks.rows, context, key)
        if source is not None:
            parent = self.rows.require(source.share_id).share_network_id
            if key not in (None, parent):
                raise bad_request("Share network ID should be the same as snapshot's parent share's or empty")
            return parent
        if is_able(kind, SERVERS) and key is None:
            raise bad_request(f"Share network must be set when the {SERVERS} is true.")
        if not is_able(kind, SERVERS) and key is not None:
            raise bad_request(f"Share network must not be set when the {SERVERS} is false.")
        return key

    def finish_creation(self, share_id: str) -> None:
        share = self.rows.get(share_id)
        if share is None or share.status not in ("creating", "manage_starting"):
            return
        server = None if share.share_network_id is None else self.networks.server_on(share.share_network_id)
        homeless = share.share_network_id is not None and server is None
        unfit = not fits(self.types.rows.require(share.share_type_id).extra_specs)
        if share.take_fault() is not None or homeless or unfit:
            self.set_status(share, "error")
            if unfit:
                self._messages.add(share, ALLOCATE, NO_CAPABILITY)
            return
        path = PATHS[share.share_proto].format(address=ADDRESS, id=share_id)
        share.host, share.availability_zone, share.share_server_id = BACKEND_HOST, ZONE, server
        share.progress, share.exports = "100%", [self.export(path)]
        self.set_status(share, "available")

    def update(self, share: Share, changes: Mapping[str, Any]) -> None:
        """Set name, description or is_public."""
        self.rows.update(share, **changes, updated_at=self.moment())

    def save(self, share: Share) -> None:
        """Note that a share was changed now."""
        share.updated_at = self.moment()
        self.rows.save(share)

    def set_status(self, share: Share, status: str) -> None:
        share.status = status
        self.save(share)

    def delete(self, share: Share, force: bool = False) -> None:
        """Begin to delete a share; 403 in another status unless `force`, 403 while it has snapshots."""
        if not force:
            self._refuse_busy(share)
        if snapshots := len(self._snapshots.select(share_id=share.id)):
            raise forbidden(f"Invalid share: Share still has {snapshots} dependent snapshots.")
        self.set_status(share, "deleting")
        self.after(SHORT, self.finish_deletion, share.id)

    def _refuse_busy(self, share: Share) -> None:
        if share.status not in DELETABLE:
            raise forbidden(
                f"Invalid share: Share status must be one of {', '.join(sorted(DELETABLE))}, "
                f"but current status is: {share.status}."
            )

    def discard(self, share: Share) -> None:
        """Move a share to the recycle bin for a week; 403 in a busy status, 403 while it has snapshots."""
        if share.status not in DISCARDABLE:
            raise forbidden(f"Invalid share: a share with the status {share.status} can't be soft deleted.")
        if self._snapshots.first(share_id=share.id) is not None:
            raise forbidden("Invalid share: a share with snapshots can't be soft deleted.")
        due = (self.records.now() + KEPT).strftime(MICROSECONDS)
        share.is_soft_deleted, share.scheduled_to_be_deleted_at = True, due
        self.save(share)
        self.after(KEPT.total_seconds(), self.empty_bin, share.id, due)

    def restore(self, share: Share) -> None:
        """Take a share out of the recycle bin; 403 if it is not there."""
        if not share.is_soft_deleted:
            raise forbidden("Share is not in recycle bin.")
        share.is_soft_deleted, share.scheduled_to_be_deleted_at = False, None
        self.save(share)

    def empty_bin(self, share_id: str, due: str) -> None:
        share = self.rows.get(share_id)
        if share is not None and share.is_soft_deleted and share.scheduled_to_be_deleted_at == due:
            self.delete(share, force=True)

    def finish_deletion(self, share_id: str) -> None:
        share = self.rows.get(share_id)
        if share is None or share.status != "deleting":
            return
        if share.take_fault() is not None:
            self.set_status(share, "error_deleting")
        else:
            self.forget(share)

    def forget(self, share: Share) -> None:
        """Remove a share and its access rules."""
        for rule in self._rules.select(share_id=share.id):
            self._rules.remove(rule)
        self.rows.remove(share)

    def extend(self, share: Share, size: int) -> None:
        """Begin to make a share larger; 400 for a smaller size or in another status, 403 beyond a quota."""
        self.require_status(share, "available")
        if size <= share.size:
            raise invalid_input(
                f"New size for extend must be greater than current size. (current: {share.size}, extended: {size})"
            )
        check_allowed(self.types.rows.require(share.share_type_id), size, MOST_EXTENDED)
        try:
            self.quotas.check_size(share.project_id, size)
            self.quotas.check(share.project_id, {"gigabytes": size - share.size})
        except ApiError as error:
            raise forbidden(error.message) from None
        self.set_status(share, "extending")
        self.after(LONG, self.finish_resizing, share.id, size)

    def shrink(self, share: Share, size: int) -> None:
        """Begin to make a share smaller; 400 for a larger size or in another status."""
        self.require_status(share, "available")
        if not 0 < size < share.size:
            raise invalid_input(
                f"New size for shrink must be less than current size and greater "
                f"than 0 (current: {share.size}, new: {size})"
            )
        self.set_status(share, "shrinking")
        self.after(LONG, self.finish_resizing, share.id, size)

    def finish_resizing(self, share_id: str, size: int) -> None:
        self._settle(share_id, ("extending", "shrinking"), size)

    def revert(self, share: Share, snapshot_id: str) -> None:
        """Begin to revert a share to its latest snapshot; 409 for another one, 400 where shares cannot be."""
        own = self._snapshots.select(share_id=share.id)
        if not share.abilities.revert_to_snapshot_support:
            raise bad_request(f"Share {share.id} does not support revert to snapshot.")
        if all(snapshot.id != snapshot_id for snapshot in own):
            raise bad_request(f"Snapshot {snapshot_id} is not a snapshot of share {share.id}.")
        if own[-1].id != snapshot_id:
            raise conflict(f"Snapshot {snapshot_id} is not the latest one of share {share.id}.")
        if share.status != "available" or own[-1].status != "available":
            raise conflict("Share and snapshot must be available to revert the share.")
        self.set_status(share, "reverting")
        self.after(LONG, self.finish_reverting, share.id, own[-1].share_size)

    def finish_reverting(self, share_id: str, size: int) -> None:
        self._settle(share_id, ("reverting",), size)

    def _settle(self, share_id: str, statuses: Collection[str], size: int) -> None:
        """Make a share available again with a size; in error when a fault rule demands it."""
        share = self.rows.get(share_id)
        if share is None or share.status not in statuses:
            return
        if share.take_fault() is not None:
            self.set_status(share, f"{share.status}_error")
        else:
            share.size = size
            self.set_status(share, "available")

    def require_status(self, share: Share, status: str) -> None:
        """400 for a share in another status."""
        if share.status != status:
            raise bad_request(
                f"Invalid share: Share {share.id} status must be {status}, but current status is: {share.status}."
            )


def check_allowed(kind: ShareType, size: int, most: str) -> None:
    """Refuse a share of a size that the extra specs of its type do not allow. Raises ApiError 400.

    most: the extra spec of the largest size.
    """
    least_size, most_size = (as_integer(kind.extra_specs.get(name)) for name in (LEAST, most))
    if (least_size is not None and size < least_size) or (most_size is not None and size > most_size):
        raise invalid_input(f"Share size '{size}' is not within the limits of share type {kind.name}")


def _size(requested: Any, source: Snapshot | None) -> int:
    size = as_integer(requested)
    if requested is None and source is not None:
        size = source.share_size
    if size is None or size < 1:
        raise invalid_input(f"Share size '{requested}' must be an integer and greater than 0")
    if source is not None and size < source.share_size:
        raise invalid_input(f"Share size '{size}' must be equal or greater than snapshot size {source.share_size}")
    return size


def _protocol(requested: object, source: Snapshot | None) -> str:
    protocol = str(requested or (source.share_proto if source else "")).upper()
    if protocol not in PROTOCOLS:
        raise invalid_input(
            f"Invalid share protocol provided: {requested}. It is either disabled or unsupported. "
            f"Available protocols: {list(PROTOCOLS)}"
        )
    if source is not None and protocol != source.share_proto:
        raise invalid_input(f"The share protocol must be that of the snapshot, {source.share_proto}")
    return protocol
