"""A stack user beside a resource whose own object is something else: a server's, a deployment's."""

from __future__ import annotations

from dataclasses import replace

from stoker.plugins.outcome import Again, Done, Outcome
from stoker.plugins.resource import Call
from stoker.resources.heat.stack_user import StackUserResource, make_key_pair, prove_user

_BOOKS = ("user_id", "password", "access_key", "secret_key", "credential_id")


class _Companion(StackUserResource):
    """Knows how such users are made and removed; no resource by itself."""


_USER = _Companion()


async def ensure_user(call: Call, *, with_key_pair: bool) -> Outcome:
    """The step that makes the user, its id and password in `call.data`, and its EC2 key pair if it is to have one."""
    outcome = await _USER.create(_as_user(call))
    if isinstance(outcome, Again) and outcome.physical_id is not None:
        call.data["user_id"] = outcome.physical_id
    if not isinstance(outcome, Done):
        return Again(after=0.0)
    return (await make_key_pair(_as_user(call)) if with_key_pair else None) or Done()


async def adopt_user(call: Call) -> Outcome:
    """See that the user that `call.data` names, if any, may be taken over with the resource."""
    if call.data.get("user_id") is None:
        for key in _BOOKS:
            call.data.pop(key, None)
        return Done()
    return await prove_user(_as_user(call)) or Done()


async def dismiss_user(call: Call) -> Outcome:
    """The step that removes the user, also one whose making was interrupted."""
    if "password" not in call.data:
        return Done()
    user = _as_user(call)
    if user.physical_id is None:
        user.physical_id = await _USER.find(user)
    outcome = await _USER.delete(user)
    if isinstance(outcome, Done):
        for key in _BOOKS:
            call.data.pop(key, None)
    return outcome


def _as_user(call: Call) -> Call:
    """The call as the user's type sees it: the same books, another id."""
    return replace(call, physical_id=call.data.get("user_id"))
