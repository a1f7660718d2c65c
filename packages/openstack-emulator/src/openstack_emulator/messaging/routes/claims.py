"""Claims over HTTP."""

from __future__ import annotations

from openstack_emulator.core.errors import bad_request
from openstack_emulator.core.http import Request, Response
from openstack_emulator.messaging.records import Claim
from openstack_emulator.messaging.routes.access import name_in, project_of, queue_of
from openstack_emulator.messaging.routes.bodies import object_of, page_size
from openstack_emulator.messaging.rules.checks import check_integer
from openstack_emulator.messaging.rules.composition import Messaging
from openstack_emulator.messaging.views import claim_path, claim_view, message_view

DEFAULT_TTL, DEFAULT_GRACE, SHORTEST, LONGEST = 300, 60, 60, 43_200
"""Seconds that a claim lasts, and that its messages last beyond it."""


def create(messaging: Messaging, request: Request) -> Response:
    """Claim the oldest free messages; 204 if there are none."""
    project, name = project_of(messaging, request), name_in(request)
    claimed = messaging.claims.create(project, name, page_size(request), *_durations(request))
    if claimed is None:
        return Response(status=204)
    claim, messages = claimed
    views = [message_view(messaging, name, message) for message in messages]
    return Response({"messages": views}, 201, {"Location": claim_path(name, claim)})


def show(messaging: Messaging, request: Request) -> Response:
    return Response(claim_view(messaging, name_in(request), _claim(messaging, request)))


def update(messaging: Messaging, request: Request) -> Response:
    """Renew a claim: its time begins again."""
    claim = _claim(messaging, request)
    messaging.claims.renew(claim, *_durations(request))
    return Response(status=204)


def delete(messaging: Messaging, request: Request) -> Response:
    """Release a claim; its messages are free again. A claim that does not exist is no error."""
    messaging.claims.release(queue_of(messaging, request), request.vars["claim_id"])
    return Response(status=204)


def _claim(messaging: Messaging, request: Request) -> Claim:
    return messaging.claims.find(project_of(messaging, request), name_in(request), request.vars["claim_id"])


def _durations(request: Request) -> tuple[int, int]:
    """Return `ttl` and `grace` of a request's body. Raises ApiError 400."""
    body = object_of(request)
    ttl, grace = body.get("ttl", DEFAULT_TTL), body.get("grace", DEFAULT_GRACE)
    for field, name, value in (("ttl", "TTL", ttl), ("grace", "grace", grace)):
        check_integer(field, value)
        if not SHORTEST <= value <= LONGEST:
            raise bad_request(
                f"The {name} for a claim may not exceed {LONGEST} seconds, and must be at least {SHORTEST} seconds "
                "long."
            )
    return ttl, grace
