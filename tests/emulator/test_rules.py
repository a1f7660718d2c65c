"""Rules of a service: what may be called later, and what a caller may see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from openstack_emulator.core.cloud import Cloud, Records, Service
from openstack_emulator.core.errors import ApiError
from openstack_emulator.core.http import Context
from openstack_emulator.core.rules import Rules, visible
from openstack_emulator.core.typed import TypedRecord
from stoker_foundation.clock import ManualClock

NAMES_IN_STATE_FILES = {
    "cinder": {
        "begin_download", "fail_to_schedule", "finish_attach", "finish_backup", "finish_create", "finish_delete_backup",
        "finish_delete_group", "finish_delete_group_snapshot", "finish_delete_snapshot", "finish_delete_volume",
        "finish_detach", "finish_extend", "finish_manage_snapshot", "finish_manage_volume", "finish_restore",
        "finish_retype", "finish_revert", "finish_snapshot", "finish_unmanage_snapshot", "finish_unmanage_volume",
        "finish_upload", "settle",
    },
    "glance": {"begin_saving", "finish_import", "finish_task", "finish_with_stand_in", "settle"},
    "manila": {
        "empty_bin", "finish_allowing", "finish_creation", "finish_deletion", "finish_denying", "finish_managing",
        "finish_resizing", "finish_reverting", "finish_snapshot", "finish_snapshot_deletion", "finish_unmanaging",
        "settle",
    },
    "neutron": {"call", "settle"},
    "nova": {
        "allocate_networks", "await_volumes", "connect_volume", "end_events", "finish_attach_volume", "finish_build",
        "finish_delete", "finish_detach_interface", "finish_detach_volume", "make_volumes", "proceed", "schedule",
        "settle", "volume_extended",
    },
    "swift": {"send", "settle"},
}  # fmt: skip
"""The state changes that a state file may name, by service: a new release must still know each of them."""


@dataclass(slots=True, kw_only=True, eq=False)
class Box(TypedRecord):
    """What is on the shelf."""

    project_id: str = "theirs"
    full: bool = False


class Shelf(Rules):
    """Boxes, and a change that happens later."""

    def __init__(self, records: Records) -> None:
        super().__init__(records)
        self.rows = records.table("boxes", Box)
        records.deferrable(self.fill)

    def fill(self, key: str) -> None:
        self.rows.update(self.rows.require(key), full=True)

    def empty(self, key: str) -> None:
        self.rows.update(self.rows.require(key), full=False)


class Store(Records):
    """Records of one kind."""

    service = "store"
    not_found_messages: ClassVar = {"boxes": "Box {} is gone."}

    def __init__(self, cloud: Cloud) -> None:
        super().__init__(cloud)
        self.shelf = Shelf(self)


@pytest.fixture
def cloud() -> Cloud:
    return Cloud([Service("store", "/store", Store, {}, {})], clock=ManualClock())


@pytest.fixture
def store(cloud: Cloud) -> Store:
    return cloud.of(Store)


def test_deferred_change_is_applied(cloud: Cloud, store: Store) -> None:
    clock = cloud.clock
    assert isinstance(clock, ManualClock)
    store.shelf.rows.add(Box(id="a"))
    cloud.start()

    store.shelf.after(2.0, store.shelf.fill, "a")
    clock.advance(1.0)
    assert not store.shelf.rows.require("a").full
    clock.advance(1.0)

    assert store.shelf.rows.require("a").full


def test_only_declared_methods_can_be_deferred(store: Store) -> None:
    with pytest.raises(ValueError, match="empty is not a deferrable method of store"):
        store.shelf.after(1.0, store.shelf.empty, "a")
    with pytest.raises(KeyError):
        store.run_deferred("empty", ["a"])


def test_two_changes_of_a_service_cannot_share_a_name(store: Store) -> None:
    with pytest.raises(ValueError, match="two state changes with the name fill"):
        store.deferrable(store.shelf.fill)


def test_another_projects_record_is_not_found(store: Store) -> None:
    store.shelf.rows.add(Box(id="a", project_id="theirs"))
    caller = Context("", "user", "", "", frozenset({"member"}), "mine")

    for key in ("a", "b"):
        with pytest.raises(ApiError, match=f"Box {key} is gone") as raised:
            visible(store.shelf.rows, caller, key)
        assert raised.value.status == 404


@pytest.mark.parametrize("service", NAMES_IN_STATE_FILES)
def test_deferred_changes_in_state_files_are_known(service: str) -> None:
    from openstack_emulator.services import new_cloud

    cloud = new_cloud(clock=ManualClock())
    assert NAMES_IN_STATE_FILES[service] <= set(cloud.service_named(service).records.deferred)
