"""Tools that look at stacks. They change nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from stoker.cli.client.refusals import Answer
from stoker.cli.client.stack_client import StackClient
from stoker.cli.views.failure import failure
from stoker.mcp_server.plans import shown

MOST_ROWS = 500
"""Rows that one answer may have."""

_STACK = ("stack_name", "id", "stack_status", "stack_status_reason", "creation_time", "updated_time", "tags")
_SHOWN = (*_STACK, "description", "parameters", "capabilities", "parent", "timeout_mins", "disable_rollback", "locked")
_RESOURCE = (
    "path", "resource_name", "resource_type", "resource_status", "resource_status_reason", "physical_resource_id",
    "parent_resource",
)  # fmt: skip
_EVENT = (
    "event_time", "resource_name", "resource_status", "resource_status_reason", "physical_resource_id", "resource_path",
)  # fmt: skip


class Stacks:
    """The stacks of the project that the credentials are for."""

    def __init__(self, connect: Callable[[], StackClient]) -> None:
        self._connect = connect

    def list_stacks(self, name_part: str = "", limit: int = 100) -> dict[str, Any]:
        """List the stacks of the project with their states: all, newest first, or those with this in their names."""
        found = (each for each in self._connect().stacks() if name_part.lower() in each["stack_name"].lower())
        return _portion("stacks", found, limit, _STACK)

    def show_stack(self, stack: str, outputs: bool = False) -> dict[str, object]:
        """Show the state of a stack, and its parameters; with `outputs`, their values, which may be confidential."""
        found = self._connect().stack(stack)
        shown = _chosen(found.facts, _SHOWN)
        return {**shown, "outputs": found.with_outputs().outputs()} if outputs else shown

    def list_resources(self, stack: str, limit: int = 200) -> dict[str, object]:
        """List the resources of a stack and of its nested stacks, with their states and the IDs of their objects."""
        return _portion("resources", self._connect().stack(stack).resources(), limit, _RESOURCE)

    def list_events(self, stack: str, limit: int = 50, failed_only: bool = False) -> dict[str, object]:
        """List the last events of a stack and of its nested stacks, oldest first."""
        events = list(self._connect().stack(stack).events())
        chosen = [each for each in events if not failed_only or each["resource_status"].endswith("_FAILED")]
        number = _limit(limit)
        return {"events": [_chosen(each, _EVENT) for each in chosen[-number:]], "more": len(chosen) > number}

    def explain_failure(self, stack: str) -> dict[str, object]:
        """Say why the last action on a stack failed, in the words of the service, and which commands continue."""
        found = self._connect().stack(stack)
        if not found.state.endswith("_FAILED") and found.state != "ROLLBACK_COMPLETE":
            return {"state": found.state, "explanation": "The last action did not fail."}
        return {"state": found.state, "explanation": failure(found).message}

    def check_drift(self, stack: str) -> dict[str, object]:
        """Compare a stack with the cloud now. The steps would bring the cloud back to the definition.

        Nothing is known about the resources that are `not_compared`.
        """
        return shown(self._connect().stack(stack).drift())

    def find_object(self, wanted: str) -> dict[str, object]:
        """Find the stack and resource that have an object, by its ID, its name, or an IP address."""
        pages = self._connect().found({"text": wanted})
        found = [row for page in islice(pages, 1) for row in page["resources"]]
        return {"resources": found[:MOST_ROWS]}


def _limit(limit: int) -> int:
    return max(1, min(limit, MOST_ROWS))


def _portion(name: str, rows: Iterable[Answer], limit: int, columns: Iterable[str]) -> dict[str, object]:
    """Return some columns of the first rows, and whether there are more."""
    number = _limit(limit)
    found = list(islice(rows, number + 1))
    return {name: [_chosen(each, columns) for each in found[:number]], "more": len(found) > number}


def _chosen(row: Answer, columns: Iterable[str]) -> dict[str, object]:
    return {name: row[name] for name in columns if name in row}
