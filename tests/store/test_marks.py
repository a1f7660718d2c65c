"""Databases that were restored from a backup, recognized by a mark from outside."""

from __future__ import annotations

from functools import partial
from typing import Any

from stoker.base.ids import new_id
from stoker.store import claims, marks
from stoker.store.database import Database
from stoker.store.journal import Batch, Journal
from stoker.store.mark_records import Finding, Item, Mark
from stoker.store.records import COMPLETE, Resource
from tests.store import rows

NOW = 1_000_000.0


def plain(_type: str, _uuid: str, physical_id: str) -> str:
    return physical_id


def resource(stack_id: str, physical_id: str, **changes: Any) -> Resource:
    values: dict[str, Any] = {
        "uuid": new_id(), "stack_id": stack_id, "position": 0, "name": "net", "type": "OS::Neutron::Net",
        "action": "CREATE", "status": COMPLETE, "reason": "", "physical_id": physical_id, "created_at": 1.0,
    }  # fmt: skip
    return Resource(**{**values, **changes})


async def report(journal: Journal, engine: str, seen_at: float) -> None:
    await journal.commit(Batch().then(partial(claims.report, engine=rows.engine(engine, seen_at))))


async def mark_of(database: Database) -> Mark:
    found = await database.read(marks.current, plain)
    assert found is not None
    return found


async def test_a_database_without_engines_has_no_mark(database: Database) -> None:
    assert await database.read(marks.current, plain) is None
    assert await database.read(marks.is_older, Mark("me", NOW, 0, {}))


async def test_a_later_state_is_not_older_than_a_mark(database: Database, journal: Journal) -> None:
    await report(journal, "me", NOW)
    mark = await mark_of(database)
    assert (mark.engine, mark.seen_at) == ("me", NOW)
    assert not await database.read(marks.is_older, mark)

    await report(journal, "me", NOW + 3)
    assert not await database.read(marks.is_older, mark)
    await report(journal, "next", NOW + 100_000)
    await journal.commit(Batch().then(partial(claims.forget_engines, before=NOW + 50_000)))
    assert not await database.read(marks.is_older, mark)  # the engine of the mark has been forgotten


async def test_an_earlier_state_is_older_also_when_the_clock_was_set_back(database: Database, journal: Journal) -> None:
    await report(journal, "me", NOW)
    mark = await mark_of(database)

    assert await database.read(marks.is_older, Mark("me", NOW + 60, 0, {}))  # the same engine, later
    assert await database.read(marks.is_older, Mark("next", NOW + 60, 0, {}))  # an engine that began after the backup
    await report(journal, "after the clock was set", NOW - 3600)
    assert not await database.read(marks.is_older, mark)
    assert not await database.read(marks.is_older, Mark("after the clock was set", NOW - 3600, 0, {}))


async def test_missing_data_of_older_database(database: Database, journal: Journal) -> None:
    """A mark of the later state is compared with the earlier one, whose order here is turned around."""
    same, kept, changed, gone = (rows.stack(name) for name in ("same", "kept", "changed", "gone"))
    nested = rows.stack("inner", parent_id=changed.id, root_id=changed.id)
    link = resource(changed.id, nested.id, name="inner", type="inner.yaml")
    before = resource(nested.id, "before")
    await journal.commit(
        Batch().add(same, kept, changed, gone, nested, link, before, resource(gone.id, "g"), resource(same.id, "s"))
    )
    await report(journal, "me", NOW)
    earlier = await mark_of(database)
    assert earlier.stacks[changed.id].items == {Item("OS::Neutron::Net", "net", "before")}

    created = rows.stack("created")
    operation = rows.operation(nested.id, action="UPDATE", created_at=50.0)
    gone.deleted_at, gone.live_name = 60.0, None
    batch = Batch().remove(before).change(gone)
    await journal.commit(
        batch.add(created, operation, resource(nested.id, "after"), resource(created.id, "c"), rows.event(same.id, ""))
    )
    later = await mark_of(database)
    assert later.event > earlier.event
    assert later.stacks[changed.id].changed_at == 50.0
    assert set(later.stacks) == {same.id, kept.id, changed.id, created.id}

    assert await database.read(marks.differences, later, plain) == []
    found = {each.name: each for each in await database.read(marks.differences, earlier, plain)}
    assert {name: each.finding for name, each in found.items()} == {
        "changed": Finding.CHANGED, "created": Finding.DELETED, "gone": Finding.MISSING,
    }  # fmt: skip
    assert [item.physical_id for item in found["changed"].orphaned] == ["before"]
    assert [item.physical_id for item in found["changed"].lost] == ["after"]
    assert [item.physical_id for item in found["created"].lost] == ["c"]
    assert [item.physical_id for item in found["gone"].orphaned] == ["g"]
    for each in found.values():
        assert each == type(each).of(each.values())
