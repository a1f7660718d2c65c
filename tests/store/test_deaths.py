"""DeathHistory of engines: which operation is charged with one, and how that ends."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from stoker.store import claimable, claims, deaths, queries
from stoker.store.claims import Claimant, ClaimedOperations
from stoker.store.database import Database
from stoker.store.journal import Batch, Journal
from stoker.store.records import SECOND_CHANCE, Operation
from tests.store.rows import engine, event, operation, stack

NOW = 1000.0


async def test_the_death_of_an_engine_is_recorded_once_by_two_engines_at_a_time(
    url: str, database: Database, journal: Journal
) -> None:
    """The second one waits for the rows that the first one has locked, and finds them judged."""
    if url.startswith("sqlite"):
        pytest.skip("engines do not share a file")
    made = stack()
    owned = operation(made.id, owner="dead")
    await journal.commit(Batch().add(made, owned, engine("dead", NOW - 100)))

    def record() -> None:
        with database.writing() as connection:
            deaths.record_deaths(connection, NOW, 3)

    with ThreadPoolExecutor() as pool:
        with database.writing() as connection:
            deaths.record_deaths(connection, NOW, 3)
            second = pool.submit(record)
            wait([second], timeout=1.0)  # it is blocked by now, or at least begun
        second.result()
    assert len(database.read_now(deaths.deaths_of, owned.id)) == 1


class DeathHistory:
    """One tree of stacks after another, each with an operation of the engine `dead`, at times that only go forward."""

    def __init__(self, database: Database, journal: Journal) -> None:
        self.database, self.journal, self.now = database, journal, NOW

    async def begun(self, owner: str = "dead", **columns: Any) -> Operation:
        """An operation that `owner` works on, and its stack."""
        made = stack(columns.pop("name", "web"))
        owned = operation(made.id, owner=owner, claimed_at=self.now, created_at=self.now, **columns)
        made.operation = owned.id
        await self.journal.commit(Batch().add(made, owned))
        return owned

    async def engine(self, identifier: str, **columns: Any) -> None:
        """Have an engine report itself now."""
        record = replace(engine(identifier, self.now), **columns)
        await self.journal.commit(Batch().then(partial(claims.report, engine=record)))

    async def taken(self, owned: Operation, engine_id: str, **more: Any) -> ClaimedOperations:
        """What an engine gets when it claims the operation after the leases of all others."""
        self.now += 20.0
        await self.engine(engine_id)
        taken: list[ClaimedOperations] = []
        claimant = Claimant(engine_id, self.now, LIMIT, **more)
        await self.journal.commit(Batch().then(lambda c: taken.append(claims.take(c, [owned.id], claimant))))
        return taken[-1]

    def verdicts(self, owned: Operation) -> list[str]:
        return [death.verdict for death in self.database.read_now(deaths.deaths_of, owned.id)]

    async def note(self, engine_id: str, **activity: Any) -> None:
        note = partial(claims.note_activity, engine_id=engine_id, **{"waiting": (), "working": (), **activity})
        await self.journal.commit(Batch().then(note))


LIMIT = 3


@pytest.fixture
def history(database: Database, journal: Journal) -> DeathHistory:
    return DeathHistory(database, journal)


async def test_operation_running_at_every_engine_death_is_quarantined(history: DeathHistory) -> None:
    owned = await history.begun()
    await history.engine("dead")
    codes = []
    for number in range(LIMIT):
        taken = await history.taken(owned, f"engine-{number}")
        codes.append([claimed.reason_code for claimed, _ in taken.claimed])
    assert codes == [[None], [None], ["engine_deaths"]]
    assert history.verdicts(owned) == ["CHARGED"] * LIMIT


async def test_an_operation_that_waits_when_its_engine_dies_is_not_the_cause(history: DeathHistory) -> None:
    """However often that happens; and what it was charged with before is cleared."""
    owned = await history.begun()
    await history.engine("dead")
    await history.taken(owned, "engine-0")
    for number in range(2 * LIMIT):
        await history.note(f"engine-{number}", waiting=[owned.id])
        [(claimed, _)] = (await history.taken(owned, f"engine-{number + 1}")).claimed
        assert claimed.reason_code is None
    assert history.verdicts(owned) == ["CLEARED"] + ["WAITING"] * 2 * LIMIT


async def test_an_operation_that_works_again_after_it_has_waited_may_be_the_cause(history: DeathHistory) -> None:
    owned = await history.begun()
    await history.engine("dead")
    await history.note("dead", waiting=[owned.id])
    await history.note("dead", working=[owned.id])
    await history.taken(owned, "engine-0")
    assert history.verdicts(owned) == ["CHARGED"]


async def test_operations_of_other_engines_are_not_recorded(history: DeathHistory) -> None:
    owned = await history.begun()
    await history.engine("dead")
    await history.note("somebody else", waiting=[owned.id])
    await history.taken(owned, "engine-0")
    assert history.verdicts(owned) == ["CHARGED"]


async def test_a_completed_resource_clears_an_operation_and_the_root_of_its_tree(history: DeathHistory) -> None:
    owned = await history.begun()
    inner = replace(stack("inner"), parent_id=owned.stack_id, root_id=owned.stack_id, depth=1)
    await history.journal.commit(Batch().add(inner))
    await history.engine("dead")
    for number in range(2 * LIMIT):
        await history.journal.commit(Batch().add(event(inner.id, "state changed", history.now + 1)))
        [(claimed, _)] = (await history.taken(owned, f"engine-{number}")).claimed
        assert claimed.reason_code is None
    assert set(history.verdicts(owned)[:-1]) == {"CLEARED"}


async def test_engines_that_die_together_have_another_cause(history: DeathHistory) -> None:
    first, second = await history.begun("dead", name="a"), await history.begun("gone", name="b")
    await history.engine("dead")
    await history.engine("gone")
    await history.taken(first, "engine-0")
    assert history.verdicts(first) == history.verdicts(second) == ["BYSTANDER"]


async def test_an_engine_that_was_asked_to_stop_or_killed_on_purpose_has_not_died(history: DeathHistory) -> None:
    first, second = await history.begun("leaving", name="a"), await history.begun("killed", name="b")
    third = await history.begun("dead", name="c")
    await history.engine("leaving", leaving_at=history.now)
    await history.engine("killed", process=77)
    await history.engine("dead", process=78)
    await history.journal.commit(
        Batch().then(partial(claims.record_planned_kills, processes=[77], host="h", now=history.now))
    )
    for owned in (first, second, third):
        assert (await history.taken(owned, "engine-0")).claimed
    assert [history.verdicts(owned) for owned in (first, second, third)] == [[], [], ["CHARGED"]]


async def test_suspected_operation_runs_on_a_dedicated_engine(history: DeathHistory) -> None:
    suspect, other = await history.begun(name="a"), await history.begun(name="b")
    await history.engine("dead")
    await history.note("dead", waiting=[other.id])
    for number in range(LIMIT - 2):
        assert (await history.taken(suspect, f"engine-{number}", isolates=True)).claimed
    taken = await history.taken(suspect, "main", isolates=True)
    assert (taken.claimed, taken.to_isolate) == ([], {suspect.stack_id})
    assert (await history.taken(other, "trial", trial=suspect.stack_id)).claimed == []
    assert (await history.taken(suspect, "trial", trial=suspect.stack_id)).claimed
    assert history.database.read_now(deaths.on_trial, suspect.stack_id, LIMIT, 0.0)
    [(claimed, _)] = (await history.taken(suspect, "main", isolates=True)).claimed
    assert claimed.reason_code == "engine_deaths"
    assert (await history.taken(other, "main", isolates=True)).claimed


async def test_quarantined_operation_is_resumed_once_after_quiet_time(history: DeathHistory) -> None:
    owned = await history.begun()
    failed: dict[str, Any] = {"status": "FAILED", "reason_code": "engine_deaths", "finished_at": history.now}
    await history.journal.commit(
        Batch()
        .change(replace(owned, **failed))
        .then(partial(queries.set_stack, stack_id=owned.stack_id, values={"status": "FAILED"}))
    )

    def ready(after: float) -> list[str]:
        return history.database.read_now(claimable.second_chances, history.now + after, 900.0)

    assert (ready(899.0), ready(900.0)) == ([], [owned.id])
    other = await history.begun("dead", name="b")
    await history.engine("dead")
    await history.taken(other, "engine-0")
    assert (ready(899.0), ready(900.0)) == ([], [owned.id])  # somebody's engine died meanwhile
    again: list[Operation] = []
    await history.journal.commit(
        Batch().then(lambda c: again.append(claimable.resume(c, owned.id, history.now, SECOND_CHANCE)))
    )
    taken = await history.taken(again[0], "main", isolates=True)
    assert taken.to_isolate == {owned.stack_id}  # a suspect from the beginning
    assert (await history.taken(again[0], "trial", trial=owned.stack_id)).claimed
    [(claimed, _)] = (await history.taken(again[0], "main", isolates=True)).claimed
    assert claimed.reason_code == "engine_deaths"  # its first death is enough
    ended = replace(claimed, status="FAILED", finished_at=history.now)
    await history.journal.commit(
        Batch().change(ended).then(partial(queries.set_stack, stack_id=owned.stack_id, values={"status": "FAILED"}))
    )
    assert ready(10_000.0) == []
