"""Differences between the objects of a stack and their recorded state. Nothing is changed.

Updates with `observe` use the same comparison (`observing`); here the result is only reported.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Mapping
from typing import Any

from stoker.base.errors import CloudError, StokerError
from stoker.base.redaction import redact_values
from stoker.engine.calls.building import call_to_look
from stoker.engine.inspection.reading import Reader
from stoker.engine.records.differences import Difference, differences, shown
from stoker.engine.records.services import EngineServices
from stoker.engine.records.stack_view import StackView, view_of
from stoker.engine.records.state import ResourceState
from stoker.engine.redaction.object_ids import ObjectIds
from stoker.engine.redaction.stacks import secrets_ever
from stoker.plugins.resource import ResourceType
from stoker.schema.property import secret_paths
from stoker.store.records import Stack

LOG = logging.getLogger(__name__)

IN_SYNC, MODIFIED, DELETED, NOT_CHECKED = "IN_SYNC", "MODIFIED", "DELETED", "NOT_CHECKED"
DRIFTED = (MODIFIED, DELETED)


async def drift_of(
    services: EngineServices, stack: Stack, names: Collection[str] | None = None
) -> list[dict[str, Any]]:
    """Return the drift of the stack's resources, or of those with the `names`, in creation order, values redacted.

    A resource is IN_SYNC, MODIFIED, DELETED, or NOT_CHECKED if its type does not support it or its service did not
    answer.
    """
    view = await view_of(services, stack)
    states = sorted(view.current.values(), key=lambda state: state.row.position)
    wanted = [state for state in states if names is None or state.row.name in names]
    secrets = await secrets_ever(services, stack)
    reports = await asyncio.gather(*(_look(view, state, secrets) for state in wanted))
    identifiers = ObjectIds(services)
    for report in reports:
        report["physical_id"] = await identifiers.shown(stack, report["type"], report["physical_id"])
    return list(reports)


async def _look(view: StackView, state: ResourceState, secrets: Collection[str]) -> dict[str, Any]:
    row = state.row
    report: dict[str, Any] = {
        "name": row.name,
        "type": row.type,
        "physical_id": row.physical_id,
        "status": NOT_CHECKED,
        "time": view.services.clock.now(),
        "expected": None,
        "actual": None,
        "differences": [],
    }
    if row.physical_id is None or row.action == "DELETE" or type(state.type).observe is ResourceType.observe:
        return report
    try:
        call = await call_to_look(view, state, Reader(view.services))
        found = await state.type.observe(call)
    except StokerError as error:
        if not (isinstance(error, CloudError) and error.not_found):
            LOG.info("cannot check %s of stack %s for drift: %s", row.name, view.stack.name, error.message)
            return report
        found = None
    if found is None:
        return {**report, "status": DELETED}
    return {**report, **_compared(state, call.properties, found, secrets)}


def _compared(
    state: ResourceState, recorded: Mapping[str, Any], found: Mapping[str, Any], secrets: Collection[str]
) -> dict[str, Any]:
    expected = {name: value for name, value in recorded.items() if value is not None}
    actual = {**expected, **found}
    hidden = set(secret_paths(state.type.properties, actual))
    return {
        "status": MODIFIED if found else IN_SYNC,
        "expected": redact_values(shown(expected, hidden), secrets),
        "actual": redact_values(shown(actual, hidden), secrets),
        "differences": [
            _told(difference, secrets) for name in found for difference in _of_property(name, expected, actual, hidden)
        ],
    }


def _of_property(name: str, expected: Mapping[str, Any], actual: Mapping[str, Any], hidden: Any) -> list[Difference]:
    """Yield the differing leaves of one property; a value that the service reports in another form is one leaf."""
    if actual[name] is None:
        return [Difference((name,), expected.get(name), None, hidden=(name,) in hidden)]
    return differences({name: expected.get(name)}, {name: actual[name]}, hidden)


def _told(difference: Difference, secrets: Collection[str]) -> dict[str, Any]:
    data = difference.to_data()
    return {name: redact_values(data[name], secrets) for name in ("path", "before", "after")}
