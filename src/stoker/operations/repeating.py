"""Requests that come with a token of the client's, so that a repetition is recognised."""

from __future__ import annotations

from functools import partial
from typing import Any

from sqlalchemy.exc import IntegrityError

from stoker.base.context import RequestContext
from stoker.engine.core import Engine
from stoker.store import request_tokens
from stoker.store.journal import Batch
from stoker.store.request_tokens import RequestToken

KEPT_SECONDS = 86400.0
"""How long a token is remembered."""

ABANDONED_SECONDS = 120.0
"""After this time a request without an answer counts as given up: no face of the API waits that long."""


async def request_token_claim(engine: Engine, context: RequestContext, token: str, digest: str) -> dict[str, Any]:
    """Say that a request is about to be carried out; `digest` stands for its content.

    Only a keyed fingerprint of it is kept: what the request holds may be secret, and short enough to be guessed.

    `state` of the answer is `claimed` (carry it out, then settle or release), `answered` (`answer` has what was
    answered), `unanswered` (somebody carries it out now) or `other` (the token belongs to another request).
    """
    now, kept = engine.clock.now(), engine.sealer.digest(digest)
    claim = partial(
        request_tokens.claim,
        request=RequestToken(context.project_id, token, kept, None, now),
        oldest=now - KEPT_SECONDS,
        unanswered=now - ABANDONED_SECONDS,
    )
    try:
        await engine.journal.commit(Batch().then(claim))
    except IntegrityError:
        known = await engine.database.read(request_tokens.find, context.project_id, token)
        return _state(engine, known, kept)
    return {"state": "claimed", "answer": None}


def _state(engine: Engine, known: RequestToken | None, digest: str) -> dict[str, Any]:
    if known is None:  # released since: the one who asks again will get it
        return {"state": "unanswered", "answer": None}
    if known.digest != digest:
        return {"state": "other", "answer": None}
    if known.answer is None:
        return {"state": "unanswered", "answer": None}
    return {"state": "answered", "answer": engine.sealer.open(known.answer)}


async def request_token_settle(engine: Engine, context: RequestContext, token: str, answer: Any) -> None:
    """Note what a claimed request was answered."""
    settle = partial(
        request_tokens.settle, project_id=context.project_id, token=token, answer=engine.sealer.seal(answer)
    )
    await engine.journal.commit(Batch().then(settle))


async def request_token_release(engine: Engine, context: RequestContext, token: str) -> None:
    """Give a claim up whose request came to nothing."""
    release = partial(request_tokens.release, project_id=context.project_id, token=token)
    await engine.journal.commit(Batch().then(release))
