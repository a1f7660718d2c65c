"""Handlers of what protects a tree of stacks: a lock, termination protection, and the stack policy."""

from __future__ import annotations

from typing import Any

from stoker.api.requests import Body
from stoker.api.v1 import views
from stoker.api.v1.call import RestCall
from stoker.api.values import MAP, STRING, Field
from stoker.contract.stacks import ChangeSettings, LockStack, SettingsChange, ShowSettings, UnlockStack

LOCK_BODY = Body({"reason": Field(STRING, required=True)})

POLICY_BODY = Body({"policy": Field(MAP, required=True)})


def show(call: RestCall) -> dict[str, Any]:
    """Show what protects a stack: `protected`, the `policy`, which is null if there is none, and `locked`."""
    found = call.execute(ShowSettings(ref=call.ref))
    body = {"protected": found["protected"], "policy": found["policy"], "locked": None}
    return {"settings": {**body, **views.lock(found)}}


def lock(call: RestCall) -> dict[str, object]:
    """Lock a stack with its nested stacks, so that no operation begins, also none without a request."""
    return views.lock({"locked": call.execute(LockStack(ref=call.ref, reason=call.body["reason"]))})


def unlock(call: RestCall) -> None:
    """Unlock a stack."""
    call.execute(UnlockStack(ref=call.ref))


def set_policy(call: RestCall) -> None:
    """Set the stack policy, which says which updates are allowed, in the format of AWS CloudFormation."""
    _change(call, {"policy": call.body["policy"]})


def delete_policy(call: RestCall) -> None:
    """Delete the stack policy: all updates are allowed."""
    _change(call, {"policy": None})


def protect(call: RestCall) -> None:
    """Protect a stack from deletion."""
    _change(call, {"protected": True})


def unprotect(call: RestCall) -> None:
    """Allow to delete a stack."""
    _change(call, {"protected": False})


def _change(call: RestCall, changes: SettingsChange) -> None:
    call.execute(ChangeSettings(ref=call.ref, changes=changes))
