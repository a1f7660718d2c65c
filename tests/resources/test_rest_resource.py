"""`RestResource` with declarations alone, on the emulated block storage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from openstack_emulator.core.faults import Fault
from openstack_emulator.testing import ServedCloud
from stoker.base.errors import CloudError
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome
from stoker.plugins.resource import Call, ResourceType, Waiter
from stoker.resources.base import Collection, RestResource, found_well
from stoker.resources.wire import NOT_SENT, to_wire
from stoker.schema.live import same
from stoker.schema.property import Attribute, Change, Property, Type
from tests.resources.resource_harness import ActionFailed, Bench

MakeBench = Callable[[type[ResourceType]], Bench]
VOLUMES = "/volume/v3/*/volumes"


class Disk(RestResource):
    """A volume with as little as possible."""

    type_name = "Test::Disk"
    collection = Collection("cinder", "/volumes", "volume", "volumes", list_path="/volumes/detail", owner=None)
    waits = Waiter.until("available", pending=("creating",), failed=("error",), every=2.0)
    deleting = Waiter.until("deleted", pending=("deleting", "available"), failed=("error_deleting",))
    properties: Mapping[str, Property] = {
        "name": Property(change=Change.UPDATE),
        "gigabytes": Property(Type.INTEGER, required=True, wire="size"),
        "about": Property(change=Change.UPDATE, wire="description"),
        "local": Property(wire=NOT_SENT),
    }
    attributes: Mapping[str, Attribute] = {"kind": Attribute(path="volume_type"), "labels": Attribute(path="metadata")}

    async def check(self, call: Call) -> Outcome:
        return await found_well(self, call)


@pytest.fixture
def disks(bench: MakeBench) -> Bench:
    return bench(Disk)


async def volumes(disks: Bench) -> list[dict[str, object]]:
    return await disks.cloud.list("cinder", "/volumes/detail", "volumes")


def fail(served: ServedCloud, on: str, do: str, **rest: object) -> None:
    served.do(lambda: served.cloud.faults.add(Fault(on=on, do=do, **rest)))  # type: ignore[arg-type]


async def test_create_returns_the_id_immediately_and_then_waits(disks: Bench) -> None:
    disk = await disks.create({"gigabytes": 3, "about": "logs", "local": "x"})
    assert isinstance(disks.entries[0], InProgress)
    assert disks.entries[0].physical_id == disk.physical_id
    assert disks.entries[-1] == Done()
    made = (await volumes(disks))[0]
    assert (made["size"], made["description"]) == (3, "logs")
    assert str(made["name"]).startswith("web-thing-")
    assert made["status"] == "available"


async def test_a_given_name_is_used(disks: Bench) -> None:
    await disks.create({"gigabytes": 1, "name": "data"})
    assert [made["name"] for made in await volumes(disks)] == ["data"]


async def test_an_object_in_error_fails_and_may_be_retried(disks: Bench, served: ServedCloud) -> None:
    fail(served, f"POST {VOLUMES}", "error_state")
    with pytest.raises(ActionFailed) as caught:
        await disks.create({"gigabytes": 1})
    assert caught.value.failed.in_error
    assert caught.value.failed.kind == "ResourceInError"


async def test_an_object_that_vanishes_during_creation(disks: Bench) -> None:
    disk = disks.resource()
    disk.properties, disk.physical_id = await disks.finalized({"gigabytes": 1}), "gone"
    with pytest.raises(ActionFailed, match="NotFound"):
        await disks.run("create", disk)


class TestFind:
    async def test_after_a_crash_the_object_is_found_by_its_physical_name(self, disks: Bench) -> None:
        disk = await disks.crash_after_create({"gigabytes": 1})
        assert disk.physical_id == (await volumes(disks))[0]["id"]
        await disks.run("create", disk)
        assert len(await volumes(disks)) == 1

    async def test_after_a_lost_response(self, disks: Bench, served: ServedCloud) -> None:
        fail(served, f"POST {VOLUMES}", "succeed_but_fail", times=1)
        with pytest.raises(CloudError) as caught:
            await disks.crash_after_create({"gigabytes": 1})
        assert caught.value.transient
        disk = disks.resource()
        disk.properties = await disks.finalized({"gigabytes": 1, "name": str((await volumes(disks))[0]["name"])})
        assert await disks.kind.find(disks.call(disk, "CREATE", disk.properties)) is not None

    async def test_no_object_was_created(self, disks: Bench) -> None:
        disk = disks.resource()
        disk.properties = await disks.finalized({"gigabytes": 1})
        assert await disks.kind.find(disks.call(disk, "CREATE", disk.properties)) is None

    async def test_another_resources_object_of_the_same_name_is_left_alone(self, disks: Bench) -> None:
        first = await disks.create({"gigabytes": 1, "name": "twin"})
        second = await disks.crash_after_create({"gigabytes": 1, "name": "twin"})
        assert second.physical_id not in (None, first.physical_id)

    async def test_an_older_object_of_the_same_name_is_left_alone(self, disks: Bench) -> None:
        await disks.cloud.post("cinder", "/volumes", {"volume": {"size": 1, "name": "twin"}})
        disks.advance(600)
        disk = disks.resource()
        disk.properties = await disks.finalized({"gigabytes": 1, "name": "twin"})
        assert await disks.kind.find(disks.call(disk, "CREATE", disk.properties)) is None

    async def test_of_two_equal_objects_the_older_one_is_found(self, disks: Bench) -> None:
        made = []
        disk = disks.resource()
        disk.properties = await disks.finalized({"gigabytes": 1, "name": "twin"})
        call = disks.call(disk, "CREATE", disk.properties)
        for _ in range(6):  # IDs are random: by chance alone, the older one has the lower ID
            made.append(await disks.cloud.post("cinder", "/volumes", {"volume": {"size": 1, "name": "twin"}}))
            disks.advance(2)
        found = await disks.kind.find(call)
        assert found == made[0]["volume"]["id"]

    async def test_an_object_with_other_properties_is_left_alone(self, disks: Bench) -> None:
        await disks.cloud.post("cinder", "/volumes", {"volume": {"size": 1, "name": "twin"}})
        disk = disks.resource()
        disk.properties = await disks.finalized({"gigabytes": 1, "name": "twin", "about": "mine"})
        kind = type("DetailedDisk", (Disk,), {})()
        body = await kind.create_body(disks.call(disk, "CREATE", disk.properties))
        seen = (await volumes(disks))[0]
        assert not kind.made_by(disks.call(disk, "CREATE", disk.properties), body, seen)


class TestUpdate:
    async def test_only_what_changed_is_sent(self, disks: Bench, calls: list[str]) -> None:
        disk = await disks.create({"gigabytes": 1, "name": "data", "about": "old"})
        await disks.update(disk, {"gigabytes": 1, "name": "data", "about": "new"})
        assert sum(call.startswith("PUT") for call in calls) == 1
        made = (await volumes(disks))[0]
        assert (made["name"], made["description"]) == ("data", "new")

    async def test_a_removed_name_becomes_the_physical_name(self, disks: Bench) -> None:
        disk = await disks.create({"gigabytes": 1, "name": "data"})
        await disks.update(disk, {"gigabytes": 1})
        assert str((await volumes(disks))[0]["name"]).startswith("web-thing-")

    async def test_no_request_if_no_property_is_sent(self, disks: Bench, calls: list[str]) -> None:
        disk = await disks.create({"gigabytes": 1})
        calls.clear()
        assert await disks.update(disk, {"gigabytes": 1, "local": "y"}) == Done()
        assert calls == []


class TestDelete:
    async def test_it_waits_until_the_object_is_deleted(self, disks: Bench) -> None:
        disk = await disks.create({"gigabytes": 1})
        await disks.delete(disk)
        assert isinstance(disks.entries[0], InProgress)
        assert await volumes(disks) == []

    async def test_deletion_of_a_missing_object_is_done(self, disks: Bench) -> None:
        disk = await disks.create({"gigabytes": 1})
        await disks.delete(disk)
        await disks.delete(disk)
        assert disks.entries == [Done()]

    async def test_deletion_before_creation_is_done(self, disks: Bench) -> None:
        await disks.delete(disks.resource())
        assert disks.entries == [Done()]

    async def test_a_refusal_is_left_to_the_engine(self, disks: Bench, served: ServedCloud) -> None:
        disk = await disks.create({"gigabytes": 1})
        fail(served, f"DELETE {VOLUMES}/*", "fail", status=409)
        with pytest.raises(CloudError) as caught:
            await disks.delete(disk)
        assert caught.value.conflict


class TestReading:
    async def test_attributes_need_one_request(self, disks: Bench, calls: list[str]) -> None:
        disk = await disks.create({"gigabytes": 1})
        calls.clear()
        keys = [("show",), ("kind",), ("labels", "none"), ("show", "size")]
        values = await disks.attributes(disk, keys)
        assert values["show", "size"] == 1
        assert values[("show",)]["id"] == disk.physical_id
        assert values["labels", "none"] is None
        assert len(calls) == 1

    async def test_a_missing_object_has_no_attributes(self, disks: Bench) -> None:
        disk = await disks.create({"gigabytes": 1})
        await disks.delete(disk)
        assert await disks.attribute(disk, "show") is None

    async def test_check(self, disks: Bench) -> None:
        disk = await disks.create({"gigabytes": 1})
        assert await disks.run("check", disk) == Done()
        await disks.delete(disk)
        with pytest.raises(ActionFailed, match="does not exist"):
            await disks.run("check", disk)


class TestWaiter:
    waiter = Waiter.until("ACTIVE", pending=("BUILD",), every=5.0)

    def test_waiter_returns_an_outcome_for_every_set_of_statuses(self) -> None:
        assert self.waiter.outcome("ACTIVE") == Done()
        assert self.waiter.outcome("BUILD") == InProgress(5.0)
        failed = self.waiter.outcome("ERROR", "no host")
        assert isinstance(failed, Failed)
        assert failed.in_error
        assert "no host" in failed.reason
        odd = self.waiter.outcome("SHINY")
        assert isinstance(odd, Failed)
        assert (odd.kind, odd.in_error) == ("ResourceUnknownStatus", False)

    def test_without_pending_statuses_every_other_one_is_pending(self) -> None:
        assert Waiter.until("ACTIVE").outcome("SHINY") == InProgress(5.0)

    def test_the_first_polls_are_frequent(self) -> None:
        assert [self.waiter.pause(elapsed) for elapsed in (0, 2, 8, 100)] == [0.25, 0.5, 2.0, 5.0]


class TestWire:
    schema: Mapping[str, Property] = {
        "old": Property(),
        "new": Property(wire="newest", replaces="old"),
        "pairs": Property(Type.LIST, items=Property(Type.MAP, schema={"from": Property(wire="src"), "to": Property()})),
    }

    def test_names_nulls_and_replaced_properties(self) -> None:
        values = {"old": "a", "new": "a", "pairs": [{"from": "x", "to": None}]}
        assert to_wire(self.schema, values) == {"newest": "a", "pairs": [{"src": "x"}]}

    def test_a_null_at_the_top_stays(self) -> None:
        assert to_wire(self.schema, {"new": None}) == {"newest": None}


@pytest.mark.parametrize(
    ("sent", "shown", "equal"),
    [
        ({"a": 1}, {"a": 1, "b": 2}, True),
        ({"a": 1}, {"b": 2}, False),
        ([1, 2], [2, 1], True),
        ([1], [1, 2], False),
        (5, "5", True),
        ([{"ip": "x"}], [{"ip": "x", "subnet": "s"}], True),
        (True, False, False),
    ],
)
def test_object_equality(sent: object, shown: object, equal: bool) -> None:
    assert same(sent, shown) is equal


async def test_a_list_whose_filters_are_refused_is_searched_as_a_whole(disks: Bench, served: ServedCloud) -> None:
    fail(served, "GET /volume/v3/*/volumes/detail", "fail", status=400, times=1)
    disk = await disks.crash_after_create({"gigabytes": 1})
    assert disk.physical_id is not None
    assert len(await volumes(disks)) == 1
    fail(served, "GET /volume/v3/*/volumes/detail", "fail", status=400)
    with pytest.raises(CloudError, match="HTTP 400"):
        await disks.crash_after_create({"gigabytes": 1})


class Extended(Disk):
    """A type of a plug-in, which extends Stoker's method under its present name."""

    def status_outcome(self, call: Call, shown: Mapping[str, object] | None) -> Outcome:
        outcome = super().status_outcome(call, shown)
        return replace(outcome, note="extended") if isinstance(outcome, Done) else outcome


def test_extended_methods_with_former_names_work_for_one_release() -> None:
    with pytest.warns(DeprecationWarning, match="Former: the method `judge` is called `status_outcome`"):

        class Former(Extended):
            def judge(self, call: Call, shown: Mapping[str, object] | None) -> Outcome:
                outcome: Outcome = super().judge(call, shown)  # type: ignore[misc]
                assert isinstance(outcome, Done)
                return replace(outcome, note=f"{outcome.note} twice")

    call: Any = SimpleNamespace(elapsed=0.0)
    with pytest.warns(DeprecationWarning, match="Extended: the method `judge` is called `status_outcome`"):
        assert Former().status_outcome(call, {"status": "available"}) == Done(note="extended twice")


def test_former_name_of_a_method_of_waiters_works_for_one_release() -> None:
    with pytest.warns(DeprecationWarning, match="Waiter: the method `judge` is called `outcome`"):
        assert getattr(Waiter.until("ACTIVE"), "judge")("ACTIVE") == Done()  # noqa: B009 - type checkers do not know it
