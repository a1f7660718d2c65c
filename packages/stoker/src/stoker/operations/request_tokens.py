"""Client request tokens, which identify repeated requests."""

from __future__ import annotations

from functools import partial

from sqlalchemy.exc import IntegrityError

from stoker.base.context import RequestContext
from stoker.contract.catalog import ClaimRequestToken, ReleaseRequestToken, SettleRequestToken, TokenClaim
from stoker.engine.records.services import EngineServices, RecordingServices
from stoker.store import request_tokens
from stoker.store.journal import Batch
from stoker.store.request_tokens import RequestToken

KEPT_SECONDS = 86400.0
"""Seconds for which a token is stored."""

ABANDONED_SECONDS = 120.0
"""Seconds after which a request without a response counts as abandoned; no API process waits that long."""


async def request_token_claim(
    services: RecordingServices, context: RequestContext, request: ClaimRequestToken
) -> TokenClaim:
    """Claim a token before its request is executed; `digest` stands for the content of the request.

    Only a keyed fingerprint of the digest is stored: the content can be secret, and short enough to be guessed.

    `state` of the result is `claimed` (execute the request, then settle or release), `answered` (`answer` has the
    previous response), `unanswered` (the first request is still being executed) or `other` (the token belongs to a
    different request).
    """
    now, digest = services.clock.now(), services.sealer.digest(request.digest)
    claim = partial(
        request_tokens.claim,
        request=RequestToken(context.project_id, request.token, digest, None, now),
        oldest=now - KEPT_SECONDS,
        unanswered=now - ABANDONED_SECONDS,
    )
    try:
        await services.journal.commit(Batch().then(claim))
    except IntegrityError:
        known = await services.database.read(request_tokens.find, context.project_id, request.token)
        return _state(services, known, digest)
    return {"state": "claimed", "answer": None}


def _state(services: EngineServices, known: RequestToken | None, digest: str) -> TokenClaim:
    if known is None:  # released in the meantime; the client's next attempt can claim it
        return {"state": "unanswered", "answer": None}
    if known.digest != digest:
        return {"state": "other", "answer": None}
    if known.answer is None:
        return {"state": "unanswered", "answer": None}
    return {"state": "answered", "answer": services.sealer.open(known.answer)}


async def request_token_settle(
    services: RecordingServices, context: RequestContext, request: SettleRequestToken
) -> None:
    """Store the response to a claimed request."""
    settle = partial(
        request_tokens.settle,
        project_id=context.project_id,
        token=request.token,
        answer=services.sealer.seal(request.answer),
    )
    await services.journal.commit(Batch().then(settle))


async def request_token_release(
    services: RecordingServices, context: RequestContext, request: ReleaseRequestToken
) -> None:
    """Release the claim of a request that failed."""
    release = partial(request_tokens.release, project_id=context.project_id, token=request.token)
    await services.journal.commit(Batch().then(release))
