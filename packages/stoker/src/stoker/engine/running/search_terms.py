"""What the search over all stacks finds resources by (see `stoker.store.search`)."""

from __future__ import annotations

from stoker.engine.records.state import ResourceState
from stoker.engine.redaction.stacks import without_secrets
from stoker.engine.running.operation_context import OperationContext
from stoker.plugins.resource import ADDRESS, NAME, to_see
from stoker.store.journal import Batch
from stoker.store.search import Kind, plain_address


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
