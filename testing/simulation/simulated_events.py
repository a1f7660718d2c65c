"""What the events of stacks and resources must say: each action that began, and how each one ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from sqlalchemy import Connection, select

from stoker.engine.records.actions import NOT_CREATED
from stoker.engine.running.stop import UNCHANGING
from stoker.store.records import COMPLETE, FAILED, IN_PROGRESS, REMOVE_SNAPSHOT, STACK_TYPE, Operation, Resource
from stoker.store.tables import events, operations, resources, stacks

Recorded = Counter[tuple[str, str, str, str]]
"""How many events there are, by stack, resource (empty for the stack itself), action and status."""

AT_ONCE = frozenset({"SIGNAL", "CHECK", "MOVE", "ADOPT"})
"""Actions of resources that can be complete without a beginning: a check is, when a mark is removed, and an
adoption, when an object is imported."""

WITHOUT_OPERATION = frozenset({"LOCK", "UNLOCK"})
"""What is recorded of stacks at once."""

COMMIT_SECONDS = 5.0
"""How much later than its own time the end of an operation is committed at most: the database may be away meanwhile."""


def missing_events(connection: Connection, first: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """What has happened without the events that it must have, and events of what has not; nothing is in progress.

    `first` are the first names of moved resources, by stack and name.
    """
    recorded: Recorded = Counter()
    columns = events.c.stack_id, events.c.resource_name, events.c.resource_type, events.c.action, events.c.status
    # An event with a code changes no state, and repeats the present one.
    for row in connection.execute(select(*columns).where(events.c.reason_code.is_(None))):
        name = (
            "" if row.resource_type == STACK_TYPE else first.get((row.stack_id, row.resource_name), row.resource_name)
        )
        recorded[row.stack_id, name, row.action, row.status] += 1
    yield from _of_operations(connection, recorded)
    yield from _of_resources(connection, recorded, first)
    for (stack_id, name, action, status), number in recorded.items():
        counted = name and action not in AT_ONCE and status == COMPLETE
        if counted and number > recorded[stack_id, name, action, IN_PROGRESS]:
            yield f"{name} of stack {stack_id} has ended {action} more often than it has begun"


def _of_operations(connection: Connection, recorded: Recorded) -> Iterator[str]:
    """Each operation has an event of its start and, unless another one has superseded it, one of its end."""
    made = Operation.all_of(connection.execute(select(operations).where(operations.c.action != REMOVE_SNAPSHOT)))
    begun = Counter((one.stack_id, one.stack_action) for one in made)
    for (stack_id, action), number in begun.items():
        if recorded[stack_id, "", action, IN_PROGRESS] != number:
            events_of_it = recorded[stack_id, "", action, IN_PROGRESS]
            yield f"stack {stack_id} has begun {action} {number} times, with {events_of_it} events"
    for status in (COMPLETE, FAILED):
        ended = [one for one in made if one.status == status]
        lasting = Counter((one.stack_id, one.stack_action) for one in ended if not _is_superseded(one, made))
        for (stack_id, action), number in lasting.items():
            if recorded[stack_id, "", action, status] < number:
                yield f"stack {stack_id} is {action} {status} {number} times, with less events of that"
    completed = Counter((one.stack_id, one.stack_action) for one in made if one.status == COMPLETE)
    for (stack_id, name, action, status), number in recorded.items():
        counted = not name and action not in WITHOUT_OPERATION and status == COMPLETE
        if counted and number > completed[stack_id, action]:
            yield f"stack {stack_id} has {number} events of {action} {status} for {completed[stack_id, action]}"


def _is_superseded(operation: Operation, others: list[Operation]) -> bool:
    """Whether another operation on the stack was requested before the end of this one was committed."""
    end = (operation.finished_at or 0.0) + COMMIT_SECONDS
    return any(
        other.stack_id == operation.stack_id
        and other.id != operation.id
        and operation.created_at <= other.created_at <= end
        for other in others
    )


def _of_resources(connection: Connection, recorded: Recorded, first: Mapping[tuple[str, str], str]) -> Iterator[str]:
    """The state of each resource has an event.

    A resource with which nothing is left to do is complete without an event after a failure, or an interrupted check.
    """
    query = select(resources).join(stacks, stacks.c.id == resources.c.stack_id)
    for row in Resource.all_of(connection.execute(query.where(resources.c.action != NOT_CREATED))):
        ways = [row.status]
        if row.status == COMPLETE:
            ways += [FAILED, IN_PROGRESS] if row.action in UNCHANGING else [FAILED]
        name = first.get((row.stack_id, row.name), row.name)
        if not any(recorded[row.stack_id, name, row.action, status] for status in ways):
            yield f"{row.name} of stack {row.stack_id} is {row.action} {row.status} without an event of that"
