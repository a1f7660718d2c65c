"""Claims: a client takes messages for a while, so that no other client processes them."""

from __future__ import annotations

from typing import Any

from openstack_emulator.core.cloud import new_id
from openstack_emulator.core.errors import bad_request, forbidden, not_found
from openstack_emulator.core.http import Request, Response
from openstack_emulator.core.store import Record
from openstack_emulator.messaging.access import client_of, project_of
from openstack_emulator.messaging.http import check_integer, object_of, page_size
from openstack_emulator.messaging.records import MessagingRecords, place, settings_of

DEFAULT_TTL, DEFAULT_GRACE, SHORTEST, LONGEST = 300, 60, 60, 43_200
"""Seconds that a claim lasts, and that its messages last beyond it."""


def create(zaqar: MessagingRecords, request: Request) -> Response:
    """Claim the oldest free messages; 204 if there are none."""
    project, name = project_of(zaqar, request), request.vars["name"]
    client_of(request)
    limit = page_size(request)
    ttl, grace = _durations(request)
    free = [one for one in _claimable(zaqar, project, name) if claim_of(zaqar, one) is None][:limit]
    if not free:
        return Response(status=204)
    now = zaqar.cloud.clock.now()
    claim = zaqar.claims.add(
        {"id": new_id(), "queue": place(project, name), "ttl": ttl, "grace": grace, "created": now}
    )
    for message in free:
        zaqar.messages.update(message, claim=claim["id"], claim_count=message.get("claim_count", 0) + 1)
        _outlive(zaqar, message, claim)
    views = [message_view(zaqar, name, message) for message in free]
    return Response({"messages": views}, 201, {"Location": f"/v2/queues/{name}/claims/{claim['id']}"})


def _claimable(zaqar: MessagingRecords, project: str, name: str) -> list[Record]:
    """Return the messages of a queue; those that were claimed too often move to the queue for dead letters."""
    settings = settings_of(zaqar.queue(project, name))
    most, dead = settings["_max_claim_count"], settings["_dead_letter_queue"]
    kept = []
    for message in zaqar.waiting(place(project, name)):
        if not most or not dead or message.get("claim_count", 0) < most or claim_of(zaqar, message) is not None:
            kept.append(message)
        else:
            ttl = settings["_dead_letter_queue_messages_ttl"] or message["ttl"]
            zaqar.post(project, dead, message["client_id"], [{"body": message["body"], "ttl": ttl}])
            zaqar.messages.remove(message)
    return kept


def show(zaqar: MessagingRecords, request: Request) -> Response:
    claim, name = _claim(zaqar, request), request.vars["name"]
    age = int(zaqar.cloud.clock.now() - claim["created"])
    messages = [message_view(zaqar, name, message) for message in _messages(zaqar, claim)]
    href = f"/v2/queues/{name}/claims/{claim['id']}"
    return Response({"age": age, "ttl": claim["ttl"], "href": href, "messages": messages})


def update(zaqar: MessagingRecords, request: Request) -> Response:
    """Renew a claim: its time begins again."""
    claim = _claim(zaqar, request)
    ttl, grace = _durations(request)
    zaqar.claims.update(claim, ttl=ttl, grace=grace, created=zaqar.cloud.clock.now())
    for message in _messages(zaqar, claim):
        _outlive(zaqar, message, claim)
    return Response(status=204)


def delete(zaqar: MessagingRecords, request: Request) -> Response:
    """Release a claim; its messages are free again. A claim that does not exist is no error."""
    queue = place(project_of(zaqar, request), request.vars["name"])
    claim = zaqar.claims.get(request.vars["claim_id"])
    if claim is not None and claim["queue"] == queue:
        zaqar.claims.remove(claim)
    return Response(status=204)


def claim_of(zaqar: MessagingRecords, message: Record) -> str | None:
    """Return the ID of the claim that a message belongs to, None for a free message."""
    claim = zaqar.claims.get(message.get("claim") or "")
    return None if claim is None or _is_over(zaqar, claim) else str(claim["id"])


def require_holder(zaqar: MessagingRecords, message: Record, given: str | None) -> None:
    """Raise ApiError unless a message may be deleted with the claim ID that was given, if any: 403 for a message that
    another client has claimed, 400 for a claim that does not exist, is over, or does not have the message.
    """
    held = claim_of(zaqar, message)
    if given is not None and held != given:
        raise bad_request("The specified claim does not exist or has expired.")
    if given is None and held is not None:
        raise forbidden(f"Message {message['id']} is claimed; a claim ID is required to delete it.")


def message_view(zaqar: MessagingRecords, name: str, message: Record) -> dict[str, Any]:
    """Return a message as Zaqar shows it."""
    held = claim_of(zaqar, message)
    href = f"/v2/queues/{name}/messages/{message['id']}"
    return {
        "id": message["id"],
        "href": href if held is None else f"{href}?claim_id={held}",
        "ttl": message["ttl"],
        "age": int(zaqar.cloud.clock.now() - message["created"]),
        "body": message["body"],
    }


def _claim(zaqar: MessagingRecords, request: Request) -> Record:
    project, name, key = project_of(zaqar, request), request.vars["name"], request.vars["claim_id"]
    claim = zaqar.claims.get(key)
    if claim is None or claim["queue"] != place(project, name) or _is_over(zaqar, claim):
        raise not_found(f"Claim {key} does not exist in queue {name} for project {project}")
    return claim


def _messages(zaqar: MessagingRecords, claim: Record) -> list[Record]:
    return [message for message in zaqar.waiting(claim["queue"]) if message.get("claim") == claim["id"]]


def _is_over(zaqar: MessagingRecords, claim: Record) -> bool:
    return bool(claim["created"] + claim["ttl"] <= zaqar.cloud.clock.now())


def _outlive(zaqar: MessagingRecords, message: Record, claim: Record) -> None:
    """Let a message last until its claim ends, and the grace period."""
    lasts = int(claim["created"] - message["created"]) + claim["ttl"] + claim["grace"]
    if message["ttl"] < lasts:
        zaqar.messages.update(message, ttl=lasts)


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
