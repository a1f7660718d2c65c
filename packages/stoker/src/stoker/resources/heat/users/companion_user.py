"""A stack user for a resource whose own object is something else: a server or a deployment."""

from __future__ import annotations

from dataclasses import replace

from stoker.plugins.outcome import Done, InProgress, Outcome
from stoker.plugins.resource import Call
from stoker.resources.heat.users.stack_user import StackUserResource, make_key_pair, verify_adopted_user

_DATA_KEYS = ("user_id", "password", "access_key", "secret_key", "credential_id")


class _Companion(StackUserResource):
    """Create and delete such users; not a resource type of its own."""


_USER = _Companion()


async def ensure_user(call: Call, *, with_key_pair: bool) -> Outcome:
    """Create the user and, on request, its EC2 key pair, as a step; ID and password are stored in `call.data`."""
    outcome = await _USER.create(_as_user(call))
    if isinstance(outcome, InProgress) and outcome.physical_id is not None:
        call.data["user_id"] = outcome.physical_id
    if not isinstance(outcome, Done):
        return InProgress(after=0.0)
    return (await make_key_pair(_as_user(call)) if with_key_pair else None) or Done()


async def adopt_user(call: Call) -> Outcome:
    """Verify that the user that `call.data` names, if any, may be adopted with the resource."""
    if call.data.get("user_id") is None:
        for key in _DATA_KEYS:
            call.data.pop(key, None)
        return Done()
    return await verify_adopted_user(_as_user(call)) or Done()


async def suspend_user(call: Call) -> Outcome:
    """Disable the user."""
    return await _USER.suspend(_as_user(call))


async def resume_user(call: Call) -> Outcome:
    """Enable the user again."""
    return await _USER.resume(_as_user(call))


async def dismiss_user(call: Call) -> Outcome:
    """Delete the user, as a step, including one whose creation was interrupted."""
    if "password" not in call.data:
        return Done()
    user = _as_user(call)
    if user.physical_id is None:
        user.physical_id = await _USER.find(user)
    outcome = await _USER.delete(user)
    if isinstance(outcome, Done):
        for key in _DATA_KEYS:
            call.data.pop(key, None)
    return outcome


def _as_user(call: Call) -> Call:
    """Return the call for the user's type: the same data, with the user's ID."""
    return replace(call, physical_id=call.data.get("user_id"))
