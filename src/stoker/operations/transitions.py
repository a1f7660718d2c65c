"""Which request a stack takes in which state: one table, asked before a request is looked at any closer, and again in
the transaction that records it, so that of two requests sent at once neither gets past the other.

Facts: lifecycle.json (stack_requests); what it does not have (`retry`, `rollback`) is our own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial

from stoker.base.errors import ActionInProgress, EntityNotFound, NotSupported
from stoker.store.records import COMPLETE, FAILED, IN_PROGRESS, Stack

State = tuple[str, str]
"""Action and status of a stack."""


class Verdict(Enum):
    """What becomes of a request."""

    TAKEN = "taken"
    DONE = "done already"
    REFUSED = "refused"
    BUSY = "refused while something else runs"


DEFINING = ("CREATE", "UPDATE", "ROLLBACK", "ADOPT", "RESTORE")
"""Actions that work towards a definition."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`judge` gives the verdict on a state; `refusal` says why not, and what to do instead."""

    judge: Callable[[State], Verdict]
    refusal: str


def _unless(actions: tuple[str, ...]) -> Callable[[State], Verdict]:
    return lambda state: Verdict.REFUSED if state[0] in actions else Verdict.TAKEN


def _only(*states: State) -> Callable[[State], Verdict]:
    return lambda state: Verdict.TAKEN if state in states else Verdict.REFUSED


def _settled(refused: tuple[str, ...]) -> Callable[[State], Verdict]:
    """Nothing may be running; in the states that an action among `refused` leads to, it is not possible either."""

    def judge(state: State) -> Verdict:
        if state[0] in refused and state != ("SUSPEND", IN_PROGRESS):
            return Verdict.REFUSED
        return Verdict.BUSY if state[1] == IN_PROGRESS else Verdict.TAKEN

    return judge


def _verb(action: str, *, repeatable: bool) -> Callable[[State], Verdict]:
    """A verb is not begun on a stack that is busy; what is being done or has been done already is not done again."""

    def judge(state: State) -> Verdict:
        if state == (action, IN_PROGRESS) or (state == (action, COMPLETE) and not repeatable):
            return Verdict.DONE
        return Verdict.BUSY if state[1] == IN_PROGRESS else Verdict.TAKEN

    return judge


RULES: Mapping[str, Rule] = {
    "update": Rule(
        _unless(("DELETE", "SUSPEND")),
        "A stack that is being deleted, or is suspended, cannot be updated; resume a suspended one first.",
    ),
    "delete": Rule(_unless(()), ""),
    "suspend": Rule(_verb("SUSPEND", repeatable=False), ""),
    "resume": Rule(_verb("RESUME", repeatable=False), ""),
    "check": Rule(_verb("CHECK", repeatable=True), ""),
    "snapshot": Rule(
        _settled(("DELETE", "SUSPEND")), "A stack that is being deleted has no snapshots; resume a suspended one first."
    ),
    "restore": Rule(
        _unless(("DELETE", "SUSPEND")),
        "A stack that is being deleted, or is suspended, cannot be restored; resume a suspended one first.",
    ),
    "abandon": Rule(_settled(()), ""),
    "cancel_update": Rule(_only(("UPDATE", IN_PROGRESS)), "Only an update that is running can be cancelled."),
    "cancel_without_rollback": Rule(
        _only(("UPDATE", IN_PROGRESS), ("CREATE", IN_PROGRESS)),
        "Only a creation or an update that is running can be cancelled.",
    ),
    "retry": Rule(
        _only(*((action, FAILED) for action in (*DEFINING, "DELETE", "SUSPEND", "RESUME", "CHECK"))),
        "Only what has failed can be tried again.",
    ),
    "rollback": Rule(
        _only(*((action, FAILED) for action in DEFINING)),
        "Only a failed creation or change can be rolled back; cancel one that is running (cancel_update).",
    ),
}


def verdict(request: str, stack: Stack) -> Verdict:
    """Whether the stack takes the request now. Raises NotSupported, ActionInProgress, or EntityNotFound."""
    if stack.deleted_at is not None:
        raise EntityNotFound(f"The Stack ({stack.name}) could not be found.")
    rule = RULES[request]
    found = rule.judge((stack.action, stack.status))
    state = f"{stack.action}_{stack.status}"
    if found is Verdict.REFUSED:
        raise NotSupported(f"{request} is not possible on stack {stack.name} in state {state}. {rule.refusal}")
    if found is Verdict.BUSY:
        raise ActionInProgress(
            f"Stack {stack.name} already has an action ({stack.action}) in progress; {request} is possible after it."
        )
    return found


def guard(request: str) -> Callable[[Stack], object]:
    """`verdict` on this request, for the transaction that records it."""
    return partial(verdict, request)
