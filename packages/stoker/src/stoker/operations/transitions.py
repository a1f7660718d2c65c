"""The requests that are possible in each state of a stack.

The table is used before a request is checked in detail, and again in the transaction that records it, so that only one
of two simultaneous requests succeeds. `retry` and `rollback` are Stoker's own requests; tests/api/test_api_lifecycle.py
has the states for Heat's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import partial

from stoker.base.errors import ActionInProgress, EntityNotFound, NotSupported
from stoker.engine.records.services import EngineServices
from stoker.store import queries
from stoker.store.records import COMPLETE, FAILED, IN_PROGRESS, Stack
from stoker_foundation.clock import isoformat

State = tuple[str, str]
"""Action and status of a stack."""


class Verdict(Enum):
    """The decision about a request."""

    TAKEN = "taken"
    DONE = "done already"
    REFUSED = "refused"
    BUSY = "refused while another operation runs"


DEFINING = ("CREATE", "UPDATE", "ROLLBACK", "ADOPT", "RESTORE")
"""Actions that apply a definition."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`judge` returns the verdict for a state; `refusal` is the reason for a refusal, and what to do instead."""

    judge: Callable[[State], Verdict]
    refusal: str


def _unless(actions: tuple[str, ...]) -> Callable[[State], Verdict]:
    return lambda state: Verdict.REFUSED if state[0] in actions else Verdict.TAKEN


def _only(*states: State) -> Callable[[State], Verdict]:
    return lambda state: Verdict.TAKEN if state in states else Verdict.REFUSED


def _settled(refused: tuple[str, ...]) -> Callable[[State], Verdict]:
    """Require that no operation runs, and refuse the request in the states of the actions `refused`."""

    def judge(state: State) -> Verdict:
        if state[0] in refused and state != ("SUSPEND", IN_PROGRESS):
            return Verdict.REFUSED
        return Verdict.BUSY if state[1] == IN_PROGRESS else Verdict.TAKEN

    return judge


def _verb(action: str, *, repeatable: bool) -> Callable[[State], Verdict]:
    """Refuse an action on a busy stack; do nothing if the same action is running or was completed."""

    def judge(state: State) -> Verdict:
        if state == (action, IN_PROGRESS) or (state == (action, COMPLETE) and not repeatable):
            return Verdict.DONE
        return Verdict.BUSY if state[1] == IN_PROGRESS else Verdict.TAKEN

    return judge


RULES: Mapping[str, Rule] = {
    "update": Rule(
        _unless(("DELETE", "SUSPEND")),
        "A stack that is being deleted or is suspended cannot be updated; resume a suspended stack first.",
    ),
    "update_alone": Rule(
        _settled(("DELETE", "SUSPEND")),
        "A stack that is being deleted or is suspended cannot be updated; resume a suspended stack first.",
    ),
    "delete": Rule(_unless(()), ""),
    "suspend": Rule(_verb("SUSPEND", repeatable=False), ""),
    "resume": Rule(_verb("RESUME", repeatable=False), ""),
    "check": Rule(_verb("CHECK", repeatable=True), ""),
    "snapshot": Rule(
        _settled(("DELETE", "SUSPEND")),
        "A stack that is being deleted or is suspended has no snapshots; resume it first.",
    ),
    "restore": Rule(
        _unless(("DELETE", "SUSPEND")),
        "A stack that is being deleted or is suspended cannot be restored; resume a suspended stack first.",
    ),
    "abandon": Rule(_settled(()), ""),
    "cancel_update": Rule(_only(("UPDATE", IN_PROGRESS)), "Only a running update can be cancelled."),
    "cancel_without_rollback": Rule(
        _only(("UPDATE", IN_PROGRESS), ("CREATE", IN_PROGRESS)),
        "Only a running creation or update can be cancelled.",
    ),
    "retry": Rule(
        _only(*((action, FAILED) for action in (*DEFINING, "DELETE", "SUSPEND", "RESUME", "CHECK"))),
        "Only failed operations can be retried.",
    ),
    "rollback": Rule(
        _only(*((action, FAILED) for action in DEFINING)),
        "Only a failed creation or update can be rolled back; a running one can be cancelled.",
    ),
}


def _words(request: str) -> str:
    """Return the user's word for a request: `cancel` for `cancel_update`."""
    return request.partition("_")[0]


def verdict(request: str, stack: Stack) -> Verdict:
    """Return whether the request is possible now. Raises NotSupported, ActionInProgress, or EntityNotFound."""
    if stack.deleted_at is not None:
        raise EntityNotFound(f"The Stack ({stack.name}) could not be found.")
    rule = RULES[request]
    found = rule.judge((stack.action, stack.status))
    state = f"{stack.action}_{stack.status}"
    if found is Verdict.REFUSED:
        raise NotSupported(f"{_words(request)} is not possible on stack {stack.name} in state {state}. {rule.refusal}")
    if found is Verdict.BUSY:
        raise ActionInProgress(
            f"Stack {stack.name} already has an action ({stack.action}) in progress; "
            f"retry {_words(request)} afterwards."
        )
    return found


async def judged(services: EngineServices, request: str, stack: Stack) -> Verdict:
    """As `verdict`; the error for a stack with an action in progress says whose it is, and since when."""
    try:
        return verdict(request, stack)
    except ActionInProgress as error:
        running = await services.database.read(queries.unfinished_of, stack.id)
        if not running:
            raise
        user = f" of {running[-1].user_name}" if running[-1].user_name else ""
        began = isoformat(running[-1].created_at)
        raise ActionInProgress(f"{error.message} The operation {running[-1].id}{user} runs since {began}.") from error


def guard(request: str) -> Callable[[Stack], object]:
    """Return `verdict` on this request, for the transaction that records it."""
    return partial(verdict, request)
