"""What is recorded of the result of a method: the object's ID, which must fit, and what the search finds the object by.

The tables have room for IDs of 255 characters, and no service has longer ones. The search over all stacks is that of
`stoker.store.search`.
"""

from __future__ import annotations

from stoker.base.errors import BadValue
from stoker.engine.records.state import ResourceState
from stoker.engine.redaction.stacks import without_secrets
from stoker.engine.running.operation_context import OperationContext
from stoker.plugins.outcome import Again, Done, Failed, Outcome
from stoker.plugins.resource import ADDRESS, NAME, Call, to_see
from stoker.store.journal import Batch
from stoker.store.search import Kind, plain_address

LONGEST = 255
"""Characters of an ID."""


def fits(identifier: str | None) -> bool:
    """Return whether an ID can be recorded."""
    return identifier is None or len(identifier) <= LONGEST


def with_fitting_id(outcome: Outcome, call: Call) -> Outcome:
    """Return the result of a method, or a failure if it has an ID that is too long; the call then has none."""
    known = outcome.physical_id if isinstance(outcome, Done | Again) else None
    for identifier in (known, call.physical_id):
        if not fits(identifier):
            call.physical_id = None
            return Failed(_problem(str(identifier)), "Error")
    return outcome


def require_fitting(identifier: str | None) -> str | None:
    """Return an ID that was found. Raises BadValue if it is too long."""
    if not fits(identifier):
        raise BadValue(_problem(str(identifier)))
    return identifier


def _problem(identifier: str) -> str:
    return f"the service answered with an ID of {len(identifier)} characters; an ID has {LONGEST} at most"


def is_unseen(state: ResourceState) -> bool:
    """Return whether something that the object is found by is not recorded, nor was seen during the action that ends:
    its methods never read it, or an earlier release has recorded the resource.
    """
    row = state.row
    known = row.searchable or row.physical_id is None or row.action == "DELETE"
    return not known and not to_see(state.type) <= state.seen.keys()


async def record_terms(run: OperationContext, state: ResourceState, batch: Batch) -> None:
    """Add to the batch that ends an action the name and the addresses that the service has shown since it began.

    A name that the service does not show, or that contains a secret, is not recorded.
    """
    seen, state.seen = state.seen, {}
    if state.row.action == "DELETE":
        return
    if to_see(state.type) <= seen.keys():
        state.row.searchable = True
    terms: dict[Kind, frozenset[str]] = {}
    if NAME in seen:
        terms[Kind.NAME] = await _names(run, state, seen[NAME])
    if ADDRESS in seen:
        plain = {plain_address(address) for address in seen[ADDRESS]}
        terms[Kind.ADDRESS] = frozenset(address for address in plain if address is not None)
    if terms:
        batch.terms[state.row.uuid] = terms


async def _names(run: OperationContext, state: ResourceState, seen: frozenset[str]) -> frozenset[str]:
    names = sorted(seen)
    if not seen <= {state.physical_name, state.row.name}:  # otherwise the names contain no other values
        safe = await without_secrets(run, names, [state])
        names = [name for name, without in zip(names, safe, strict=True) if name == without]
    return frozenset(names)
