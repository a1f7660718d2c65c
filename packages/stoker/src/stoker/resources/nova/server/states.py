"""Statuses of a server, and the requests that read it and act on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stoker.base.errors import CloudError
from stoker.plugins.outcome import Done, Failed, InProgress, Outcome, Watch
from stoker.plugins.resource import Call, Waiter, index_object
from stoker.resources.base import value_at

IN_PROGRESS = (
    "BUILD",
    "HARD_REBOOT",
    "PASSWORD",
    "REBOOT",
    "RESCUE",
    "RESIZE",
    "REVERT_RESIZE",
    "SHUTOFF",
    "SUSPENDED",
    "VERIFY_RESIZE",
)
ACTIVE = Waiter.until("ACTIVE", pending=IN_PROGRESS)
ASLEEP = Waiter.until("SUSPENDED", pending=tuple({*IN_PROGRESS, "ACTIVE"} - {"SUSPENDED"}))
RESIZED = Waiter.until("VERIFY_RESIZE", pending=("RESIZE", "ACTIVE"))
CONFIRMED = Waiter.until("ACTIVE", pending=("VERIFY_RESIZE", "RESIZE"))
REBUILDING = "REBUILD"
ADDRESSES_AT = ("addresses.*.*.addr",)
"""Where a server has its addresses (see `ResourceType.addresses_at`)."""
_TEMPORARY = frozenset({413, 500, 503})
"""HTTP status codes of temporary failures to read a server."""


def path_of(call: Call, below: str = "") -> str:
    """Return the server's path, followed by `below`."""
    return f"/servers/{call.physical_id}{below}"


async def act(call: Call, action: str, arguments: object = None) -> Any:
    """Request an action on the server; return the response's body."""
    return await call.cloud.post("nova", path_of(call, "/action"), {action: arguments})


async def read_server(call: Call) -> dict[str, Any] | None:
    """Return the server; None on a temporary failure. Raises CloudError 404 when it does not exist."""
    answer = await call.cloud.request("GET", "nova", path_of(call), ok=_TEMPORARY)
    if answer.status in _TEMPORARY:
        return None
    if not isinstance(answer.body, dict) or "server" not in answer.body:
        raise CloudError("nova", 0, f"Nova's response to GET /servers/{call.physical_id} has no server")
    server: dict[str, object] = answer.body["server"]
    index_object(call, server, "name", ADDRESSES_AT)
    return server


def status_of(server: Mapping[str, object]) -> str:
    """Return the status without the addition in parentheses that some clouds append."""
    return str(server.get("status", "")).partition("(")[0].strip()


def fault_of(server: Mapping[str, object]) -> str | None:
    """Return the fault that Nova reports."""
    message, code = value_at(server, ["fault", "message"]), value_at(server, ["fault", "code"])
    if message is None:
        return None
    return f"{message} (code {code})" if code is not None else str(message)


def status_outcome(call: Call, server: Mapping[str, object] | None, waiter: Waiter) -> Outcome:
    """Evaluate the server's status while `waiter` waits."""
    if server is None:
        return InProgress(after=waiter.pause(call.elapsed))
    outcome = waiter.outcome(status_of(server), fault_of(server), call.elapsed)
    return replace(outcome, watch=_watch(server)) if isinstance(outcome, InProgress) else outcome


def _watch(server: Mapping[str, Any]) -> Watch:
    return Watch("nova", "/servers/detail", "servers", "id", "status", server.get("status"))


async def wait_for(call: Call, waiter: Waiter) -> Outcome:
    """Read the server once, and evaluate its status."""
    return status_outcome(call, await read_server(call), waiter)


def deletion_outcome(call: Call, server: Mapping[str, object]) -> Outcome:
    """Evaluate whether a server that is being deleted is gone."""
    status = status_of(server)
    if status == "DELETED":
        return Done()
    if status == "ERROR" and server.get("OS-EXT-STS:task_state") != "deleting":
        reason = fault_of(server)
        return Failed("the server could not be deleted" + (f": {reason}" if reason else ""), in_error=True)
    return InProgress(after=ACTIVE.pause(call.elapsed), watch=_watch(server))
