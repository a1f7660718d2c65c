"""Stacks of a real Heat, from its recorded rows, are taken over, and continue here."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

import pytest
from sqlalchemy import Connection, MetaData, create_engine, func, insert, select, text, update

from openstack_emulator.testing import ServedCloud
from stoker.engine.records.stack_view import view_of
from stoker.engine.settings import EngineSettings
from stoker.store import purging, queries, tables
from stoker.store.journal import Batch
from stoker.takeover import copying
from stoker.takeover.copying import Copier, CopyOutcome, TreeReport
from stoker.takeover.decoding import Decoder
from stoker.takeover.documents import documents
from stoker.takeover.heat import HeatDatabase
from testing.harness import World
from testing.heat_stacks import definition, read_stacks
from tests.takeover import heat_database

ENTRIES = {entry["name"]: entry for entry in read_stacks()}


class TakeoverWorld:
    """A world that has taken over the stacks of the recorded Heat."""

    def __init__(self, world: World, url: str) -> None:
        self.world = world
        self.url = url
        self.heat = HeatDatabase(url)

    async def copy(
        self, *, write: bool = True, key: str = heat_database.ENCRYPTION_KEY, project: str | None = None
    ) -> dict[str, TreeReport]:
        """Take over all stacks, or those of a project; return the reports by name."""
        reports: dict[str, TreeReport] = {}
        copier = Copier(self.world.engine.services, self.heat, Decoder([key]), project=project, write=write)
        await copier.software()
        await copier.trees(lambda report: reports.update({report.name: report}))
        return reports

    async def changes(self, name: str) -> dict[str, list[str]]:
        """Return what an update with the stack's own definition would change."""
        entry = ENTRIES[name]
        given = {**definition(entry), **entry.get("update", {})}
        shown = await self.world.call("stack_update_preview", ref={"name": name, "id": None}, show_nested=True, **given)
        buckets = shown["resource_changes"]
        return {
            kind: [each["name"] for each in found] for kind, found in buckets.items() if kind != "unchanged" and found
        }

    async def signed_url(self, stack: str, resource: str) -> str:
        """Return the recorded URL of a resource."""
        engine = self.world.engine
        shown = await self.world.call("stack_show", ref={"name": stack, "id": None})
        found = await engine.services.database.read(queries.stack_by_id, shown["id"])
        assert found is not None
        return str((await view_of(engine.services, found)).current[resource].stored.data["ec2_signed_url"])


UNFINISHED = {
    "held-by-a-hook", "in-progress", "update-in-progress", "delete-in-progress", "failed", "failed-update",
    "failed-in-a-group", "wait-condition", "marked-unhealthy", "suspended",
}  # fmt: skip
"""Stacks that have something left to do."""

ALWAYS_UPDATED = {"update-handle"}
"""Stacks with resources that every update of their stack updates or replaces."""

ELSEWHERE = {"remote-stack", "functions"}
"""Stacks that need a region of that Heat's cloud, or whose values contain the ID of their project there."""


@pytest.fixture
async def taken(tmp_path: Path, served: ServedCloud) -> Any:
    url = "http://127.0.0.1:16005/v1/waitcondition"
    settings = EngineSettings(enable_stack_adopt=True, type_options={"heat_waitcondition_server_url": url})
    world = await World(tmp_path / "stoker.db", served, settings=settings).start()
    found = TakeoverWorld(world, heat_database.make(tmp_path / "heat.db", world.context.project_id))
    yield found
    found.heat.close()
    await world.stop()


async def test_takeover_plan_lists_stacks_and_writes_nothing(taken: TakeoverWorld) -> None:
    reports = await taken.copy(write=False)
    assert {report.fate for report in reports.values()} == {CopyOutcome.COPY}
    assert reports["group-of-groups"].stacks == 4
    assert reports["group-of-groups"].types == {"OS::Heat::ResourceGroup": 3, "OS::Heat::Value": 4}
    assert reports["in-progress"].notes == ["in-progress: CREATE is in progress, and is recorded as failed"]
    assert (await taken.world.call("stack_list"))["stacks"] == []


async def test_stacks_equal_those_of_heat(taken: TakeoverWorld) -> None:
    reports = await taken.copy()
    world = taken.world
    listed = {stack["name"]: stack for stack in (await world.call("stack_list"))["stacks"]}
    assert listed.keys() == reports.keys() >= ENTRIES.keys()
    assert all(listed[name]["id"] == report.id for name, report in reports.items())
    changes = {name: await taken.changes(name) for name in ENTRIES.keys() - ELSEWHERE}
    assert {name: each for name, each in changes.items() if each and name not in UNFINISHED | ALWAYS_UPDATED} == {}
    assert changes["failed"] == {"replaced": ["bad"], "added": ["never"]}
    assert changes["in-progress"] == {"updated": ["slow"], "added": ["last"]}

    resources = await world.resources("value")
    assert resources["a"]["physical_id"] == "value-a-sslo3qucrcat"
    shown = await world.call("stack_show", ref={"name": "values-of-all-kinds", "id": None})
    assert (shown["tags"], shown["parameters"]["a_number"]) == (["blue", "green"], "7")
    hidden = await world.call("stack_show", ref={"name": "hidden-parameters", "id": None})
    assert hidden["parameters"]["secret"] == "******"
    events = await world.call("event_list", ref={"name": "replaced", "id": None})
    assert "Taken over from Heat" in events[-1].values()


async def test_signed_urls_are_spelled_as_in_heat(taken: TakeoverWorld) -> None:
    await taken.copy()
    ours = urlsplit(await taken.signed_url("scaling-group", "up"))
    heats = urlsplit(await taken.signed_url("wait-condition-of-cloudformation", "Handle"))
    assert (ours.netloc, heats.netloc) == ("127.0.0.1:16005",) * 2
    assert (ours.path.split("arn%3A")[0], heats.path.split("arn%3A")[0]) == ("/v1/signal/", "/v1/waitcondition/")
    names = [name for name, _ in parse_qsl(heats.query)]
    assert "Timestamp" in names
    assert [name for name, _ in parse_qsl(ours.query)] == [name for name in names if name != "Timestamp"]


async def test_a_copy_can_be_repeated(taken: TakeoverWorld) -> None:
    await taken.copy()
    assert {report.fate for report in (await taken.copy()).values()} == {CopyOutcome.PRESENT}


RECORDS = {
    tables.stacks: ("id", "project_id", "status", "operation", "inputs", "good_inputs", "root_id"),
    tables.resources: ("uuid", "stack_id", "physical_id", "status", "fingerprint", "properties"),
    tables.property_sets: ("id", "stack_id"),
    tables.events: ("stack_id", "resource_name", "status", "reason", "properties"),
    tables.operations: ("id", "stack_id"),
    tables.inputs: ("id", "template"),
    tables.documents: ("digest",),
    tables.snapshots: ("id", "stack_id"),
    tables.software_configs: ("id",),
    tables.software_deployments: ("id",),
    tables.stack_tags: ("stack_id", "tag"),
    tables.trusts: ("credential", "user_id"),
}


async def records(world: World) -> dict[str, list[str]]:
    """Return what a world has recorded, without sealed values, which differ."""

    def found(connection: Connection) -> dict[str, list[str]]:
        return {
            table.name: sorted(str(row) for row in connection.execute(select(*(table.c[name] for name in columns))))
            for table, columns in RECORDS.items()
        }

    return await world.engine.services.database.read(found)


async def test_an_interrupted_copy_is_continued_project_by_project(
    taken: TakeoverWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal, projects = taken.world.engine.services.journal, ("another", taken.world.context.project_id)
    commit = journal.commit
    monkeypatch.setattr(copying, "PAGE", 4)

    async def interrupted(after: int) -> None:
        left = iter(range(after))

        async def killed(batch: Batch) -> None:
            if next(left, None) is None:
                raise ConnectionError("killed")
            await commit(batch)

        monkeypatch.setattr(journal, "commit", killed)
        with pytest.raises(ConnectionError):
            await taken.copy()
        monkeypatch.setattr(journal, "commit", commit)

    with create_engine(taken.url).begin() as heat:
        heat.execute(text("UPDATE stack SET tenant = 'another' WHERE name > 'm'"))
    kept: list[dict[str, list[str]]] = []
    for date in ("2027-01-01", "2027-01-02"):
        with create_engine(taken.url).begin() as heat:
            heat.execute(text(f"UPDATE stack SET updated_at = '{date} 00:00:00'"))
        for commits in (1, 3, 30):
            await interrupted(commits)
        first, second = [await taken.copy(project=project) for project in projects]
        assert first.keys() | second.keys() >= ENTRIES.keys()
        assert not first.keys() & second.keys()
        fates = {report.fate for report in (*first.values(), *second.values())}
        assert {CopyOutcome.PRESENT, CopyOutcome.COPY} <= fates
        assert (CopyOutcome.AGAIN in fates) == bool(kept)
        assert {report.fate for report in (await taken.copy()).values()} == {CopyOutcome.PRESENT}
        kept.append(await records(taken.world))
        assert len(kept[-1]["resources"]) == sum(each.resources for each in (*first.values(), *second.values()))
    assert kept[0] == kept[1]


async def test_pending_hook_is_copied(taken: TakeoverWorld) -> None:
    await taken.copy()
    world, entry, ref = taken.world, ENTRIES["held-by-a-hook"], {"name": "held-by-a-hook", "id": None}

    async def held() -> int:
        events = await world.call("event_list", ref=ref)
        return sum("paused until Hook pre-create is cleared" in event["status_reason"] for event in events)

    before = await held()
    updated = await world.call("stack_update", ref=ref, **definition(entry))
    for _ in range(500):
        await world.turn()
        if await held() > before:
            break
    await world.call("resource_signal", ref=ref, name="held", details={"unset_hook": "pre-create"})
    settled = await world.settle(updated["id"])
    assert (before, settled["status"]) == (1, "COMPLETE"), settled["status_reason"]
    assert (await world.resources("held-by-a-hook"))["held"]["status"] == "COMPLETE"


async def test_copied_stacks_can_be_updated(taken: TakeoverWorld) -> None:
    await taken.copy()
    world = taken.world
    for name, entry in ENTRIES.items():
        if "change" not in entry.get("then", {}):
            continue
        before = len(await world.listed({"name": name, "id": None}, nested_depth=5))
        given = {**definition(entry), **entry.get("update", {})}
        given["parameters"] = {**given["parameters"], **entry["then"]["change"]}
        updated = await world.update(name, given.pop("template"), **given)
        assert (name, updated["action"], updated["status"]) == (name, "UPDATE", "COMPLETE"), updated["status_reason"]
        after = len(await world.listed({"name": name, "id": None}, nested_depth=5))
        assert (name, after - before) == (name, entry["then"].get("grows", 0))
    shown = await world.call("stack_show", ref={"name": "values-of-all-kinds", "id": None})
    assert world.outputs(shown) == {"all": ["8-b", 2]}
    group = await world.call("stack_show", ref={"name": "group", "id": None})
    members = {row["physical_id"] for row in await world.listed({"name": "group", "id": None}, nested_depth=1)}
    assert len(world.outputs(group)["refs"]) == 4
    assert set(world.outputs(group)["refs"]) < members


async def test_every_stack_can_be_deleted(taken: TakeoverWorld) -> None:
    await taken.copy()
    for name in sorted(ENTRIES.keys() - ELSEWHERE):
        deleted = await taken.world.delete(name)
        assert (name, deleted["status"]) == (name, "COMPLETE"), deleted["status_reason"]


async def test_stacks_changed_in_heat_are_copied_again(taken: TakeoverWorld) -> None:
    world = taken.world
    created = await world.create("ours", ENTRIES["random"]["template"])
    ours = await world.engine.services.database.read(queries.stack_by_id, created["id"])
    assert ours is not None
    with create_engine(taken.url).begin() as heat:
        trust = {"trust": json.loads(ours.credential or "")["id"]}
        heat.execute(text("UPDATE user_creds SET trust_id = :trust, decrypt_method = ''"), trust)
    await taken.copy()
    entry = ENTRIES["updated-in-place"]
    await world.update("updated-in-place", entry["template"], parameters={"text": "changed here"})
    signals = {"scaling-group": ("up", None), "wait-condition": ("handle", {"status": "SUCCESS"})}
    for name, (resource, details) in signals.items():
        call = world.call("resource_signal", ref={"name": name, "id": None}, name=resource, details=details)
        sent = asyncio.ensure_future(call)
        await world.until(sent.done)
        await sent
    assert {report.fate for report in (await taken.copy()).values()} == {CopyOutcome.PRESENT}
    found = {each.stack.name async for each in documents(world.engine.services, None) if each.changed}
    assert found == {"updated-in-place", *signals}
    with create_engine(taken.url).begin() as heat:
        heat.execute(text("UPDATE stack SET updated_at = '2027-01-01 00:00:00', status_reason = 'again'"))
    reports = await taken.copy()
    assert {name for name, report in reports.items() if report.fate is CopyOutcome.CHANGED_HERE} == found
    assert {report.fate for name, report in reports.items() if name not in found} == {CopyOutcome.AGAIN}
    assert (await world.call("stack_show", ref={"name": "value", "id": None}))["status_reason"] == "again"
    kept = await world.call("stack_show", ref={"name": "updated-in-place", "id": None})
    assert kept["parameters"]["text"] == "changed here"
    assert await taken.changes("nested-deep") == {}


async def test_a_stack_with_an_object_of_another_one_is_not_copied(taken: TakeoverWorld) -> None:
    reports, world = await taken.copy(), taken.world
    with world.database.writing() as connection:
        table, named = tables.resources, tables.stacks
        query = select(table.c.physical_id, table.c.ownership, named.c.root_id, named.c.name).join(
            named, named.c.id == table.c.stack_id
        )
        found = connection.execute(query.where(table.c.type == "OS::Heat::DeployedServer")).first()
        assert found is not None
        inside = connection.execute(select(named.c.id).where(named.c.root_id == found.root_id)).scalars().all()
        purging.forget_stacks(connection, inside)
    server = {"type": "OS::Heat::DeployedServer"}
    await world.create("owner", {"heat_template_version": "2021-04-16", "resources": {"server": server}})
    with world.database.writing() as connection:
        mine = table.c.name == "server", table.c.stack_id == named.c.id, named.c.name == "owner"
        uuid = connection.execute(select(table.c.uuid).where(*mine)).scalar_one()
        values = {"physical_id": found.physical_id, "ownership": found.ownership}
        connection.execute(update(table).where(table.c.uuid == uuid).values(values))
    for write in (False, True):
        [report] = [each for each in (await taken.copy(write=write)).values() if each.id == found.root_id]
        assert report.fate is CopyOutcome.IMPOSSIBLE
        assert f"{found.physical_id} belongs to the resource server of the stack owner" in report.why
    assert found.root_id in {report.id for report in reports.values()}
    assert found.root_id not in {stack["id"] for stack in (await world.call("stack_list"))["stacks"]}


async def test_of_two_stacks_with_one_object_only_the_first_is_copied(taken: TakeoverWorld) -> None:
    """Heat lets two stacks adopt the same object."""
    engine, metadata, second = create_engine(taken.url), MetaData(), str(uuid4())
    with engine.begin() as heat:
        metadata.reflect(heat, only=("stack", "resource", "raw_template"), resolve_fks=False)
        stack, resource, template = (metadata.tables[name] for name in ("stack", "resource", "raw_template"))
        having = template.c.template.like("%OS::Heat::DeployedServer%")
        joined = stack.join(template, template.c.id == stack.c.raw_template_id)
        root = heat.execute(select(stack).select_from(joined).where(having, stack.c.owner_id.is_(None))).first()
        assert root is not None
        rows = heat.execute(select(resource).where(resource.c.stack_id == root.id)).all()
        last = heat.execute(select(func.max(resource.c.id))).scalar_one()
        heat.execute(insert(stack).values({**root._mapping, "id": second, "name": "second"}))
        for number, row in enumerate(rows, last + 1):
            copy = {**row._mapping, "id": number, "uuid": str(uuid4()), "stack_id": second}
            heat.execute(insert(resource).values({**copy, "root_stack_id": second}))
    engine.dispose()
    for write in (False, True):
        about = {report.id: report for report in (await taken.copy(write=write)).values()}
        fates = {about[root.id].fate, about[second].fate}
        assert fates == {CopyOutcome.COPY, CopyOutcome.IMPOSSIBLE}
        refused = next(about[each] for each in (root.id, second) if about[each].fate is CopyOutcome.IMPOSSIBLE)
        assert " belongs to a resource of the stack " in refused.why


async def test_takeover_with_wrong_key_is_refused(taken: TakeoverWorld) -> None:
    reports = await taken.copy(key="f" * 32)
    assert {(report.fate, report.why) for report in reports.values()} == {
        (CopyOutcome.IMPOSSIBLE, "a value is encrypted with another key than the given ones")
    }
    assert (await taken.world.call("stack_list"))["stacks"] == []


async def test_values_with_an_unknown_method_or_type_are_reported(taken: TakeoverWorld) -> None:
    with create_engine(taken.url).begin() as heat:
        heat.execute(text("UPDATE user_creds SET decrypt_method = 'rot13'"))
        heat.execute(text("UPDATE raw_template SET template = replace(template, 'OS::Heat::Delay', 'Their::Own')"))
    reports = await taken.copy()
    assert "the method 'rot13', which is not supported" in reports["value"].why
    with create_engine(taken.url).begin() as heat:
        heat.execute(text("UPDATE user_creds SET trust_id = NULL"))
    reports = await taken.copy()
    assert reports["value"].notes == ["value: Heat has no trust of its owner; the owner's next request creates one"]
    assert "the resource type Their::Own of resource wait is not known here" in reports["delay-and-none"].why
    assert [name for name, report in reports.items() if report.fate is CopyOutcome.IMPOSSIBLE] == ["delay-and-none"]


async def test_a_snapshot_restores_the_definition(taken: TakeoverWorld) -> None:
    await taken.copy()
    world = taken.world
    ref = {"name": "snapshot", "id": None}
    snapshot = (await world.call("snapshot_list", ref=ref))[0]
    assert (snapshot["name"], snapshot["data"]["name"]) == ("before", "snapshot")
    await world.call("snapshot_restore", ref=ref, snapshot_id=snapshot["id"])
    restored = await world.settle(snapshot["stack_id"])
    assert (restored["action"], restored["status"]) == ("RESTORE", "COMPLETE")
    assert world.outputs(restored) == {"shown": "one"}


async def test_adopt_data_is_exported_for_heat(taken: TakeoverWorld) -> None:
    await taken.copy()
    world = taken.world
    await world.update("updated-in-place", ENTRIES["updated-in-place"]["template"])
    found = {each.stack.name: each async for each in documents(world.engine.services, None)}
    assert [name for name, each in found.items() if each.changed] == ["updated-in-place"]
    document = found["users"].document
    assert len(document["resources"]["key"]["resource_data"]["secret_key"]) == 32
    assert document["resources"]["user"]["resource_id"] == document["resources"]["user"]["resource_data"]["user_id"]
    assert found["hidden-parameters"].document["environment"]["parameters"] == {"secret": "a hidden word"}
    adopted = await world.call("stack_create", name="adopted", template=None, adopt_stack_data=found["value"].document)
    assert (await world.settle(adopted["id"]))["status"] == "COMPLETE"


OF_LATER_RELEASES = {
    "resource_snapshot": (),
    "resource_properties_data": (),
    "snapshot": ("action",),
    "event": ("rsrc_prop_data_id",),
    "resource": ("rsrc_prop_data_id", "attr_data_id", "current_template_id", "replaced_by", "atomic_key"),
    "user_creds": ("region_name",),
}
"""Tables and columns that the takeover can do without."""


def as_earlier(rows: heat_database.Rows) -> None:
    """Write rows as an earlier release did, which stored property values with resources, and had no convergence."""
    values = {row["id"]: row for row in rows["resource_properties_data"]}
    for row in rows["resource"]:
        stored = values.get(row["rsrc_prop_data_id"])
        if stored is not None:
            row["properties_data"], row["properties_data_encrypted"] = stored["data"], stored["encrypted"]
        row["requires"] = None
    for row in rows["stack"]:
        row["convergence"] = 0
        if row["action"] == "DELETE":  # only convergence deletes by means of an empty template
            row["raw_template_id"] = row["prev_raw_template_id"]


async def test_stacks_of_an_earlier_release_without_convergence(tmp_path: Path, taken: TakeoverWorld) -> None:
    project = taken.world.context.project_id
    taken.heat.close()
    taken.heat = HeatDatabase(heat_database.make(tmp_path / "earlier.db", project, as_earlier, OF_LATER_RELEASES))
    reports = await taken.copy()
    assert [report.why for report in reports.values() if report.fate is not CopyOutcome.COPY] == []
    names = ENTRIES.keys() - ELSEWHERE - UNFINISHED - ALWAYS_UPDATED
    assert {name: found for name in names if (found := await taken.changes(name))} == {}
    ref = {"name": "snapshot", "id": None}
    assert [each["name"] for each in await taken.world.call("snapshot_list", ref=ref)] == ["before"]
