"""Statements that are executed once for all batches of a transaction, such as those of the ends of operations."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from sqlalchemy import Connection, Engine, select
from sqlalchemy import event as listening

from stoker.base.errors import Conflict
from stoker.store import claims, tables
from stoker.store.database import Database
from stoker.store.journal import Batch, Journal
from stoker.store.records import COMPLETE, Event, Operation, Stack
from tests.store.rows import event, operation, stack


async def commit_together(journal: Journal, batches: Iterable[Batch]) -> list[BaseException | None]:
    """Commit batches in one transaction, and return the errors."""
    loop, begun, resumed = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def hold(_connection: Connection) -> None:
        loop.call_soon_threadsafe(begun.set)
        resumed.wait(10)

    first = asyncio.create_task(journal.commit(Batch().then(hold)))
    await begun.wait()
    others = [asyncio.create_task(journal.commit(batch)) for batch in batches]
    await asyncio.sleep(0)
    resumed.set()
    await first
    return await asyncio.gather(*others, return_exceptions=True)


def end_of(
    made: Stack,
    ended: Operation,
    values: Mapping[str, object] = MappingProxyType({"status": COMPLETE, "reason": "done"}),
    following: Operation | None = None,
) -> claims.StackEnd:
    """The end of an operation on a stack, with an event."""
    lasting = {"good_inputs": ended.inputs}
    return claims.StackEnd(ended.id, made.id, values, lasting, [event(made.id, "ended")], [], following)


async def recorded(journal: Journal, count: int) -> list[tuple[Stack, Operation]]:
    """Stacks with operations in progress."""
    rows = []
    for number in range(count):
        made = stack(f"stack{number}")
        begun = operation(made.id)
        made.operation = begun.id
        rows.append((made, begun))
        await journal.commit(Batch().add(made, begun))
    return rows


def stacks_of(database: Database) -> dict[str, Stack]:
    with database.engine.connect() as connection:
        return {each.id: each for each in Stack.all_of(connection.execute(select(tables.stacks)))}


def events_of(database: Database) -> list[Event]:
    with database.engine.connect() as connection:
        return Event.all_of(connection.execute(select(tables.events)))


async def test_joint_statements_of_batches_are_executed_once(database: Database, journal: Journal) -> None:
    seen: list[Sequence[int]] = []

    def note(_connection: Connection, given: Sequence[int]) -> None:
        seen.append(given)

    assert await commit_together(journal, (Batch().jointly(note, number) for number in range(3))) == [None] * 3
    assert seen == [[0, 1, 2]]


async def test_only_the_batch_whose_value_is_refused_fails(database: Database, journal: Journal) -> None:
    def refuse(_connection: Connection, given: Sequence[str]) -> None:
        if "refused" in given:
            raise Conflict("refused")

    rows = {name: stack(name) for name in ("kept", "refused")}
    errors = await commit_together(journal, (Batch().add(row).jointly(refuse, name) for name, row in rows.items()))
    assert [type(error) for error in errors] == [type(None), Conflict]
    assert set(stacks_of(database)) == {rows["kept"].id}


async def test_ends_change_the_stacks_whose_operations_are_current(database: Database, journal: Journal) -> None:
    (first, ended), (second, overtaken), (third, failed) = await recorded(journal, 3)
    second.operation = operation(second.id).id
    await journal.commit(Batch().change(second))
    following = replace(operation(third.id), action="ROLLBACK")
    rolled_back: dict[str, Any] = {
        "status": "IN_PROGRESS",
        "reason": "",
        "action": "ROLLBACK",
        "operation": following.id,
    }
    ends = [
        end_of(first, ended),
        end_of(second, overtaken),
        end_of(third, failed, rolled_back, following),
    ]
    assert await commit_together(journal, (Batch().jointly(claims.record_ends, end) for end in ends)) == [None] * 3
    assert [end.is_current for end in ends] == [True, False, True]
    found = stacks_of(database)
    assert found[first.id] == replace(first, status=COMPLETE, reason="done", good_inputs=ended.inputs)
    assert found[second.id] == replace(second, good_inputs=overtaken.inputs)
    assert found[third.id] == replace(third, **rolled_back, good_inputs=failed.inputs)
    assert {each.stack_id for each in events_of(database)} == {first.id, third.id}
    with database.engine.connect() as connection:
        assert following in Operation.all_of(connection.execute(select(tables.operations)))


@pytest.mark.parametrize("count", [1, 7])
async def test_many_ends_take_as_many_statements_as_one(database: Database, journal: Journal, count: int) -> None:
    rows, statements = await recorded(journal, count), list[str]()

    def note(_connection: Any, _cursor: Any, text: str, *_rest: Any) -> None:
        statements.append(text)

    listening.listen(Engine, "before_cursor_execute", note)
    try:
        await commit_together(journal, (Batch().jointly(claims.record_ends, end_of(*row)) for row in rows))
    finally:
        listening.remove(Engine, "before_cursor_execute", note)
    assert len([text for text in statements if "writers" not in text and "BEGIN" not in text]) == 2
