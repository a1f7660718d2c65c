"""Operations that are offered to all engines: who claims them, with the same results on every database."""

from __future__ import annotations

from typing import Any

import pytest

from stoker.store import claimable
from stoker.store.database import Database
from stoker.store.journal import Batch, Journal
from stoker.store.offered import OFFERED_SECONDS, claim_offered
from stoker.store.records import PENDING, RUNNING, SECOND_CHANCE, Operation, Stack
from tests.store.rows import engine, operation, stack

NOW = 100.0


def offered(**values: Any) -> tuple[Stack, Operation]:
    """A nested stack, and its operation that is offered."""
    made = stack(live_name=None)
    waiting = operation(
        made.id,
        **{"owner": None, "epoch": 0, "status": PENDING, "parent_operation": "above", "created_at": NOW, **values},
    )
    made.operation = waiting.id
    return made, waiting


async def claimed(journal: Journal, engine_id: str, limit: int = 10) -> list[tuple[Operation, Stack]]:
    found: list[tuple[Operation, Stack]] = []
    await journal.commit(Batch().then(lambda c: found.extend(claim_offered(c, engine_id, NOW + 1, limit))))
    return found


async def test_an_engine_claims_a_portion_and_another_one_the_rest(database: Database, journal: Journal) -> None:
    made, not_found = [offered() for _ in range(5)], list[Any]()
    await journal.commit(Batch().add(*(row for pair in made for row in pair), engine("me", NOW), engine("other", NOW)))
    busy = made[0][0].project_id
    await journal.commit(Batch().then(lambda c: not_found.extend(claim_offered(c, "me", NOW, 3, {busy, "another"}))))
    assert not not_found
    mine, theirs = await claimed(journal, "me", 3), await claimed(journal, "other", 3)
    assert (len(mine), len(theirs)) == (3, 2)
    assert {each.id for each, _ in mine + theirs} == {waiting.id for _, waiting in made}
    assert all(each.stack_id == its.id and its.operation == each.id for each, its in mine + theirs)
    assert {(each.owner, each.epoch, each.status, each.claimed_at) for each, _ in mine} == {("me", 1, RUNNING, NOW + 1)}
    recorded = {found.id: found.owner for found, _, _ in await database.read(claimable.unfinished)}
    assert recorded == {each.id: each.owner for each, _ in mine + theirs}
    assert await claimed(journal, "me") == []


async def test_an_engine_does_not_wait_for_what_another_one_is_about_to_claim(
    url: str, database: Database, journal: Journal
) -> None:
    if url.startswith("sqlite"):
        pytest.skip("only one connection writes at a time")
    made = [offered() for _ in range(4)]
    await journal.commit(Batch().add(*(row for pair in made for row in pair)))
    with database.engine.begin() as connection:
        first = {each.id for each, _ in claim_offered(connection, "me", NOW, 2)}
        second = {each.id for each, _ in await claimed(journal, "other")}
    assert len(first) == len(second) == 2
    assert not first & second


@pytest.mark.parametrize(
    "values",
    [
        {"parent_operation": None},
        {"cause": SECOND_CHANCE},
        {"owner": "gone"},
        {"status": RUNNING},
        {"epoch": 1},
    ],
    ids=["of a root stack", "a second chance", "owned", "running", "begun before"],
)
async def test_operations_needing_takeover_are_not_offered(
    database: Database, journal: Journal, values: dict[str, Any]
) -> None:
    made, waiting = offered(**values)
    await journal.commit(Batch().add(made, waiting))
    assert await claimed(journal, "me") == []
    found = await database.read(claimable.claimable, "me", NOW, 10)
    assert [orphan.id for orphan in found] == [waiting.id]


@pytest.mark.parametrize("why", ["superseded", "its stack is busy"])
async def test_operations_decided_by_others_are_skipped(database: Database, journal: Journal, why: str) -> None:
    made, waiting = offered()
    newer = operation(made.id, owner="other")
    if why == "superseded":
        made.operation = newer.id
    await journal.commit(Batch().add(made, waiting, newer, engine("other", NOW)))
    assert await claimed(journal, "me") == []
    assert await database.read(claimable.count_claimable, "me", NOW) == 0
    late = await database.read(claimable.claimable, "me", NOW + OFFERED_SECONDS, 10)
    assert {orphan.id for orphan in late} == {newer.id, waiting.id}
