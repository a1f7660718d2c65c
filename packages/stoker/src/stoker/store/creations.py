"""What decides whether a new stack may be created, read with one statement."""

from __future__ import annotations

from sqlalchemy import Connection, select, true

from stoker.store.change_sets import ROOM, Room, room_parameters
from stoker.store.records import Stack
from stoker.store.settings import RULES, Rules, separated

_room, _rules = ROOM.subquery("room"), RULES.subquery("rules")
_ROOM_AND_RULES = select(_room, _rules).select_from(_room.outerjoin(_rules, true()))
"""The room for a stack, once for each of its rules, or once without a rule."""


def room_and_rules(connection: Connection, stack: Stack, limit: int) -> tuple[Room, Rules]:
    """Return what `change_sets.room_for` and `settings.rules_of` return for a new root stack."""
    parameters = {**room_parameters(stack, limit), "stack_id": stack.id}
    rows = connection.execute(_ROOM_AND_RULES, parameters).all()
    return Room.of(rows[0]), separated([row for row in rows if row.body is not None])
