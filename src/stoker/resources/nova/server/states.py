"""Watching a server: what its statuses mean, and the calls that act on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from stoker.base.errors import CloudError
from stoker.plugins.outcome import Again, Done, Failed, Outcome, Watch
from stoker.plugins.resource import Call
from stoker.plugins.waiting import Waiter
from stoker.resources.base import dig

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
_HICCUPS = frozenset({413, 500, 503})
"""Answers to a look at a server that mean: look again."""


def path_of(call: Call, below: str = "") -> str:
    """The server's path, and what lies below."""
    return f"/servers/{call.physical_id}{below}"


async def act(call: Call, action: str, arguments: Any = None) -> Any:
    """Have Nova do something to the server; what it answers."""
    return await call.cloud.post("nova", path_of(call, "/action"), {action: arguments})


async def looked_at(call: Call) -> dict[str, Any] | None:
    """The server; None when Nova cannot tell just now. Raises CloudError 404 when there is none."""
    answer = await call.cloud.request("GET", "nova", path_of(call), ok=_HICCUPS)
    if answer.status in _HICCUPS:
        return None
    if not isinstance(answer.body, dict) or "server" not in answer.body:
        raise CloudError("nova", 0, f"nova answered a question about server {call.physical_id} with something else")
    server: dict[str, Any] = answer.body["server"]
    return server


def status_of(server: Mapping[str, Any]) -> str:
    """The status; clouds may add words in parentheses."""
    return str(server.get("status", "")).partition("(")[0].strip()


def fault_of(server: Mapping[str, Any]) -> str | None:
    """What Nova says went wrong."""
    message, code = dig(server, ["fault", "message"]), dig(server, ["fault", "code"])
    if message is None:
        return None
    return f"{message} (code {code})" if code is not None else str(message)


def judge(call: Call, server: Mapping[str, Any] | None, waiter: Waiter) -> Outcome:
    """What the server's status means while `waiter` waits for it."""
    if server is None:
        return Again(after=waiter.pause(call.elapsed))
    outcome = waiter.judge(status_of(server), fault_of(server), call.elapsed)
    return replace(outcome, watch=_watch(server)) if isinstance(outcome, Again) else outcome


def _watch(server: Mapping[str, Any]) -> Watch:
    return Watch("nova", "/servers/detail", "servers", "id", "status", server.get("status"))


async def wait_for(call: Call, waiter: Waiter) -> Outcome:
    """Look once, and judge."""
    return judge(call, await looked_at(call), waiter)


def judge_deletion(call: Call, server: Mapping[str, Any]) -> Outcome:
    """Whether a server that is to go is gone."""
    status = status_of(server)
    if status == "DELETED":
        return Done()
    if status == "ERROR" and server.get("OS-EXT-STS:task_state") != "deleting":
        reason = fault_of(server)
        return Failed("the server could not be deleted" + (f": {reason}" if reason else ""), in_error=True)
    return Again(after=ACTIVE.pause(call.elapsed), watch=_watch(server))
