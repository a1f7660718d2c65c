"""Requests about changes that wait for approval, and about what changes need."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from stoker.cli.client.refusals import Answer
from stoker.cli.client.stack_client import StackClient, setting_path
from stoker.cli.terminal.errors import CommandFailed

_LONGEST_PAUSE = 60.0
"""Seconds between two questions whether a window is open: what changes need may change meanwhile."""


def webhook_key_of(answer: Answer) -> str:
    """Return a sentence with the key of signatures, for settings that name webhooks; empty for others."""
    key = answer.get("webhook_key")
    return f"Requests to its webhooks are signed with the key {key}." if key else ""


class ChangeRequests:
    """The changes of a project's stacks that wait for approval. Every method raises Refused."""

    def __init__(self, service: StackClient) -> None:
        self._service = service

    def listed(self, statuses: Sequence[str] = (), digest: str | None = None) -> list[Answer]:
        """Return requests with one of the statuses, newest first; with a digest, those of that plan."""
        query = {"status": list(statuses), **({"plan_digest": digest} if digest else {})}
        requests: list[Answer] = self._service.call("GET", "/change_requests", query=query)["change_requests"]
        return requests

    def show(self, request_id: str) -> Answer:
        """Return a request with its plan."""
        return self._one("GET", request_id)

    def review(self, request_id: str, verdict: str, comment: str) -> Answer:
        """Approve or reject a request."""
        return self._one("PUT", request_id, "/approval", {"verdict": verdict, "comment": comment})

    def break_glass(self, request_id: str, reason: str) -> Answer:
        """Allow a change in an emergency."""
        return self._one("POST", request_id, "/break_glass", {"reason": reason})

    def _one(self, method: str, request_id: str, tail: str = "", body: Mapping[str, object] | None = None) -> Answer:
        request: Answer = self._service.call(method, f"/change_requests/{request_id}{tail}", body)["change_request"]
        return request


def control(service: StackClient, stack: Answer | None) -> Answer:
    """Return what changes of a stack need; without one, those of all stacks of the project."""
    requirements: Answer = service.call("GET", control_path(stack))["change_control"]
    return requirements


def control_path(stack: Answer | None) -> str:
    """Return the path of what changes of a stack, or of all stacks of the project, need."""
    return setting_path(stack, "change_control")


def wait_for_window(
    service: StackClient, stack: Answer | None, note: Callable[[str], None], sleep: Callable[[float], None] = time.sleep
) -> None:
    """Return when changes of a stack are allowed by its windows and freezes.

    Raises CommandFailed if no time is found.
    """
    announced = None
    while not (found := control(service, stack))["open"]:
        opens_at = found["opens_at"]
        if opens_at is None:
            raise CommandFailed("No change window opens in the next two years.")
        if opens_at != announced:
            note(f"Waiting for the change window, which opens at {opens_at}.")
            announced = opens_at
        left = (datetime.fromisoformat(opens_at) - datetime.now().astimezone()).total_seconds()
        sleep(min(max(left, 1.0), _LONGEST_PAUSE))
