"""Requests that a client repeats under one ClientRequestToken are carried out once."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from stoker.api.cfn.call import Call, Handler
from stoker.api.cfn.faults import QueryError

TOKEN = "ClientRequestToken"  # noqa: S105  the name of a parameter


def once(call: Call, action: str, handler: Handler) -> dict[str, Any] | None:
    """The handler's answer, or what it answered when the same request came before with the same token.

    Raises QueryError when the token came with another request, or while that one is being carried out.
    """
    token = call.values.get(TOKEN)
    if token is None:
        return handler(call)
    content = json.dumps([action, dict(call.values)], sort_keys=True)
    claim = call.ask("request_token_claim", token=token, digest=sha256(content.encode()).hexdigest())
    match claim["state"]:
        case "answered":
            answer: dict[str, Any] | None = claim["answer"]
            return answer
        case "other":
            raise QueryError("TokenAlreadyExistsException", f"Another request came with the {TOKEN} {token}.")
        case "unanswered":
            raise QueryError("Throttling", "The same request is being carried out now; ask again in a moment.")
    try:
        answer = handler(call)
    except Exception:
        call.ask("request_token_release", token=token)
        raise
    call.ask("request_token_settle", token=token, answer=answer)
    return answer
