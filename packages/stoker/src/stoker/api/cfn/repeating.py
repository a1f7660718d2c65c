"""Requests that a client repeats with the same ClientRequestToken are executed once."""

from __future__ import annotations

import json
from hashlib import sha256

from stoker.api.cfn.call import Handler, QueryCall
from stoker.api.cfn.faults import QueryError
from stoker.contract.catalog import ClaimRequestToken, ReleaseRequestToken, SettleRequestToken

TOKEN = "ClientRequestToken"  # noqa: S105  the name of a parameter


def once(call: QueryCall, action: str, handler: Handler) -> dict[str, object] | None:
    """Return the handler's result, or the stored result of the same request with the same token.

    Raises QueryError if another request has used the token, or while the first request is being executed.
    """
    token = call.values.get(TOKEN)
    if token is None:
        return handler(call)
    content = json.dumps([action, dict(call.values)], sort_keys=True)
    claim = call.execute(ClaimRequestToken(token=token, digest=sha256(content.encode()).hexdigest()))
    match claim["state"]:
        case "answered":
            answer: dict[str, object] | None = claim["answer"]
            return answer
        case "other":
            raise QueryError("TokenAlreadyExistsException", f"A different request used the {TOKEN} {token}.")
        case "unanswered":
            raise QueryError("Throttling", "The same request is being executed; retry it in a moment.")
    try:
        answer = handler(call)
    except Exception:
        call.execute(ReleaseRequestToken(token=token))
        raise
    call.execute(SettleRequestToken(token=token, answer=answer))
    return answer
